#!/bin/sh
# Builds a wheel into target/wheels whose machine code is laid out by what runs of scenarios do.
#
#     make wheel
#
# Twice, therefore: first one that counts what it does, which then runs packaging/train.py, and then
# the one to keep (-Cprofile-use), by packaging/backend.py, which adds what a wheel has beside the
# extension. Merging the counts takes llvm-profdata, of Rust's llvm-tools, which
# rustup installs. Where it cannot be had, that is said, and one wheel is built without counts.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
out=$PWD/target/wheels
work=$PWD/target/profile
host=$(rustc -vV | sed -n 's/^host: //p')
profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata

export CARGO_TARGET_DIR="$work/build"
# The target is named so that the flags are not those of build scripts and macros, too.
build="build --release --locked --target $host --out"

if ! test -x "$profdata" && command -v rustup >/dev/null; then
    rustup component add llvm-tools || true
fi
if ! test -x "$profdata"; then
    echo "wheel: no $profdata (rustup component add llvm-tools): the wheel is built without a profile" >&2
    # shellcheck disable=SC2086 # They are several words.
    "$python" packaging/backend.py $build "$out"
    exit
fi
rm -rf "$work/raw" "$work/counting" "$work/unpacked"
# shellcheck disable=SC2086
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$work/raw" "$python" -m maturin $build "$work/counting"
"$python" -m zipfile -e "$work"/counting/*.whl "$work/unpacked"
PYTHONPATH="$work/unpacked" "$python" packaging/train.py
"$profdata" merge -o "$work/ropewalk.profdata" "$work/raw"
# Without the profile go the library and the gateway, of which it knows nothing.
# shellcheck disable=SC2086
EXTENSION_RUSTFLAGS="-Cprofile-use=$work/ropewalk.profdata" "$python" packaging/backend.py $build "$out"
