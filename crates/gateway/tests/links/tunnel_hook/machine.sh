# Runs HOOK (packaging/hooks/tunnel-hook) on a machine with two links, in network and mount namespaces of its own.
# Prints each unexpected result.
set -eu
mount -t tmpfs none /run
cd /run

interface() {
    ip link add "$1" type veth peer name "far-$1"
    ip link set "$1" up
    ip link set "far-$1" up
    shift
    for address in "$@"; do
        ip addr add "$address" dev "$interface"
    done
}
for words in "wlan0 192.168.1.2/24" "wwan0 192.168.2.2/24 fd01::2/64" "rope0 10.9.0.2/24 fd00:9::2/64"; do
    interface=${words%% *}
    # shellcheck disable=SC2086 # Interface and addresses.
    interface $words
done
ip route add default via 192.168.1.1 dev wlan0 metric 100
ip route add default via 192.168.2.1 dev wwan0 metric 200
ip rule add from 192.168.2.2 lookup 200
ip route add default via 192.168.2.1 dev wwan0 table 200
echo 1 >/proc/sys/net/ipv4/conf/all/rp_filter
printf 'nameserver 192.0.2.53\nsearch lan\n' >resolv.conf

# Prints the state that a hook may change.
state() {
    ip rule
    ip -6 rule
    ip -4 route show table all
    ip -6 route show table all | grep -v 'multicast\|far-rope0'
    nft list ruleset
    cat /proc/sys/net/ipv4/conf/*/rp_filter /proc/sys/net/ipv4/ip_forward \
        /proc/sys/net/ipv6/conf/all/forwarding /proc/sys/net/ipv6/conf/*/accept_ra
    cat resolv.conf
    ip -o link show | sed 's/.*: \(.*\): .* group \([^ ]*\) .*/\1 \2/'
    ls -A . ropewalk-hook
}
# expect NAME PART TEXT: the text must contain the part.
expect() {
    case $3 in
    *"$2"*) ;;
    *) echo "$1: $2 is not in: $3" ;;
    esac
}
# same NAME BEFORE: the state must not have changed.
same() {
    now=$(state)
    test "$now" = "$2" && return
    echo "$1: before and now:"
    printf '%s\n' "$2" >before
    printf '%s\n' "$now" | diff before - || rm before
}
# Duplicate address detection changes routes until it ends.
mkdir ropewalk-hook
while ip -6 addr | grep -q tentative; do sleep 0.1; done
before=$(state)

export ROPEWALK_RESOLV_CONF=/run/resolv.conf ROPEWALK_DEVICE=rope0 ROPEWALK_ROLE=client
export ROPEWALK_ADDRESSES='10.9.0.2/24 fd00:9::2/64' ROPEWALK_LINKS='wlan0 192.168.2.2'
export ROPEWALK_DEFAULT_ROUTE=yes ROPEWALK_DNS='9.9.9.9 2620:fe::fe' ROPEWALK_NFT_TABLE=rope0
# nat RULE: sets the ruleset.
nat() {
    ROPEWALK_NFT="add table inet rope0
delete table inet rope0
table inet rope0 { chain nat { type nat hook postrouting priority srcnat; $1; }
}"
    export ROPEWALK_NFT
}
nat 'oifname "rope0" snat ip to 10.9.0.2'
routes() {
    expect 'the default route' 'dev rope0' "$(ip route get 198.51.100.1)"
    expect 'the default route of IPv6' 'dev rope0' "$(ip -6 route get 2001:db8::1)"
    expect 'a socket of an interface' 'dev wlan0' "$(ip route get 198.51.100.1 oif wlan0)"
    expect 'a socket of an address' 'dev wwan0' "$(ip route get 198.51.100.1 from 192.168.2.2)"
    expect 'the local network' 'dev wlan0' "$(ip route get 192.168.1.7)"
}
"$HOOK" up
routes
expect 'DNS' 'nameserver 9.9.9.9
nameserver 2620:fe::fe
search lan' "$(cat resolv.conf)"
expect 'the reverse path' 2 "$(cat /proc/sys/net/ipv4/conf/wlan0/rp_filter)"
expect 'the reverse path of an address' 2 "$(cat /proc/sys/net/ipv4/conf/wwan0/rp_filter)"
expect 'NAT' 'snat ip to 10.9.0.2' "$(nft list ruleset)"
# After a crash, `up` runs again.
up=$(state)
"$HOOK" up
same 'up again' "$up"
# A restart removes routes and DNS, and keeps NAT.
"$HOOK" down
expect 'NAT while the tunnel is away' 'snat ip to 10.9.0.2' "$(nft list ruleset)"
expect 'the route while the tunnel is away' 'dev wlan0' "$(ip route get 198.51.100.1)"
expect 'DNS while the tunnel is away' 'nameserver 192.0.2.53' "$(cat resolv.conf)"
"$HOOK" up
same 'up after down' "$up"
"$HOOK" purge
same 'a client' "$before"

