#!/bin/sh
# From nothing to a whole machine's traffic over two links: the package installed at both ends, set up,
# started, used, killed and restarted. As root, on Debian or the like; changes nothing of this machine.
#
#     make package-test
#     packaging/demo/install.sh ropewalk-gateway_*_amd64.deb
#
# packaging/demo/world.sh says what the two ends are.
set -eu
. "$(dirname "$0")/world.sh"

echo "From nothing:"
install_both

# As before it was started.
directly() {
    seen=$(at van curl -s --max-time 2 http://$web/)
    test "$seen" = 192.168.1.2 || fail "without the tunnel, the web server is asked by '$seen'"
    at van grep -qx 'nameserver 192.168.1.1' /etc/resolv.conf || fail "DNS was not put back"
    test "$(at van ip rule | wc -l)" = 3 || fail "rules are left: $(at van ip rule)"
    test "$(at van nft list ruleset)" = '' || fail 'rules of nftables are left'
    echo "  the web server is asked by the van, 192.168.1.2; DNS and rules are as they were"
}

echo "Default route and DNS:"
through
minutes=$(($(date +%s) - began))
used=$commands

# The kill switch: neither by a link nor, while the client is away, at all.
blocked() {
    # shellcheck disable=SC2086 # Two words or none.
    ! at van curl -s --max-time 2 $1 http://$web/ || fail "the web server is reached, curl $1"
}

# Name of the unit with the NAT and packet filters of a service.
firewall_of() {
    case $1 in
    ropewalk-tunnel) echo ropewalk-tunnel-firewall ;;
    *) echo "ropewalk-firewall@${1#ropewalk-}" ;;
    esac
}

# Stops a service. systemd then ends what nothing needs any more: NAT and packet filters.
stop() {
    at "$1" systemctl stop "$2"
    for attempt in $(seq 100); do
        test "$(at "$1" systemctl is-active "$(firewall_of "$2")")" != inactive || return 0
        sleep 0.1
    done
    fail "NAT and packet filters of $1 stay: $attempt"
}

echo "20 MB, over both links:"
at van curl -s -o /dev/null -w '  %{speed_download} bytes/s\n' http://$web/20
blocked "--interface wlan0"
at van ropewalk-gateway status --json --control /run/ropewalk-client/ropewalk/client |
    python3 -c 'import json, sys
status = json.load(sys.stdin)
assert status["tunnels"][0]["session"] == "up", status
for link in status["associations"][0]["links"]:
    received = link["received_bytes"]
    print("  {}: {} bytes received".format(link["name"], received))
    assert received > 1000000'

echo "Both ends are stopped:"
stop van ropewalk-client
# The kill switch stops a proxy as it does any other program.
at van systemctl start ropewalk-proxy
seen=$(at van curl -s --proxy socks5h://127.0.0.1:1080 http://$web/)
test "$seen" = $relay_address || fail "by the proxy, the web server is asked by '$seen'"
at van systemctl stop ropewalk-proxy
stop relay ropewalk-relay
directly
test "$(at relay cat /proc/sys/net/ipv4/ip_forward)" = 0 || fail 'the relay still forwards'
test "$(at relay nft list ruleset)" = '' || fail 'rules of nftables are left at the relay'
echo "20 MB, over one link:"
at van curl -s -o /dev/null -w '  %{speed_download} bytes/s\n' http://$web/20

echo "The relay is started, and the client is started and killed:"
at relay systemctl start ropewalk-relay
at van systemctl start ropewalk-client
through
at van systemctl kill --signal KILL ropewalk-client
blocked ''
sleep 4
through
at van sed -i 's/^leak = .*/leak = "allow"/' /etc/ropewalk/client.toml
at van systemctl restart ropewalk-client
through
at relay systemctl stop ropewalk-relay
seen=
for attempt in $(seq 100); do
    seen=$(at van curl -s --max-time 2 http://$web/ || :)
    test "$seen" != 192.168.1.2 || break
done
test "$seen" = 192.168.1.2 || fail "with leak = allow and no relay, the web server is asked by '$seen', $attempt"
echo "  without a relay, the web server is asked by the van, 192.168.1.2"
stop van ropewalk-client

echo "A tunnel alone, instead of the client:"
at relay systemctl start ropewalk-relay
at van systemctl start ropewalk-tunnel
through

echo "Another client comes and goes, while the van's connection lasts:"
at van curl -s -o /dev/null --limit-rate 300k -w '  %{size_download} bytes\n' http://$web/1 &
download=$!
at relay ropewalk-gateway setup relay $relay_address --client train >/dev/null 2>&1
at relay systemctl reload ropewalk-relay
sleep 1
at relay journalctl -u ropewalk-relay | grep -q '2 clients' || fail 'the relay has not read the train'
at relay sed -i '/ train /d' /etc/ropewalk/clients
at relay systemctl reload ropewalk-relay
wait $download || fail 'the connection did not last'

echo "Both ends are restarted, killed and upgraded, while a download of the van lasts:"
at van curl -s -o /dev/null --limit-rate 300k -w '  %{size_download} bytes in %{time_total} s\n' http://$web/20 &
download=$!
sleep 2
for end in relay:ropewalk-relay van:ropewalk-tunnel; do
    machine=${end%%:*}
    unit=${end#*:}
    firewall=$(firewall_of $unit)
    began_at=$(at $machine systemctl show -P ActiveEnterTimestampMonotonic "$firewall")
    at $machine systemctl restart $unit
    sleep 8
    # It is started again after 2 s.
    at $machine systemctl kill --signal KILL $unit
    test $machine = relay || blocked ''
    sleep 8
    test "$(at $machine systemctl show -P NRestarts $unit)" = 1 || fail "$machine: not started again"
    at $machine dpkg --install "$package" >>"$work/log/dpkg-upgrade"
    test "$(at $machine systemctl show -P NRestarts $unit)" = 0 || fail "$machine: an upgrade restarts nothing"
    sleep 8
    test "$(at $machine systemctl show -P ActiveEnterTimestampMonotonic "$firewall")" = "$began_at" ||
        fail "$machine: NAT and packet filters did not stay"
done
wait $download || fail 'the download did not last'
through

echo "The package is removed while the tunnel runs:"
at van dpkg --purge ropewalk-gateway >"$work/log/dpkg-purge"
directly
at van test ! -e /usr/bin/ropewalk-gateway || fail 'the program is left'
at van test -e /etc/ropewalk/client.key || fail 'the key is gone'

echo "From nothing to use: $used commands in $minutes s; all of it in $(($(date +%s) - began)) s."
