#!/bin/sh
# Builds a package of the gateway for OpenWrt 24.10 and earlier (.ipk), from a static binary.
#
#     packaging/openwrt/ipk.sh BINARY ARCHITECTURE FOLDER
#
# ARCHITECTURE is a name of OpenWrt, such as aarch64_cortex-a53; the last line of `opkg print-architecture` on
# the router has it. Files and fields are those of the recipe, ropewalk-gateway/Makefile.
#
# The format: a gzipped tar of debian-binary, control.tar.gz and data.tar.gz (OpenWrt's scripts/ipkg-build).
set -eu
umask 022
if test $# != 3; then
    echo "usage: ipk.sh BINARY ARCHITECTURE FOLDER" >&2
    exit 2
fi
binary=$1
architecture=$2
out=$3
name=ropewalk-gateway
root=$(dirname "$0")/../..
recipe=$root/packaging/openwrt/$name
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
    version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")-r$(field PKG_RELEASE)
    data
    pack data
    control
    pack control
    echo 2.0 >"$work/debian-binary"
    mkdir -p "$out"
    tarred "$work" ./debian-binary ./data.tar.gz ./control.tar.gz | gzip -n >"$work/ipk"
    cp "$work/ipk" "$out/${name}_${version}_$architecture.ipk"
    echo "$out/${name}_${version}_$architecture.ipk"
}

# A field of the recipe.
field() {
    sed -n "s/^ *$1:=//p" "$recipe/Makefile"
}

# The lines of a part of the recipe.
part() {
    sed -n "/^define Package\/$name\/$1\$/,/^endef/ { /^define/d; /^endef/d; p }" "$recipe/Makefile"
}

tarred() {
    (
        cd "$1"
        shift
        tar --format=gnu --numeric-owner --owner=0 --group=0 --sort=name --mtime="@$SOURCE_DATE_EPOCH" -cf - "$@"
    )
}

pack() {
    tarred "$work/$1" . | gzip -n >"$work/$1.tar.gz"
}

data() {
    mkdir -p "$work/data/etc/ropewalk"
    (cd "$recipe/files" && find . -type f) | while read -r file; do
        mode=644
        if test -x "$recipe/files/$file"; then mode=755; fi
        install -D -m "$mode" "$recipe/files/$file" "$work/data/$file"
    done
    chmod 600 "$work/data/etc/config/ropewalk"
    install -D -m 755 "$binary" "$work/data/usr/bin/ropewalk-gateway"
    install -D -m 755 "$root/packaging/hooks/tunnel-hook" "$work/data/usr/lib/ropewalk/tunnel-hook"
}

control() {
    mkdir "$work/control"
    cat >"$work/control/control" <<END
Package: $name
Version: $version
Depends: libc, $(field DEPENDS | sed 's/^+//; s/ +/, /g')
License: $(field PKG_LICENSE)
Section: $(field SECTION)
Require-User: $(field USERID)
Maintainer: $(field PKG_MAINTAINER)
Architecture: $architecture
Installed-Size: $(gzip -dc "$work/data.tar.gz" | wc -c)
Description: $(part description | sed 's/^ *//')
END
    part conffiles >"$work/control/conffiles"
    script postinst
    script prerm
}

# OpenWrt's own functions add the user, run uci-defaults, enable and start the init script, and undo that.
script() {
    cat >"$work/control/$1" <<END
#!/bin/sh
[ "\${IPKG_NO_SCRIPT}" = 1 ] && exit 0
[ -s "\${IPKG_INSTROOT}/lib/functions.sh" ] || exit 0
. "\${IPKG_INSTROOT}/lib/functions.sh"
default_$1 "\$0" "\$@"
END
    chmod 755 "$work/control/$1"
}

main
