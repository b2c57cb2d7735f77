#!/bin/sh
# Builds the files of a release into target/release-files, and verifies them.
#
#     make release
#
# The files are a wheel and an sdist of the Python package, an archive with the static gateway and a Debian
# package for each architecture, and SHA256SUMS. Nothing is published, tagged or dated.
#
# The wheel is verified in a new environment whose PATH has no Rust, the static gateway and the Debian package
# beside it. A check that this machine cannot make is named and left out.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
cargo=${CARGO:-cargo}
out=$PWD/target/release-files
version=$("$python" packaging/version.py)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
    build
    (cd "$out" && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
    verify_names
    (cd "$out" && sha256sum --check --quiet SHA256SUMS)
    verify_wheel
    verify_sdist
    verify_archive
    verify_debian
    say "verified; the files of version $version, with bytes and SHA-256:"
    (cd "$out" && while read -r sum name; do
        printf '%10d  %s  %s\n' "$(stat -c %s "$name")" "$sum" "$name"
    done <SHA256SUMS)
}

say() {
    printf '\n== %s\n' "$*"
}

fail() {
    echo "release: $*" >&2
    exit 1
}

skip() {
    echo "release: not verified: $*" >&2
}

build() {
    test -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ||
        echo "release: the sources have changes that are not committed" >&2
    rm -rf "$out"
    mkdir -p "$out" target/wheels
    say "wheel and sdist"
    rm -f target/wheels/*
    "$python" packaging/backend.py sdist --out target/wheels
    PYTHON=$python packaging/wheel.sh
    cp target/wheels/* "$out"
    say "static gateway and Debian packages"
    CARGO=$cargo packaging/package.sh
    cp target/package/*.tar.gz target/package/*.deb "$out"
}

# Each name has the version, and each kind of file is there.
verify_names() {
    for pattern in "ropewalk-$version-cp311-abi3-*.whl" "ropewalk-$version.tar.gz" \
        "ropewalk-gateway-$version-*-linux-musl.tar.gz" "ropewalk-gateway_$version-1_*.deb"; do
        # shellcheck disable=SC2086 # It is a pattern.
        (cd "$out" && ls $pattern >/dev/null 2>&1) || fail "no $pattern"
    done
}

verify_wheel() {
    say "the wheel, in a new environment without Rust"
    "$python" -m venv "$work/venv"
    clean="env -i HOME=$work PATH=$work/venv/bin:/usr/bin:/bin PIP_DISABLE_PIP_VERSION_CHECK=1"
    ! $clean sh -c 'command -v cargo || command -v rustc' || fail "Rust is in the PATH of the new environment"
    (
        cd "$work"
        $clean pip install --quiet "$out/ropewalk-$version"-*.whl
        test "$($clean ropewalk --version)" = "ropewalk $version" || fail "ropewalk --version"
        $clean ropewalk simulate start/two-links --json >result.json
        $clean python -c "
import json
goodput = json.load(open('result.json'))['goodput_mbps']
assert goodput > 0, goodput
print('ropewalk simulate start/two-links:', round(goodput, 2), 'Mbit/s')"
        # The tag of the name promises no more than each library and program in the wheel keeps.
        if $clean pip install --quiet auditwheel; then
            $clean auditwheel show "$out/ropewalk-$version"-*.whl | tee audit
            promised=$(basename "$out/ropewalk-$version"-*.whl | glibc)
            needed=$(glibc <audit)
            test "$needed" -le "$promised" || fail "the wheel needs glibc 2.$needed, its name says 2.$promised"
        else
            skip "the tag of the wheel: auditwheel cannot be installed"
        fi
    )
}

# The first glibc 2.N in a text with a tag such as manylinux_2_34_x86_64.
glibc() {
    tr '\n' ' ' | sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/'
}

verify_sdist() {
    say "the sdist"
    tar -C "$work" -xzf "$out/ropewalk-$version.tar.gz"
    grep -qx "Version: $version" "$work/ropewalk-$version/PKG-INFO" || fail "version of the sdist"
    (cd "$work/ropewalk-$version" && $cargo metadata --locked --offline --format-version 1 >/dev/null) ||
        fail "a crate or the lock file is missing in the sdist"
}

verify_archive() {
    say "the static gateway"
    here=$(uname -m)
    test -f "$out/ropewalk-gateway-$version-$here-linux-musl.tar.gz" || {
        skip "no archive for $here"
        return
    }
    tar -C "$work" -xzf "$out/ropewalk-gateway-$version-$here-linux-musl.tar.gz"
    program=$work/ropewalk-gateway-$version-$here-linux-musl/ropewalk-gateway
    test "$("$program" --version)" = "ropewalk-gateway $version" || fail "ropewalk-gateway --version"
    ! ldd "$program" 2>/dev/null | grep -q '=>' || fail "the gateway needs libraries"
    "$program" --version
}

# Installed for real in namespaces, where that may be done; else unpacked.
verify_debian() {
    command -v dpkg >/dev/null || {
        skip "Debian packages: this machine has no dpkg"
        return
    }
    package=$(echo "$out"/*_"$(dpkg --print-architecture)".deb)
    say "the Debian package"
    test "$(dpkg-deb --field "$package" Version)" = "$version-1" || fail "version of the Debian package"
    dpkg-deb --extract "$package" "$work/unpacked"
    test "$("$work/unpacked/usr/bin/ropewalk-gateway" --version)" = "ropewalk-gateway $version" ||
        fail "the program of the Debian package"
    for tool in nft ip curl unshare nsenter findmnt systemctl; do
        command -v $tool >/dev/null && test "$(id -u)" = 0 || {
            skip "the installation of the Debian package: it takes root and $tool"
            return
        }
    done
    packaging/demo/install.sh "$package"
}

main
