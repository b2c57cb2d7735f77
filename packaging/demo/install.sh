#!/bin/sh
# From nothing to a whole machine's traffic over two links: the package installed at both ends, set up,
# started, used, killed and restarted. As root, on Debian or the like; changes nothing of this machine.
#
#     make package-test
#     packaging/demo/install.sh ropewalk-gateway_*_amd64.deb
#
# The van and the relay are namespaces with file systems of their own (overlays of this machine's), and
# with systemd as their first process, so the package's scripts and units do what they do anywhere.
# Lines with $ are what a user types; they are counted, and so are the seconds.
set -eu
package=$(realpath "${1:?which package?}")
here=$(realpath "$(dirname "$0")")
for tool in ip nft curl python3 unshare nsenter findmnt systemctl dpkg; do
    command -v $tool >/dev/null || { echo "$tool is missing: apt install iproute2 nftables curl python3 util-linux systemd" >&2; exit 1; }
done
test "$(id -u)" = 0 || { echo "this takes root, for namespaces" >&2; exit 1; }
# Each systemd has a part of the tree of control groups.
groups=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
test -w "${groups:-/none}" || { echo "this takes a writable cgroup2, for systemd" >&2; exit 1; }
work=$(mktemp -d)
began=$(date +%s)
commands=0
processes=

finish() {
    status=$?
    if test "$status" != 0; then
        for machine in relay van; do
            test ! -e "$work/$machine.first" || at $machine journalctl -q --no-pager -n 20 >&2 || :
        done
    fi
    for process in $processes; do
        kill -KILL "$process" 2>/dev/null || :
    done
    wait 2>/dev/null || :
    for machine in relay van; do
        group=$groups/ropewalk-$$-$machine
        test -e "$group" || continue
        # The kernel takes a moment to empty it.
        for attempt in $(seq 50); do
            ! find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || break
            sleep 0.1
        done
        test ! -e "$group" || echo "install.sh: $group is left after $attempt attempts" >&2
    done
    if test "$status" != 0; then
        for log in "$work"/log/*; do
            echo "--- $log" >&2
            tail -n 5 "$log" >&2
        done
    fi
    rm -rf "$work"
}
trap finish EXIT
mkdir "$work/log"

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

# A machine with a network of its own, until this script ends. Its first process is that command.
machine() {
    name=$1
    shift
    unshare --net --mount --uts --ipc --pid --cgroup --fork --kill-child \
        "$here/machine.sh" "$work/$name" "$@" &
    processes="$processes $!"
    for attempt in $(seq 100); do
        test ! -e "$work/$name.is-up" || break
        sleep 0.05
    done
    test -e "$work/$name.is-up" || fail "$name does not come up: $attempt"
    # The shell that unshare has started is the first process of the machine.
    children=$(cat "/proc/$!/task/$!/children")
    echo "${children%% *}" >"$work/$name.first"
}

# A machine with systemd.
debian() {
    mkdir "$groups/ropewalk-$$-$1"
    # This shell is in the group meanwhile, and so are its children.
    before=$(sed -n 's/^0:://p' /proc/self/cgroup)
    echo $$ >"$groups/ropewalk-$$-$1/cgroup.procs"
    machine "$1" /lib/systemd/systemd --unit=basic.target --log-target=journal --show-status=false
    echo $$ >"$groups$before/cgroup.procs"
    for attempt in $(seq 100); do
        ! at "$1" systemctl is-system-running >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    fail "systemd does not come up at $1: $attempt"
}

first_of() {
    cat "$work/$1.first"
}

at() {
    first=$(first_of "$1")
    shift
    nsenter --target "$first" --net --mount --uts --ipc --pid --cgroup -- "$@"
}

# What a user types at a machine.
user() {
    machine=$1
    shift
    commands=$((commands + 1))
    echo "$machine \$ $*"
    at "$machine" "$@"
}

# A cable between two machines.
cable() {
    ip link add "$2-$$" type veth peer name "$4-$$"
    ip link set "$2-$$" netns "$(first_of "$1")" name "$2"
    ip link set "$4-$$" netns "$(first_of "$3")" name "$4"
    at "$1" ip link set "$2" up
    at "$3" ip link set "$4" up
}

# The world: two links from the van to the internet, one from there to the relay.
# Addresses that count as public; nothing leaves this machine.
web=9.9.9.10
names=9.9.9.9
relay_address=203.0.113.2
machine internet sleep infinity
debian van
debian relay
cable van wlan0 internet wifi
cable van wwan0 internet lte
cable relay eth0 internet rack
# shellcheck disable=SC2016 # The machine's own.
at internet sh -c '
    echo 1 >/proc/sys/net/ipv4/ip_forward
    ip addr add 192.168.1.1/24 dev wifi
    ip addr add 192.168.2.1/24 dev lte
    ip addr add 203.0.113.1/24 dev rack
    ip addr add 9.9.9.10/32 dev lo
    ip addr add 9.9.9.9/32 dev lo
    for link in wifi lte; do
        tc qdisc add dev $link root tbf rate 20mbit burst 32kb latency 50ms 2>/dev/null || :
    done'
# shellcheck disable=SC2016 # The machine's own.
at van sh -c '
    ip addr add 192.168.1.2/24 dev wlan0
    ip addr add 192.168.2.2/24 dev wwan0
    ip route add default via 192.168.1.1 dev wlan0 metric 100
    ip route add default via 192.168.2.1 dev wwan0 metric 200
    echo "nameserver 192.168.1.1" >/etc/resolv.conf
    for link in wlan0 wwan0; do
        tc qdisc add dev $link root tbf rate 20mbit burst 32kb latency 50ms 2>/dev/null || :
    done'
at relay sh -c 'ip addr add 203.0.113.2/24 dev eth0; ip route add default via 203.0.113.1'
at internet python3 "$here/internet.py" $web $names >"$work/log/names" 2>&1 &
processes="$processes $!"

echo "From nothing:"
user relay dpkg --install "$package" >"$work/log/dpkg-relay"
head -n 1 "$work/log/dpkg-relay"
token=$(user relay ropewalk-gateway setup relay $relay_address --client van --dns $names \
    2>"$work/log/setup-relay" | tee "$work/log/setup" | tail -n 1)
head -n 1 "$work/log/setup"
user relay systemctl enable --now ropewalk-relay
user van dpkg --install "$package" >"$work/log/dpkg-van"
head -n 1 "$work/log/dpkg-van"
echo "$token" | user van ropewalk-gateway setup client 2>"$work/log/setup-van"
tail -n 2 "$work/log/setup-van"
user van systemctl enable --now ropewalk-client
# The two in pipes were counted in shells of their own.
commands=$((commands + 2))

# The van's traffic leaves at the relay; its names are asked there.
through() {
    for attempt in $(seq 50); do
        seen=$(at van curl -s --max-time 2 http://$web/ || :)
        test "$seen" != $relay_address || break
        sleep 0.1
    done
    test "$seen" = $relay_address || fail "the web server is asked by '$seen', attempt $attempt"
    : >"$work/log/names"
    seen=$(at van curl -s --max-time 5 http://anything.example/)
    test "$seen" = $relay_address || fail "by name, the web server is asked by '$seen'"
    grep -qx $relay_address "$work/log/names" || fail "the name server is asked by $(cat "$work/log/names")"
    echo "  web server and name server are asked by the relay, $relay_address"
}

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
