"""The testbed: the kernel's TCP and MPTCP, in a process that leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk.engines import testbed
from ropewalk.engines.testbed import child
from ropewalk.output import plot
from ropewalk.output.plot.compare import draw
from ropewalk.output.tables.runs import table
from ropewalk.support import programs

PCAPNG = bytes.fromhex("0a0d0d0a")
PROGRAM = Path(sys.executable).with_name("ropewalk")


@pytest.fixture(scope="module")
def small(two_links):
    return two_links.with_({"traffic.size": "2 MB", "duration": "10 s"})


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """Replace the testbed by a Python program."""

    def put(program):
        file = tmp_path / programs.TESTBED
        file.write_text(f"#!{sys.executable}\nimport os, sys; sys.stdin.read(); {program}\n")
        file.chmod(0o755)
        monkeypatch.setenv(programs.FOLDER, str(tmp_path))

    return put


@pytest.fixture(scope="module")
def results(machine, small):
    return ropewalk.testbed(small, step="50 ms", seed=4, runs=2)


def test_a_study_may_be_of_it(machine, small, tmp_path):
    delays = {"link.dsl.delay": ["10 ms", "60 ms"]}
    made = ropewalk.study(small, delays, verb="testbed", out=tmp_path / "study")
    assert made.failed.is_empty(), made.failed["error"].to_list()
    points = made.points
    assert points["engine"].to_list() == ["testbed", "testbed"]
    assert points["delivered_bytes"].to_list() == [2_000_000, 2_000_000]
    assert points["link.dsl.delay_value"].to_list() == [0.01, 0.06]
    assert points["own_delay_p99_ms"].min() >= 0
    assert points["disturbed"].dtype == pl.Boolean
    again = ropewalk.study(small, delays, verb="testbed", out=tmp_path / "study")
    assert again.points.equals(points), "nothing is run again"


def worlds(name):
    """Return the testbed processes of this scenario file's run."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes()
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"ropewalk-testbed" in command and f"MARK={name}".encode() in environment:
            found.append(int(folder.name))
    return found


