"""`ropewalk check`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from builder import pcap, pcapng
from conversations import encapsulated, mptcp, plain_tcp


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "ropewalk", "check", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


def test_good_captures_are_shown(tmp_path):
    names = [tmp_path / "one.pcapng", tmp_path / "two.pcapng"]
    for name, packets in zip(names, [mptcp(), plain_tcp()], strict=True):
        name.write_bytes(pcapng([packets[0] | {"comment": "hello"}, *packets[1:]], ["dsl"]))
    done = run(*names)
    assert done.returncode == 0, done.stdout
    assert (
        "connection 0: MPTCP, 2 subflows, 10.0.1.1:40000 > 10.0.9.1:5001; 800 bytes there, 0 back;"
        " 0.027 s; closed by both ends" in done.stdout
    )
    assert (
        "connection 0: TCP, 10.0.1.1:40000 > 10.0.9.1:5001; 800 bytes there, 0 back;"
        " 0.018 s; closed by both ends" in done.stdout
    )
    assert "10.0.1.1:40000: 11 segments, 7 with data, 2 of them retransmitted" in done.stdout
    assert "Comments:\n  1 x hello" in done.stdout


def test_a_bad_capture_has_another_status(tmp_path):
    path = tmp_path / "bad.pcapng"
    packets = [packet | {"window": 0} for packet in mptcp()]
    path.write_bytes(pcapng(packets, ["dsl"]))
    done = run(path)
    assert done.returncode == 1
    first = "packet 5 (0.005000 s, dsl, 10.0.1.1:40000 > 10.0.9.1:5001): data up to 160"
    assert f"6 x mptcp-window (protocol), first: {first}" in done.stdout
    assert done.stdout.count("[RFC 8684, 3.3.4]") == 1
    assert run(path, "--all").stdout.count("[RFC 8684, 3.3.4]") == 6


@pytest.mark.parametrize(
    ("packets", "options"),
    [
        (encapsulated(plain_tcp()), ["--encapsulated", "--port", "6000"]),
        (plain_tcp()[:-1], ["--cut"]),
        (plain_tcp(), ["--local", "10.0.1.1", "--pattern"]),
    ],
)
def test_check_options_set_expectations(packets, options, tmp_path):
    path = tmp_path / "made.pcap"
    path.write_bytes(pcap(packets))
    assert run(path, *options).returncode == 0


def test_a_missing_file_is_named(tmp_path):
    done = run(tmp_path / "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path}/none: no such file or directory\n"


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (b"", [], "0 bytes are too short for a capture file"),
        (
            b"no capture at all",
            [],
            "unknown magic number 6e6f2063, so it is no capture; allowed: pcap, pcapng",
        ),
        (pcap(plain_tcp()), ["--local", "dsl"], "--local dsl: no IPv4 or IPv6 address"),
        (pcap(plain_tcp()), ["--port", "6000"], "--port: only with --encapsulated"),
    ],
)
def test_non_capture_file_is_invalid_input(content, arguments, said, tmp_path):
    path = tmp_path / "made.pcap"
    path.write_bytes(content)
    done = run(path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_check_json_has_the_findings(tmp_path):
    path = tmp_path / "bad.pcapng"
    path.write_bytes(pcapng([packet | {"window": 0} for packet in mptcp()], ["dsl"]))
    done = run(path, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    (file,) = found["files"]
    assert found["engine"] == "check"
    assert found["violations"] == len(file["violations"]) > 0
    assert file["packets"] == len(mptcp())
    assert file["connections"][0]["unique_bytes"] == [800, 0]
    assert [each["kind"] for each in file["subflows"]] == ["MP_CAPABLE", "MP_JOIN"]


def test_every_option_is_on_the_page():
    options = re.findall(r"^  (--[a-z-]+)", run("--help").stdout, re.MULTILINE)
    page = (Path(__file__).parents[2] / "docs/check.md").read_text()
    assert len(options) > 5
    assert [option for option in options if f"{option}" not in page] == []
