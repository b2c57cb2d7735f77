# What the demonstrations of the gateway share: keys and a file of 20 MB in a folder of their own, and functions that
# wait for a server, fetch the file and compare it. They source it.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Waits until a server answers there.
await() {
    for attempt in $(seq 100); do
        curl -s -o /dev/null --connect-timeout 1 "$@" && return
        sleep 0.1
    done
    echo "no answer: curl $*" >&2
    exit 1
}
# Fetches a file to this one.
fetch() {
    curl -sS -w '  %{size_download} bytes in %{time_total} s, %{speed_download} bytes/s\n' -o "$@"
}
check() {
    sent=$(sha256sum <served/file)
    received=$(sha256sum <"$1")
    echo "SHA-256 sent     ${sent%% *}"
    echo "SHA-256 received ${received%% *}"
    test "$sent" = "$received"
}

"$GATEWAY" keygen relay >/dev/null
"$GATEWAY" keygen van >/dev/null
mkdir served
head -c 20000000 /dev/urandom >served/file
