#!/bin/sh
# A tunnel between two network namespaces with two links; a file through it with curl.
#
#     make tunnel-demo
#
# It runs at the client's end of the links: SERVER, LINKS and AT_SERVER are from
# crates/testbed/examples/between.rs, GATEWAY is ropewalk-gateway.
set -eu
. "$(dirname "$0")/served.sh"

echo "$(cat van.pub) addresses=10.199.0.2" >clients

# AT_SERVER and LINKS are several words each: nsenter ..., --link dsl=ADDRESS --link cable=ADDRESS.
$AT_SERVER python3 -m http.server 8000 --directory served >/dev/null 2>&1 &
$AT_SERVER "$GATEWAY" --log warn tunnel --listen "$SERVER:4434" --key relay.key --clients clients \
    --address 10.199.0.1/24 --control relay.sock &
"$GATEWAY" --log warn tunnel --relay "$SERVER:4434" --relay-key relay.pub --key van.key \
    --address 10.199.0.2/24 $LINKS --control tunnel.sock &
await http://10.199.0.1:8000/

echo "curl without the tunnel, over one link:"
fetch alone "http://$SERVER:8000/file"
echo "curl through the tunnel, over both:"
fetch file http://10.199.0.1:8000/file
"$GATEWAY" status --once --control tunnel.sock
check file
