"""The checks can be run from a shell."""

import subprocess
import sys
from pathlib import Path

import pytest

from builder import pcap, pcapng
from conversations import encapsulated, mptcp, plain_tcp

FOLDER = Path(__file__).parent


def run(*arguments):
    return subprocess.run(
        [sys.executable, FOLDER, *arguments], capture_output=True, text=True, check=False
    )


def test_good_captures_are_shown(tmp_path):
    names = [tmp_path / "one.pcapng", tmp_path / "two.pcapng"]
    for name, packets in zip(names, [mptcp(), plain_tcp()], strict=True):
        name.write_bytes(pcapng([packets[0] | {"comment": "hello"}, *packets[1:]], ["dsl"]))
    done = run(*names)
    assert done.returncode == 0, done.stdout
    assert "connection 0: MPTCP, 2 subflows, bytes (800, 0)" in done.stdout
    assert "connection 0: TCP, 1 subflows, bytes (800, 0)" in done.stdout
    assert "10.0.1.1:40000: 11 segments, 7 with data, 2 of them again" in done.stdout
    assert "1 x comment: hello" in done.stdout


def test_a_bad_capture_has_another_status(tmp_path):
    path = tmp_path / "bad.pcapng"
    packets = [packet | {"window": 0} for packet in mptcp()]
    path.write_bytes(pcapng(packets, ["dsl"]))
    done = run(path)
    assert done.returncode == 1
    assert "VIOLATION packet 5 (0.005000 s, dsl, 10.0.1.1:40000 > 10.0.9.1:5001): " in done.stdout


@pytest.mark.parametrize(
    ("packets", "options"),
    [
        (encapsulated(plain_tcp()), ["--encapsulated", "--port", "6000"]),
        (plain_tcp()[:-1], ["--cut"]),
        (plain_tcp(), ["--local", "10.0.1.1", "--any-payload"]),
    ],
)
def test_options_say_what_to_expect(packets, options, tmp_path):
    path = tmp_path / "made.pcap"
    path.write_bytes(pcap(packets))
    assert run(path, *options).returncode == 0


def test_a_missing_file_is_named(tmp_path):
    done = run(tmp_path / "none")
    assert done.returncode == 2
    assert "there is no file" in done.stderr
