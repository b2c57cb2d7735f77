#!/bin/sh
# A network behind the client: a home whose programs know of nothing, and a capture of both links that shows what
# passes beside the relay. As root; changes nothing of this machine.
#
#     make network-test
#     packaging/demo/network.sh ropewalk-gateway_*_amd64.deb PYTHON
#
# PYTHON has aioquic. packaging/demo/world.sh says what the machines are.
set -eu
python=${2:?which Python, with aioquic?}
for tool in chromium git iperf3 nghttpd sshd ssh tcpdump ping dig apt-get dpkg-scanpackages openssl; do
    command -v $tool >/dev/null || test -x /usr/sbin/$tool || {
        echo "$tool is missing: apt install chromium git iperf3 nghttp2-server openssh-server openssh-client" \
            "tcpdump iputils-ping dnsutils dpkg-dev openssl" >&2
        exit 1
    }
done
. "$(dirname "$0")/world.sh"
quic=$here/../../tests/agreement/quic.py

echo "From nothing:"
install_both
through

# The home: its router is the van.
machine home sleep infinity
cable van lan0 home eth0
at van sh -c 'ip addr add 192.168.50.1/24 dev lan0; sysctl -qw net.ipv4.ip_forward=1'
at home sh -c "ip addr add 192.168.50.10/24 dev eth0; ip route add default via 192.168.50.1
    echo 'nameserver $names' >/etc/resolv.conf"

# Servers in the internet.
serve() {
    at internet "$@" >"$work/log/${1##*/}" 2>&1 &
    processes="$processes $!"
}
site=$work/site
mkdir -p "$site/repository" "$site/bare.git"
cp "$package" "$site/repository/"
(cd "$site/repository" && dpkg-scanpackages --multiversion . 2>/dev/null >Packages)
git init -q --bare "$site/bare.git"
touch "$site/bare.git/git-daemon-export-ok"
git init -q "$work/source"
head -c 3000000 /dev/urandom >"$work/source/data"
git -C "$work/source" add data
git -C "$work/source" -c user.name=a -c user.email=a@example.org commit -qm 'data'
git -C "$work/source" push -q "$site/bare.git" HEAD:refs/heads/main
git -C "$site/bare.git" symbolic-ref HEAD refs/heads/main
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=web -keyout "$work/tls.key" -out "$work/tls.crt" 2>/dev/null
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/user"
cp "$work/user.pub" "$work/authorized"
# A page of 60 pictures, which a browser asks for at once, and then for /seen-60.
{
    echo '<!doctype html><title>page</title><body>'
    echo '<script>let count = 0; function seen() { if (++count == 60) new Image().src = "/seen-" + count; }</script>'
    for number in $(seq 60); do
        head -c 20000 /dev/urandom >"$site/$number.bin"
        echo "<img src=\"/$number.bin\" onerror=\"seen()\">"
    done
} >"$site/index.html"
serve nghttpd --verbose --htdocs="$site" -a $web 443 "$work/tls.key" "$work/tls.crt"
serve python3 -m http.server --bind $web --directory "$site" 8080
serve git daemon --reuseaddr --listen=$web --base-path="$site" --export-all
at internet mkdir -p /run/sshd
serve /usr/sbin/sshd -D -e -o HostKey="$work/host" -o AuthorizedKeysFile="$work/authorized" \
    -o StrictModes=no -o UsePAM=no -o ListenAddress=$web
serve iperf3 --server --bind $web
serve "$python" "$quic" serve $web 4443
for link in wifi lte; do
    at internet tcpdump -Z root -U -n -i $link -w "$work/$link.pcap" 2>"$work/log/capture-$link" &
    processes="$processes $!"
done
sleep 2

# Runs a check in the home; what it prints belongs to its line.
check() {
    name=$1
    shift
    found=$(at home env HOME="$work" timeout 60 sh -c "$*" 2>"$work/log/$(echo "$name" | tr ' /' '--')") ||
        fail "$name: $(tail -n 3 "$work/log/$(echo "$name" | tr ' /' '--')") $found"
    echo "  $name: $found"
}

echo "From the network behind the client:"
check "curl sees the address" "curl -s http://$web/"
check "curl, 20 MB, bytes/s" "curl -s -o /dev/null -w '%{speed_download}' http://$web/20"
check "chromium, HTTP/2, pictures" "chromium --headless=new --no-sandbox --disable-gpu --ignore-certificate-errors \
    https://$web/index.html >/dev/null 2>&1 & for n in \$(seq 400); do
        grep -o '/seen-60' $work/log/nghttpd | head -n 1 | grep . && break; sleep 0.1; done; kill \$!"
check "apt-get update and download" "mkdir -p $work/apt/lists/partial $work/apt/cache && cd $work/apt &&
    echo 'deb [trusted=yes] http://$web:8080/repository ./' >list &&
    set -- -o Dir::Etc::SourceList=$work/apt/list -o Dir::Etc::SourceParts=- -o Dir::State::lists=$work/apt/lists \
        -o Dir::Cache=$work/apt/cache -o APT::Sandbox::User=root &&
    apt-get -q \"\$@\" update >/dev/null && apt-get -q \"\$@\" download ropewalk-gateway >/dev/null && ls *.deb"
check "git clone" "git clone -q git://$web/bare.git $work/clone && git -C $work/clone log --oneline | wc -l"
check "ssh" "ssh -i $work/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR root@$web hostname"
check "ping" "ping -q -c 5 -i 0.2 $web | tail -n 2 | tr '\\n' ' '"
check "DNS" "dig +short anything.example"
for way in "" "--reverse"; do
    check "iperf3 TCP $way, Mbit/s" "iperf3 -J -t 5 $way -c $web | python3 -c \"import json, sys
print(round(json.load(sys.stdin)['end']['sum_received']['bits_per_second'] / 1e6, 1))\""
    check "iperf3 UDP 15 Mbit/s $way, lost" "iperf3 -J -t 5 -u -b 15M -l 1300 $way -c $web | python3 -c \"import json, sys
found = json.load(sys.stdin)
end = found['end'].get('sum') or sys.exit(found['error'])
print('{:.2f} %, jitter {:.2f} ms'.format(end['lost_percent'], end['jitter_ms']))\""
done
check "200 connections at once" "for n in \$(seq 200); do echo url=http://$web/1; echo output=/dev/null; done >$work/urls &&
    curl -sS --no-keepalive --parallel --parallel-immediate --parallel-max 200 -w '%{http_code}\\n' -K $work/urls | sort | uniq -c"
check "QUIC, Mbit/s" "$python $quic fetch $web 4443 6"
check "QUIC version of the server" "$python -c 'import aioquic; print(\"aioquic\", aioquic.__version__)'"

sleep 1
for link in wifi lte; do
    # The file is in the machine's own /tmp.
    packets=$(at internet tcpdump -r "$work/$link.pcap" -n 2>/dev/null | wc -l)
    test "$packets" -gt 1000 || fail "only $packets packets were captured on $link"
    leaked=$(at internet tcpdump -r "$work/$link.pcap" -n "not host $relay_address and not arp and not icmp6 and not igmp" 2>/dev/null)
    test -z "$leaked" || fail "beside the relay on $link: $leaked"
    echo "  $link: $packets packets, none beside those of the relay, ARP and neighbour discovery"
done
at van ropewalk-gateway status --once --control /run/ropewalk-client/ropewalk/client | head -n 2
echo "$commands commands; all of it in $(($(date +%s) - began)) s."
