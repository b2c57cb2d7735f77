# The world of packaging/demo/install.sh and network.sh: a van with two links to an internet, and a relay. They source
# it, with the package as $1.
#
# The van and the relay are namespaces with file systems of their own (overlays of this machine's), and
# with systemd as their first process, so the package's scripts and units do what they do anywhere.
# Lines with $ are what a user types; they are counted, and so are the seconds.
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
        test ! -e "$group" || echo "${0##*/}: $group is left after $attempt attempts" >&2
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
    echo "${0##*/}: $*" >&2
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

# Two links from the van to the internet, one from there to the relay.
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

# From nothing to a running relay and client.
install_both() {
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
}

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