def started(name, *arguments):
    """Start the command with a marked environment; wait for its testbed process."""
    process = subprocess.Popen(
        [PROGRAM, "testbed", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env=os.environ | {"MARK": name},
        start_new_session=True,
    )
    until = time.monotonic() + 30
    while not worlds(name) and time.monotonic() < until:
        time.sleep(0.05)
    assert worlds(name)
    return process


def gone(name):
    until = time.monotonic() + 10
    while worlds(name) and time.monotonic() < until:
        time.sleep(0.05)
    return not worlds(name)


def test_both_links_carry_every_byte(results):
    for run in results.runs:
        assert run["engine"] == "testbed"
        assert run["delivered_bytes"] == 2_000_000
        assert [subflow["link"] for subflow in run["subflows"]] == ["dsl", "cable"]
        assert all(subflow["goodput_mbps"] > 0 for subflow in run["subflows"])
        assert 0 < run["goodput_mbps"] < 66
        assert run["emulator"]["lateness_ms"]["p99"] >= 0
    assert results.seeds == [4, 5]


def test_testbed_frames_match_the_simulator(results, small):
    simulated = ropewalk.simulate(small, step="50 ms")
    assert results.links.columns == simulated.links.columns
    # The kernel does not report undone losses.
    assert set(results.timeline.columns) == set(simulated.timeline.columns) - {"undone"}
    assert results.timeline["link"].unique().sort().to_list() == ["cable", "dsl"]
    assert results.delays["count"].sum() > 0
    delivered = results.connection.filter(pl.col("seed") == 4)
    steps = delivered["time_s"].diff().fill_null(delivered["time_s"][0])
    megabytes = (delivered["goodput_mbps"] * steps).sum() / 8
    assert megabytes == pytest.approx(2, rel=0.02)


def test_tables_and_pictures_omit_unknown_kernel_values(results, tmp_path):
    assert table(results)
    assert plot.save(plot.overview(results), tmp_path / "page.svg").stat().st_size > 10_000
    with pytest.raises(ValueError, match="no reorder buffer"):
        plot.reorder_buffer(results)


def test_netem_links_have_their_own_lines(small):
    line = "qdisc add dev path0 root netem rate 16mbit delay 20ms"
    report = {
        "engine": "testbed",
        "scenario": small.title,
        "seed": 1,
        "goodput_mbps": 14.0,
        "delivered_bytes": 2_000_000,
        "duration_s": 1.1,
        "subflows": [{"link": "dsl", "goodput_mbps": 14.0, "retransmissions": 3}],
        "kernel": {"release": "6.18", "congestion": "cubic", "counters": {}},
        "tc": {"client": [line], "server": []},
    }
    results = ropewalk.Results(small, [testbed.KernelRun(report)])
    console = Console(width=100)
    with console.capture() as shown:
        console.print(table(results))
    assert line in shown.get()
    assert "packets" not in shown.get()
    assert results.links.is_empty()


def test_true_and_false_have_no_mean(results):
    assert "packets" in results.mean["emulator"]
    assert "trusted" not in results.mean["emulator"]


def test_the_command_prints_one_object_and_writes_the_capture(machine, command, tmp_path):
    capture = tmp_path / "two.pcapng"
    done = command(
        *("testbed", TWO_LINKS, "--set", "traffic.size=1MB", "--json"),
        *("--capture", capture, "--out", tmp_path / "kept", "--step", "20 ms"),
    )
    # A busy machine gives a warning.
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["delivered_bytes"] == 1_000_000
    assert "null" not in done.stdout
    assert capture.read_bytes()[:4] == PCAPNG
    assert not pl.read_parquet(tmp_path / "kept/tables/connection.parquet").is_empty()
    assert (tmp_path / "kept/pictures/goodput.png").stat().st_size > 10_000
    assert not (tmp_path / "kept/pictures/reorder-buffer.png").exists()


def test_the_table_names_kernel_and_lateness(machine, command):
    done = command("testbed", TWO_LINKS, "--set", "traffic.size=1MB")
    assert (done.returncode, done.stderr) == (0, "")
    for word in ("dsl", "cable", "cubic", "late", f"Linux {os.uname().release}"):
        assert word in done.stdout


def test_progress_counts_seconds_to_the_total(machine, small):
    text = []
    ropewalk.testbed(small, progress=lambda *of: text.append(of))
    assert text == sorted(text)
    assert text[-1] == (10, 10)


def test_compare_includes_the_kernel(machine, small):
    compared = ropewalk.compare(small, step="50 ms")
    assert compared.ways == ("predict", "simulate", "testbed")
    assert sorted(compared.accuracy) == [
        "predict_against_simulate",
        "predict_against_testbed",
        "simulate_against_testbed",
    ]
    bars, _, time_axes = draw(compared).axes
    assert len(bars.patches) == 3
    assert [patch.get_label() for patch in time_axes.patches] == ["simulate", "testbed"]


@pytest.mark.parametrize("way", ["testbed", "compare"])
def test_features_missing_in_the_kernel_are_wrong_input(machine, refused, way):
    only = ["--ways", "testbed"] if way == "compare" else []
    text = refused(way, TWO_LINKS, "--set", "transport.scheduler=blest", *only)
    assert 'transport.scheduler = "blest"' in text
    assert text.count("\n") == 1


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ending_the_command_ends_its_processes(machine, command, end, tmp_path):
    name = f"ended-{end.name}"
    capture = tmp_path / "half.pcap"
    process = started(name, str(TWO_LINKS), "--set", "traffic.size=1GB", "--capture", str(capture))
    until = time.monotonic() + 20
    while not [*tmp_path.iterdir()] and time.monotonic() < until:
        time.sleep(0.05)
    assert [*tmp_path.iterdir()], "nothing was captured yet"
    process.send_signal(end)
    process.communicate(timeout=20)
    assert process.returncode != 0
    assert gone(name)
    # A killed process cannot clean up, but no file has a capture's name, and the next run cleans
    # up.
    assert not capture.exists()
    if end == signal.SIGKILL:
        again = command(
            *("testbed", TWO_LINKS, "--set", "traffic.size=100kB", "--capture", capture)
        )
        assert (again.returncode, again.stderr) == (0, "")
        assert [*tmp_path.iterdir()] == [capture]
    else:
        assert [*tmp_path.iterdir()] == []


def test_killed_testbed_process_is_a_failed_run(machine):
    name = "killed"
    process = started(name, str(TWO_LINKS), "--set", "traffic.size=1GB")
    for world in worlds(name):
        os.kill(world, signal.SIGKILL)
    printed, text = process.communicate(timeout=20)
    assert (process.returncode, printed) == (1, b"")
    assert text == b"the testbed was killed by SIGKILL\n"


def test_hanging_testbed_process_is_ended(machine, monkeypatch, two_links):
    monkeypatch.setattr(child, "GRACE_S", 2.0)
    request = {"scenario": two_links.text, "name": "two", "overrides": [("traffic.size", "1GB")]}
    with pytest.raises(RuntimeError, match="exceeded its limit of 2 s"):
        child.run_child("world", {**request, "seed": 1})


@pytest.mark.parametrize(
    ("program", "error", "said"),
    [
        ("exit('a: b: c')", RuntimeError, "^a: b: c$"),
        ("sys.stderr.write('line 3'); exit(2)", ropewalk.ScenarioError, "^line 3$"),
        ("sys.stderr.write('no TUN'); exit(3)", testbed.UnavailableError, "^no TUN$"),
        ("exit(7)", RuntimeError, "^the testbed ended with status 7 without a message$"),
        ("os.kill(os.getpid(), 9)", RuntimeError, "^the testbed was killed by SIGKILL$"),
    ],
)
def test_end_of_testbed_process_is_reported(stand_in, program, error, said):
    stand_in(program)
    with pytest.raises(error, match=said):
        child.run_child("world", {})


def test_a_machine_that_cannot_is_left_out_of_a_comparison(stand_in, small):
    stand_in("sys.stderr.write('no'); exit(3)")
    compared = ropewalk.compare(small)
    assert compared.ways == ("predict", "simulate")
    assert compared.left_out == {"testbed": "no"}
    with pytest.raises(testbed.UnavailableError, match="no"):
        ropewalk.compare(small, ways=["simulate", "testbed"])


def test_doctor_reports_capabilities(command):
    done = command("testbed", "doctor", "--json")
    diagnosis = json.loads(done.stdout)
    assert done.returncode == (0 if diagnosis["ready"] else 1)
    names = {check["name"] for check in diagnosis["machine"]["checks"]}
    assert {"network namespaces", "MPTCP", "netem"} <= names
    shown = command("testbed", "doctor")
    assert f"Linux {os.uname().release}" in shown.stdout
    assert all(name in shown.stdout for name in names)


def test_doctor_reports_obstacles_of_a_scenario(machine, command):
    assert command("testbed", "doctor", TWO_LINKS).returncode == 0
    refused = command("testbed", "doctor", TWO_LINKS, "--set", "transport.scheduler=blest")
    assert refused.returncode == 1
    assert "blest" in refused.stdout
    late = command("testbed", "doctor", TWO_LINKS, "--set", 'link.cable.down=[["0 s", "3 s"]]')
    assert late.returncode == 1
    assert "cable" in late.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--emulator", "tc"], "'tc' is not one of 'own', 'netem'"),
        (["--step", "10 ms"], "--step 10 ms: only with --out or --plot\n"),
        (["--capture-at", "dsl"], "--capture-at dsl: only with --capture\n"),
        (["--plot", "page.gif"], ".png, .svg, .pdf"),
        (["--runs", "0"], "--runs"),
    ],
)
def test_a_wrong_argument_ends_with_status_2(refused, arguments, said):
    text = refused("testbed", TWO_LINKS, *arguments)
    assert said in text


def test_every_option_is_in_the_guide(command):
    page = (ROOT / "docs/guide/testbed.md").read_text()
    for option in ("--emulator", "--kernel-congestion", "--capture", "--capture-at", "--step"):
        assert option in command("testbed", "--help").stdout
        assert option in page
