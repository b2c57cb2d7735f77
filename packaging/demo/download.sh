#!/bin/sh
# Relay and proxy in two network namespaces with two links; a file through them with curl.
#
#     make gateway-demo
#
# It runs at the client's end of the links: SERVER, LINKS and AT_SERVER are from
# crates/testbed/examples/between.rs, GATEWAY is ropewalk-gateway.
set -eu
. "$(dirname "$0")/served.sh"

# AT_SERVER and LINKS are several words each: nsenter ..., --link dsl=ADDRESS --link cable=ADDRESS.
$AT_SERVER python3 -m http.server 8000 --bind "$SERVER" --directory served >/dev/null 2>&1 &
$AT_SERVER "$GATEWAY" --log warn relay --listen "$SERVER:4433" --key relay.key --clients van.pub \
    --allow "$SERVER" --control relay.sock &
"$GATEWAY" --log warn proxy --relay "$SERVER:4433" --key van.key --relay-key relay.pub $LINKS \
    --control proxy.sock &
await "http://$SERVER:8000/"
await --proxy socks5h://127.0.0.1:1080 "http://$SERVER:8000/"

echo "curl without the gateway, over one link:"
fetch alone "http://$SERVER:8000/file"
echo "curl through the gateway, over both:"
fetch file --proxy socks5h://127.0.0.1:1080 "http://$SERVER:8000/file"
"$GATEWAY" status --once --control proxy.sock
check file
