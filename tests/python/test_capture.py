"""Captures and qlogs from the command line and from Python."""

import json
import signal
import subprocess
import sys
import time

import pytest

import ropewalk
from places import ROOT

SCENARIO = ROOT / "scenarios/start/two-links.toml"
SMALL = ("--set", "traffic.size=500kB")
PCAPNG = bytes.fromhex("0a0d0d0a")
PCAP = bytes.fromhex("d4c3b2a1")


def test_capture_is_written_and_reported(command, tmp_path):
    path = tmp_path / "two.pcapng"
    done = command("simulate", SCENARIO, *SMALL, "--capture", path)
    assert done.returncode == 0
    assert f"packets: {path}" in done.stdout.replace("\n", "")
    assert path.read_bytes().startswith(PCAPNG)
    assert [file.name for file in tmp_path.iterdir()] == ["two.pcapng"]


def test_capture_format_follows_ending_and_place(tmp_path):
    scenario = ropewalk.Scenario.load(SCENARIO).with_({"traffic.size": "500 kB"})
    sizes = {}
    for place in ("sender", "receiver", "dsl", "cable"):
        path = tmp_path / f"{place}.pcap"
        results = ropewalk.simulate(scenario, capture=path, capture_at=place)
        assert path.read_bytes().startswith(PCAP)
        sizes[place] = results.captured_packets
    assert sizes["dsl"] + sizes["cable"] == sizes["sender"]
    assert ropewalk.simulate(scenario).captured_packets is None


def test_of_several_runs_the_first_is_captured(tmp_path):
    scenario = ropewalk.Scenario.load(SCENARIO).with_({"link.dsl.loss": "1 %"})
    alone, among = tmp_path / "alone.pcapng", tmp_path / "among.pcapng"
    ropewalk.simulate(scenario, seed=4, capture=alone, snaplen=96)
    ropewalk.simulate(scenario, seed=4, runs=3, threads=2, capture=among, snaplen=96)
    assert alone.read_bytes() == among.read_bytes()


def test_numbers_are_the_same_with_and_without(command, tmp_path):
    files = ("--capture", tmp_path / "two.pcapng", "--qlog", tmp_path / "two.sqlog")
    without = json.loads(command("simulate", SCENARIO, *SMALL, "--json").stdout)
    with_both = json.loads(command("simulate", SCENARIO, *SMALL, *files, "--json").stdout)
    for made in (without, with_both):
        del made["stats"]["wall_s"], made["origin"]
    assert with_both == without


@pytest.mark.parametrize("protocol", ["mptcp", "aggregation"])
def test_a_qlog_is_a_json_text_sequence(command, tmp_path, protocol):
    path = tmp_path / "two.sqlog"
    chosen = ("--set", f"transport.protocol={protocol}")
    done = command("simulate", SCENARIO, *SMALL, *chosen, "--qlog", path)
    assert f"qlog:    {path}" in done.stdout.replace("\n", "")
    empty, *texts = path.read_text().split("\x1e")
    assert empty == ""
    header, *events = [json.loads(text) for text in texts]
    assert header["serialization_format"] == "application/qlog+json-seq"
    assert {event["path_id"] for event in events} == {0, 1}
    assert "recovery:metrics_updated" in {event["name"] for event in events}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["--capture", "x.txt"],
            "x.txt: unknown extension of a packet file; allowed: .pcapng, .pcap",
        ),
        (["--qlog", "x.json"], "x.json: unknown extension of a qlog file; allowed: .sqlog"),
        (["--qlog", "x.qlog"], "x.qlog: unknown extension of a qlog file; allowed: .sqlog"),
        (
            ["--capture", "x.pcap", "--qlog", "x"],
            "x: unknown extension of a qlog file; allowed: .sqlog",
        ),
        (["--capture", "absent/x.pcap"], "absent: no such folder"),
        (["--qlog", "absent/x.sqlog"], "absent: no such folder"),
        (["--capture", "."], "is a folder"),
        (
            ["--capture", "x.pcap", "--capture-at", "wlan"],
            '--capture-at "wlan": unknown observation point;'
            " allowed: sender, receiver, dsl, cable",
        ),
        (["--capture-at", "sender"], "--capture-at sender: only with --capture"),
        (["--snaplen", "96"], "--snaplen 96: only with --capture"),
        (["--capture", "x.pcap", "--snaplen", "0"], "--snaplen"),
    ],
)
def test_wrong_input_is_refused_and_leaves_nothing(
    refused, arguments, expected, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    text = refused("simulate", SCENARIO, *arguments)
    assert expected in text
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_leaves_nothing(tmp_path):
    path = tmp_path / "endless.pcapng"
    endless = ["--set", "duration=10h", "--set", "traffic.size=1TB", "--snaplen", "64"]
    run = [sys.executable, "-m", "ropewalk", "simulate", str(SCENARIO), *endless]
    # Shells start background jobs with interrupts ignored, which child processes inherit.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen([*run, "--capture", str(path)], stderr=subprocess.DEVNULL)
    signal.signal(signal.SIGINT, before)
    while not list(tmp_path.iterdir()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) != 0
    assert list(tmp_path.iterdir()) == []