# Traffic of local networks never enters the device.
mkdir shim
real=$(command -v ip)
cat >shim/ip <<END
#!/bin/sh
status=0
$real "\$@" || status=\$?
case \$($real route get 192.168.1.7) in *rope0*) echo "ip \$*: the local network" >>/run/wrong ;; esac
exit \$status
END
chmod +x shim/ip
for leak in allow block; do
    for verb in up up down up purge; do ROPEWALK_LEAK=$leak PATH=/run/shim:$PATH "$HOOK" $verb; done
done
if test -e wrong; then cat wrong; fi
rm -r shim
same 'a client whose steps were watched' "$before"

# Without a carrier the route is ignored.
"$HOOK" up
ip link set far-rope0 down
while ip link show rope0 | grep -q LOWER_UP; do sleep 0.1; done
expect 'without a carrier' 'dev wlan0' "$(ip route get 198.51.100.1)"
ip link set far-rope0 up
while ip route show table 4434 | grep -q linkdown; do sleep 0.1; done
routes
"$HOOK" purge

# A route over a link, for example from DHCP, outranks the tunnel's with --leak allow.
ip route add 198.51.100.0/24 via 192.168.1.1 dev wlan0
routed=$(state)
"$HOOK" up
expect 'the route of DHCP' 'dev wlan0' "$(ip route get 198.51.100.1)"
"$HOOK" purge
export ROPEWALK_LEAK=block ROPEWALK_TABLE=99 ROPEWALK_PREFERENCE=1234
"$HOOK" up
expect 'not by the route of DHCP' 'dev rope0' "$(ip route get 198.51.100.1)"
expect 'a socket of a link' 'dev wlan0' "$(ip route get 198.51.100.1 oif wlan0)"
expect 'the local network of a link' 'dev wlan0' "$(ip route get 192.168.1.7)"
expect 'a table of the user' 'default dev rope0' "$(ip route show table 99)"
expect 'a preference of the user' '1234:' "$(ip rule)"
# The hook knows the other table from its notes.
export ROPEWALK_LEAK=allow ROPEWALK_TABLE=4434 ROPEWALK_PREFERENCE=32765
"$HOOK" down
expect 'the group of a link is kept' 'group 99' "$(ip link show wlan0)"
"$HOOK" purge
same 'a client that blocks' "$routed"
ip route del 198.51.100.0/24 via 192.168.1.1 dev wlan0

"$HOOK" up
echo '# by another' >resolv.conf
"$HOOK" purge
expect "another's DNS" '# by another' "$(cat resolv.conf)"
printf 'nameserver 192.0.2.53\nsearch lan\n' >resolv.conf

# A client that neither forwards nor blocks does not need nft.
mkdir bin
for tool in "$(command -v ip)" awk sed grep cat cp mv rm mkdir head tr; do ln -s "$(command -v "$tool")" bin; done
PATH=/run/bin "$HOOK" up
routes
PATH=/run/bin "$HOOK" purge
said=$(ROPEWALK_LEAK=block PATH=/run/bin "$HOOK" up 2>&1) && echo 'a kill switch without nft'
expect 'without nft' 'install nftables' "$said"
"$HOOK" purge
rm -r bin

export ROPEWALK_ROLE=relay ROPEWALK_MASQUERADE=yes ROPEWALK_ADDRESSES='10.9.0.1/24 fd00:9::1/64'
nat 'oifname != "rope0" ip saddr 10.9.0.0/24 masquerade'
# The device may be missing.
ROPEWALK_DEVICE=missing "$HOOK" prepare
expect 'NAT without a device' 'ip saddr 10.9.0.0/24 masquerade' "$(nft list ruleset)"
ROPEWALK_DEVICE=missing "$HOOK" purge
"$HOOK" up
for verb in up down; do
    "$HOOK" $verb
    expect "NAT, $verb" 'ip saddr 10.9.0.0/24 masquerade' "$(nft list ruleset)"
    expect "forwarding, $verb" 1 "$(cat /proc/sys/net/ipv4/ip_forward)"
    expect "forwarding of IPv6, $verb" 1 "$(cat /proc/sys/net/ipv6/conf/all/forwarding)"
done
"$HOOK" purge
same 'a relay' "$before"
