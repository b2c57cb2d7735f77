#!/bin/sh
# A wheel, or an sdist, installed far from any clone: the demo, the gateway, the package's own tests.
#
#     make wheel-test
#     packaging/demo/installed.sh target/wheels/ropewalk-*.tar.gz
#
# All of it happens in a new folder, which is gone at the end. Of the network pip alone uses any, for
# the libraries. Lines with $ are what a user types.
set -eu
file=$(realpath "${1:?which wheel or sdist?}")
python=$(command -v "${PYTHON:-python3}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset PYTHONPATH
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 COLUMNS=100

fail() {
    echo "installed.sh: $*" >&2
    exit 1
}
say() {
    printf '\n== %s\n' "$*"
}
type_() {
    echo "\$ $*"
    "$@"
}
# The command must end with exit status 2 and one line that has these words.
refused() {
    words=$1
    shift
    echo "\$ $*"
    status=0
    "$@" >out 2>err || status=$?
    cat err
    test $status = 2 || fail "exit status $status instead of 2"
    test "$(wc -l <err)" = 1 || fail "not one line"
    grep -qF -- "$words" err || fail "it does not say: $words"
}
megabytes() {
    echo "$(du -sm "$1" | cut -f 1) MB"
}
environment() {
    "$python" -m venv "$1"
    PATH=$work/$1/bin:$plain_path
}
plain_path=$PATH

case $file in
*.tar.gz)
    say "$(basename "$file"), $(du -k "$file" | cut -f 1) kB, made into a wheel"
    environment building
    began=$(date +%s)
    type_ pip wheel --quiet --no-deps --wheel-dir built "$file"
    echo "in $(($(date +%s) - began)) s"
    file=$(echo "$work"/built/*.whl)
    ;;
esac

say "$(basename "$file"), $(du -k "$file" | cut -f 1) kB, installed in a new environment"
environment full
began=$(date +%s)
type_ pip install --quiet "$file"
echo "in $(($(date +%s) - began)) s; the environment has $(megabytes full), $(megabytes full/lib/python*/site-packages/pip) of them pip; the greatest:"
du -sm full/lib/python*/site-packages/* | sort -rn | head -n 8 | awk '{ sub(".*/", "", $2); printf "  %4d MB %s\n", $1, $2 }'
case $(python -c 'import ropewalk; print(ropewalk.__file__)') in
"$work"/full/*) ;;
*) fail "another ropewalk is in the way" ;;
esac
type_ ropewalk --version
type_ ropewalk-gateway --version
test -f full/lib/ropewalk/libropewalk_preload.so || fail "no libropewalk_preload.so"
for part in scenarios/start/two-links.toml py.typed; do
    test -f full/lib/python*/site-packages/ropewalk/$part || fail "no $part"
done
for part in LICENSE-MIT LICENSE-APACHE; do
    test -f full/lib/python*/site-packages/ropewalk-*.dist-info/licenses/$part || fail "no $part"
done
test -s full/share/doc/ropewalk/licences-of-crates.txt || fail "no licences of the crates"

say "the demo"
began=$(date +%s)
type_ ropewalk simulate trains/eight-links --out results
echo "in $(($(date +%s) - began)) s: $(find results -type f | sort | tr '\n' ' ')"
for part in pictures/goodput.png tables/timeline.parquet; do
    test -s results/$part || fail "no $part"
done

say "what takes a library more says so"
refused 'pip install "ropewalk[models]"' python -c '
import sys
from ropewalk.model.wifi.bianchi import attempt_probability
try:
    attempt_probability([31, 63], 2)
except ImportError as error:
    sys.exit(print(error, file=sys.stderr) or 2)'
type_ ropewalk predict papers/elahi-2011 >predicted
grep -B 1 -F "ropewalk[models]" predicted || fail "predict does not say what it leaves out"

say "the gateway: relay and proxy over two emulated links"
mkdir served
head -c 10000000 /dev/urandom >served/file
type_ ropewalk-gateway keygen relay
type_ ropewalk keygen van
cat >far.sh <<'END'
python -m http.server 8000 --bind "$ROPEWALK_FAR" --directory served >/dev/null 2>&1 &
exec ropewalk relay --log warn --listen "$ROPEWALK_FAR:4433" --key relay.key --clients van.pub \
    --allow "$ROPEWALK_FAR" --control relay.sock
END
cat >fetch.py <<'END'
import os, sys, time, urllib.request
for attempt in range(100):
    try:
        began = time.monotonic()
        with urllib.request.urlopen(f"http://{os.environ['ROPEWALK_FAR']}:8000/file") as answer:
            content = answer.read()
        break
    except OSError:
        time.sleep(0.1)
else:
    sys.exit("no answer")
assert content == open("served/file", "rb").read()
took = time.monotonic() - began
print(f"  {len(content)} bytes, unchanged, in {took:.2f} s: {8e-6 * len(content) / took:.1f} Mbit/s")
END
cat >near.sh <<'END'
set -eu
links=
for link in $ROPEWALK_LINKS; do
    links="$links --link ${link%%=*}=${link#*=}"
done
# shellcheck disable=SC2086 # They are several words.
ropewalk-gateway proxy --log warn --relay "$ROPEWALK_FAR:4433" --key van.key --relay-key relay.pub $links \
    --control proxy.sock &
for attempt in $(seq 100); do
    test -S proxy.sock && break
    sleep 0.1
done
echo "without it, over one link:"
python fetch.py
echo "by ropewalk exec, over both:"
ropewalk exec --control proxy.sock -- python fetch.py
ropewalk status --once --control proxy.sock
END
if ropewalk testbed doctor >doctor 2>&1; then
    type_ ropewalk emulate start/two-links --far 'sh far.sh' -- sh near.sh
else
    echo "skipped: this machine emulates no links:"
    cat doctor
fi

say "the tests of the installed package, each library there"
type_ pip install --quiet "ropewalk[models,pandas]" pytest
type_ python -m pytest --quiet --pyargs ropewalk -p no:cacheprovider

say "for a machine that only computes or carries: without tables, pictures and models"
environment bare
type_ pip install --quiet --no-deps "$file"
type_ pip install --quiet numpy rich typer
echo "the environment has $(megabytes bare)"
type_ ropewalk simulate start/two-links --runs 3
refused 'pip install polars' ropewalk simulate start/two-links --out nowhere
type_ ropewalk keygen own

say "done"
