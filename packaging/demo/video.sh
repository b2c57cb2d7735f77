#!/bin/sh
# A video beside a download, through relay and proxy over a cheap and a dear link: as one stream
# among others, and in classes.
#
#     make video-demo
#
# It runs at the client's end of the links: SERVER, LINKS and AT_SERVER are from
# crates/testbed/examples/between.rs, GATEWAY is ropewalk-gateway.
set -eu
here=$(realpath "$(dirname "$0")")
. "$here/served.sh"
SECONDS_OF_VIDEO=${SECONDS_OF_VIDEO:-30}

# A download that outlasts the video.
head -c 400000000 /dev/zero >served/file
# AT_SERVER and LINKS are several words each. The links' names are those of the scenario.
LINKS=$(echo "$LINKS" | sed 's/\(lte=[^ ]*\)/\1,cost=10/')
$AT_SERVER python3 -m http.server 8000 --bind "$SERVER" --directory served >/dev/null 2>&1 &
$AT_SERVER python3 "$here/video.py" serve "$SERVER" 5554 "$SECONDS_OF_VIDEO" &
$AT_SERVER "$GATEWAY" --log warn relay --listen "$SERVER:4433" --key relay.key --clients van.pub \
    --allow "$SERVER" --control relay.sock &
await "http://$SERVER:8000/"

watch() {
    "$GATEWAY" --log warn proxy --relay "$SERVER:4433" --key van.key --relay-key relay.pub $LINKS \
        --control proxy.sock --quota-state quota.json "$@" &
    proxy=$!
    await --proxy socks5h://127.0.0.1:1080 "http://$SERVER:8000/"
    curl -s -o /dev/null --proxy socks5h://127.0.0.1:1080 "http://$SERVER:8000/file" &
    download=$!
    sleep 2
    python3 "$here/video.py" play "$SERVER" 5554 1080 200
    "$GATEWAY" status --once --control proxy.sock
    kill "$download" "$proxy"
    wait "$download" "$proxy" 2>/dev/null || true
    echo
}

echo "A video of $SECONDS_OF_VIDEO s beside a download, over all links alike:"
watch
echo "The same in classes: the video within 200 ms, the download over the cheap link alone:"
watch --scheduler cheapest-in-time --class streaming=5554
