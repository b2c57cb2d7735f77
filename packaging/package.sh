#!/bin/sh
# Builds static binaries, archives of them, and Debian packages, into target/package.
#
#     make package                      # x86_64 and aarch64, as far as this machine can build for them
#     make package ARCHITECTURES=x86_64
#
# For each architecture: ropewalk-gateway as a static program (musl), for which Rust's target and a C
# compiler are needed; and the library of `exec`, which is for programs of glibc and so is built for
# that. What cannot be had is said and left out. It fails if no package could be made.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
architectures=${ARCHITECTURES:-x86_64 aarch64}
here=$(uname -m)
# The package's list of files names the folder.
export CARGO_TARGET_DIR="$PWD/target"
out=target/package
version=$($cargo metadata --no-deps --locked --format-version 1 |
    sed 's/.*"name":"ropewalk-gateway","version":"\([^"]*\)".*/\1/')
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
made=

main() {
    rm -rf "$out"
    $cargo run --locked -q -p ropewalk-gateway --example package_files -- "$out/files"
    changelog >"$out/changelog"
    for architecture in $architectures; do
        if ! static "$architecture"; then
            echo "package: nothing for $architecture" >&2
            continue
        fi
        archive "$architecture"
        debian "$architecture"
    done
    if test -z "$made"; then
        echo "package: nothing could be built" >&2
        exit 1
    fi
    echo "Made in $out:"
    for file in $made; do
        echo "  $file"
    done
}

say() {
    echo "package: $*" >&2
}

# Rust's standard library for a target; rustup adds it where it can.
has_target() {
    test -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" && return
    command -v rustup >/dev/null && rustup target add "$1" >/dev/null 2>&1 && return
    say "Rust has no $1 here: rustup target add $1"
    return 1
}

# Names the C compiler for a target to cargo, to the C parts of the cryptography and to the linker.
compiler() {
    target=$1
    architecture=${target%%-*}
    case $architecture-$target in
    "$here"-*-musl) candidates="musl-gcc $architecture-linux-musl-gcc" ;;
    "$here"-*) candidates=cc ;;
    *-musl) candidates="$architecture-linux-musl-gcc $architecture-linux-gnu-gcc" ;;
    *) candidates="$architecture-linux-gnu-gcc" ;;
    esac
    for candidate in $candidates; do
        command -v "$candidate" >/dev/null || continue
        lower=$(echo "$target" | tr - _)
        upper=$(echo "$lower" | tr '[:lower:]' '[:upper:]')
        export "CC_$lower=$candidate"
        # Of this machine's own kind, Rust knows how to link.
        test "$architecture" = "$here" || export "CARGO_TARGET_${upper}_LINKER=$candidate"
        return 0
    done
    say "no C compiler for $target: one of $candidates (Debian: musl-tools, gcc-$(debian_name "$architecture" | tr _ -)-linux-gnu)"
    return 1
}

static() {
    target=$1-unknown-linux-musl
    has_target "$target" && compiler "$target" || return 1
    $cargo build --release --locked -p ropewalk-gateway --bin ropewalk-gateway --target "$target" || return 1
    files=target/$target/release/package-files
    rm -rf "$files"
    cp -r "$out/files" "$files"
    gzip -9n "$files"/man/*
    strip_of "$1" "target/$target/release/ropewalk-gateway"
}

# The library of exec, for Debian's C library.
library() {
    target=$1-unknown-linux-gnu
    has_target "$target" && compiler "$target" || return 1
    $cargo build --release --locked -p ropewalk-preload --target "$target" || return 1
    cp "target/$target/release/libropewalk_preload.so" "target/$1-unknown-linux-musl/release/"
    strip_of "$1" "target/$1-unknown-linux-musl/release/libropewalk_preload.so"
}

# In another file, since cargo may have linked this one to its own.
strip_of() {
    case $1 in
    "$here") strip="strip" ;;
    *) strip=$1-linux-gnu-strip ;;
    esac
    "$strip" "$2" -o "$2.stripped"
    mv "$2.stripped" "$2"
}

debian_name() {
    case $1 in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) echo "$1" ;;
    esac
}

# The binary with what belongs to it, for routers and for distributions without dpkg.
archive() {
    name=ropewalk-gateway-$version-$1-linux-musl
    root=$out/$name
    mkdir -p "$root"
    cp "target/$1-unknown-linux-musl/release/ropewalk-gateway" packaging/hooks/tunnel-hook \
        LICENSE-MIT LICENSE-APACHE docs/gateway.md docs/tunnel.md docs/exec.md "$root"
    cp -r "$out/files/." packaging/systemd docs/gateway docs/tunnel "$root"
    tar -C "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -czf "$out/$name.tar.gz" "$name"
    rm -r "$root"
    made="$made $name.tar.gz"
}

debian() {
    if ! tool; then
        say "no Debian package: cargo-deb cannot be installed"
        return
    fi
    variant=
    if library "$1"; then
        variant=--variant=exec
    else
        say "the package for $1 has no library for exec"
    fi
    name=ropewalk-gateway_$version-1_$(debian_name "$1").deb
    # shellcheck disable=SC2086 # It is one word or none.
    "$tools/cargo-deb" deb --manifest-path crates/gateway/Cargo.toml --target "$1-unknown-linux-musl" \
        --no-build --no-strip --deb-version "$version-1" --output "$out/$name" $variant >/dev/null
    made="$made $name"
    if command -v lintian >/dev/null; then
        lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$out/$name"
    else
        say "lintian is not here and has checked nothing: apt install lintian"
    fi
}

# cargo-deb, in target unless it is installed.
tool() {
    if command -v cargo-deb >/dev/null; then
        tools=$(dirname "$(command -v cargo-deb)")
        return
    fi
    tools=target/tools/bin
    test -x $tools/cargo-deb || $cargo install --quiet --locked --root target/tools --target-dir target/tools/build cargo-deb@3.8.0
}

changelog() {
    echo "ropewalk-gateway ($version-1) unstable; urgency=medium"
    echo
    echo "  * See CHANGELOG.md of the sources."
    echo
    echo " -- The Ropewalk developers <maintainers@ropewalk.invalid>  $(date -Rud "@$SOURCE_DATE_EPOCH")"
}

main
