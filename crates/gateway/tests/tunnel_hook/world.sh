# A machine of two links, in network and mount namespaces of its own, and the hook on it.
#
# HOOK is packaging/hooks/tunnel-hook. Prints what is not as it should be.
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

# All that a hook may change.
world() {
    ip rule
    ip -6 rule
    ip route show table all
    ip -6 route show table all | grep -v multicast
    nft list ruleset
    cat /proc/sys/net/ipv4/conf/*/rp_filter /proc/sys/net/ipv4/ip_forward \
        /proc/sys/net/ipv6/conf/all/forwarding /proc/sys/net/ipv6/conf/*/accept_ra
    cat resolv.conf
    ls -A . ropewalk-hook
}
# WHAT THAT-SHOULD-BE-IN THE-TEXT
expect() {
    case $3 in
    *"$2"*) ;;
    *) echo "$1: $2 is not in: $3" ;;
    esac
}
# Address families' duplicate detection has ended, and with it changes of routes.
mkdir ropewalk-hook
while ip -6 addr | grep -q tentative; do sleep 0.1; done
before=$(world)

export ROPEWALK_RESOLV_CONF=/run/resolv.conf ROPEWALK_DEVICE=rope0 ROPEWALK_ROLE=client
export ROPEWALK_ADDRESSES='10.9.0.2/24 fd00:9::2/64' ROPEWALK_LINKS='wlan0 192.168.2.2'
export ROPEWALK_DEFAULT_ROUTE=yes ROPEWALK_DNS='9.9.9.9 2620:fe::fe'
"$HOOK" up
expect 'the default route' 'dev rope0' "$(ip route get 198.51.100.1)"
expect 'the default route of IPv6' 'dev rope0' "$(ip -6 route get 2001:db8::1)"
expect 'a socket of an interface' 'dev wlan0' "$(ip route get 198.51.100.1 oif wlan0)"
expect 'a socket of an address' 'dev wwan0' "$(ip route get 198.51.100.1 from 192.168.2.2)"
expect 'the local network' 'dev wlan0' "$(ip route get 192.168.1.7)"
expect 'DNS' 'nameserver 9.9.9.9
nameserver 2620:fe::fe
search lan' "$(cat resolv.conf)"
expect 'the reverse path' 2 "$(cat /proc/sys/net/ipv4/conf/wlan0/rp_filter)"
expect 'the reverse path of an address' 2 "$(cat /proc/sys/net/ipv4/conf/wwan0/rp_filter)"
# After a crash it is up twice.
"$HOOK" up
"$HOOK" down
test "$(world)" = "$before" || echo "a client is not as it was: $(world)"

"$HOOK" up
echo '# by another' >resolv.conf
"$HOOK" down
expect "another's DNS" '# by another' "$(cat resolv.conf)"
printf 'nameserver 192.0.2.53\nsearch lan\n' >resolv.conf

echo 1 >/proc/sys/net/ipv4/ip_forward
"$HOOK" up
expect 'a network behind' 'oifname "rope0" ip saddr != 10.9.0.2 masquerade' "$(nft list ruleset)"
"$HOOK" down
echo 0 >/proc/sys/net/ipv4/ip_forward

export ROPEWALK_ROLE=relay ROPEWALK_MASQUERADE=yes ROPEWALK_ADDRESSES='10.9.0.1/24 fd00:9::1/64'
"$HOOK" up
rules=$(nft list ruleset)
expect 'NAT' 'oifname != "rope0" ip saddr 10.9.0.0/24 masquerade' "$rules"
expect 'NAT of IPv6' 'oifname != "rope0" ip6 saddr fd00:9::/64 masquerade' "$rules"
expect 'metadata' '169.254.0.0/16, 192.0.0.192 } drop' "$rules"
expect 'metadata of IPv6' 'fd00:ec2::/32' "$rules"
expect 'metadata of IPv6' 'fd20:ce::/32' "$rules"
expect 'forwarding' 1 "$(cat /proc/sys/net/ipv4/ip_forward)"
expect 'forwarding of IPv6' 1 "$(cat /proc/sys/net/ipv6/conf/all/forwarding)"
"$HOOK" down
test "$(world)" = "$before" || echo "a relay is not as it was: $(world)"
