"""Captures of runs keep every rule, and agree with the runs' summaries."""

import re
import shutil
import struct
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import ropewalk
from ropewalk.analysis import check

START_NS = 946_684_800 * 10**9
"""Virtual time zero in files."""
LOSSES = {"link.dsl.loss": "1 %", "link.cable.loss": "1 %"}
REORDERING = {"link.cable.jitter": '{ amount = "8 ms", reorder = true }', **LOSSES}
ONE_PATH = {"transport.paths": '["cable"]'}
ROOT = Path(__file__).parents[2]
TSHARK = shutil.which("tshark")
TCPTRACE = shutil.which("tcptrace")
needs_tshark = pytest.mark.skipif(not TSHARK, reason="tshark is not installed")
needs_tcptrace = pytest.mark.skipif(not TCPTRACE, reason="tcptrace is not installed")


@dataclass
class Case:
    changes: dict[str, str] = field(default_factory=dict)
    scenario: str = "start/two-links"
    subflows: int = 2
    encapsulated: bool = False


CASES = {
    "plain": Case(),
    "loss": Case(LOSSES),
    "an outage": Case({"link.cable.down": '[["300 ms", "800 ms"]]'}),
    "a duplicate selectively acknowledged": Case(REORDERING),
    "eight links": Case(scenario="trains/eight-links", subflows=8),
    "checksums": Case({"transport.checksum": "true", **LOSSES}),
    "IPv6": Case({"transport.ip_version": "ipv6"}),
    "numbers that wrap": Case({"transport.initial_sequence_number": "4294900000", **LOSSES}),
    "a virtual device": Case({"transport.protocol": "striped-tcp"}, subflows=1, encapsulated=True),
    "TCP": Case({"transport.protocol": "tcp", **ONE_PATH, **LOSSES}, subflows=1),
    "no timestamps": Case({"transport.timestamps": "false", **LOSSES}),
    "numbers of TCP-DOOR": Case(
        {
            "transport.reordering": "tcp-door",
            "transport.protocol": "tcp",
            **ONE_PATH,
            **REORDERING,
        },
        subflows=1,
    ),
    "numbers of TCP-DOOR beside mappings": Case(
        {"transport.reordering": "tcp-door", "transport.checksum": "true", **REORDERING}
    ),
    "no SACK": Case({"transport.sack": "false", **LOSSES}),
    "two subflows a path": Case({"transport.subflows_per_path": "2"}, subflows=4),
    "everything twice": Case({"transport.scheduler": "redundant", **LOSSES}),
    "a small receive buffer": Case(
        {
            "transport.receive_buffer": "20 kB",
            "transport.opportunistic_retransmission": "true",
            "transport.linux_window": "false",
            **LOSSES,
        }
    ),
    "lost acknowledgements": Case({"link.cable.reverse.loss": "5 %", **LOSSES}),
}


@pytest.fixture(scope="module")
def captured(tmp_path_factory):
    """Run a case once for each capture point and format; return its summary and file."""
    folder = tmp_path_factory.mktemp("captures")
    done = {}

    def capture(name, place="sender", ending="pcapng"):
        key = name, place, ending
        if key not in done:
            path = folder / f"{len(done)}.{ending}"
            case = CASES[name]
            scenario = ropewalk.Scenario.load(ROOT / f"scenarios/{case.scenario}.toml")
            scenario = scenario.with_({"traffic.size": "3 MB", **case.changes})
            results = ropewalk.simulate(scenario, capture=path, capture_at=place)
            done[key] = results, path
        return done[key]

    return capture


@pytest.mark.parametrize("place", ["sender", "receiver"])
@pytest.mark.parametrize("name", CASES)
def test_every_rule_is_kept(captured, name, place):
    case = CASES[name]
    results, path = captured(name, place)
    report = check.capture(path, pattern=True, encapsulated=case.encapsulated, exact=True)
    assert report.violations == []
    assert report.packets == results.captured_packets
    [connection] = report.connections
    assert connection.subflows == case.subflows
    assert connection.is_multipath == (case.subflows > 1)
    assert connection.unique_bytes == (3_000_000, 0)
    assert connection.fin_acked == (True, True)


def test_linux_window_lets_a_sender_exceed_the_shared_window(tmp_path):
    # See docs/rfc-clauses.md, RFC 8684, 3.3.4: this option breaks nothing else.
    case = CASES["a small receive buffer"]
    keys = {"traffic.size": "3 MB", **case.changes, "transport.linux_window": "true"}
    # A smaller transfer rarely triggers it.
    keys |= {"transport.receive_buffer": "128 kB"}
    path = tmp_path / "linux.pcapng"
    scenario = ropewalk.Scenario.load(ROOT / f"scenarios/{case.scenario}.toml")
    ropewalk.simulate(scenario.with_(keys), capture=path)
    report = check.capture(path, pattern=True, exact=True)
    assert report.violations
    assert {violation.rule for violation in report.violations} == {"mptcp-window"}
    noted = check.capture(path, pattern=True)
    assert noted.violations == []
    assert "subflow-window" in {note.kind for note in noted.notes}
    [connection] = report.connections
    assert connection.unique_bytes == (3_000_000, 0)


def test_aggregation_is_several_connections(tmp_path):
    path = tmp_path / "aggregated.pcapng"
    scenario = ropewalk.Scenario.load(ROOT / "scenarios/start/two-links.toml")
    changes = {"transport.protocol": "aggregation", **LOSSES}
    scenario = scenario.with_({"traffic.size": "3 MB", **changes})
    results = ropewalk.simulate(scenario, capture=path)
    report = check.capture(path, pattern=True)
    assert report.violations == []
    assert report.packets == results.captured_packets
    assert [connection.is_multipath for connection in report.connections] == [False, False]
    assert all(connection.fin_acked == (True, True) for connection in report.connections)
    # In addition to the 3 MB: frame headers, retransmissions on other carriers, and responses.
    ways = [connection.unique_bytes for connection in report.connections]
    there, back = sum(way[0] for way in ways), sum(way[1] for way in ways)
    again = sum(subflow["resent_bytes"] for subflow in results.runs[0]["subflows"])
    assert 3_000_000 < there < 3_030_000 + again
    assert 0 < back < 60_000
    for subflow, seen in zip(results.runs[0]["subflows"], report.subflows, strict=True):
        assert seen.sent[0].retransmitted >= subflow["retransmissions"]


@pytest.mark.parametrize("name", ["loss", "an outage", "a duplicate selectively acknowledged"])
def test_counts_agree_with_the_summary(captured, name):
    results, path = captured(name)
    report = check.capture(path, pattern=True)
    run = results.runs[0]
    # The summary excludes retransmissions while the connection closes.
    for subflow, seen in zip(run["subflows"], report.subflows, strict=True):
        assert seen.sent[0].retransmitted >= subflow["retransmissions"]
        assert seen.sent[0].data_segments >= subflow["segments_sent"]
        later = seen.sent[0].data_segments - subflow["segments_sent"]
        assert seen.sent[0].retransmitted - subflow["retransmissions"] == later
    assert sum(subflow["retransmissions"] for subflow in run["subflows"]) > 0
    assert report.comments_with("spurious") >= sum(
        subflow["spurious_retransmissions"] for subflow in run["subflows"]
    )


def test_truncated_captures_keep_every_checkable_rule(tmp_path):
    path = tmp_path / "snapped.pcapng"
    ropewalk.simulate(ROOT / "scenarios/start/two-links.toml", capture=path, snaplen=128)
    report = check.capture(path, pattern=True)
    assert report.violations == []
    assert report.snapped > 0


@needs_tshark
@pytest.mark.parametrize("name", CASES)
def test_tshark_warns_only_about_loss(captured, name):
    case = CASES[name]
    results, path = captured(name)
    warnings = expert_warnings(path, case)
    guesses = {
        "This frame is a (suspected) out-of-order segment",
        "D-SACK Sequence",
        "TCP window specified by the receiver is now completely full",
    }
    assert set(warnings) <= guesses
    sent_again = sum(subflow["retransmissions"] for subflow in results.runs[0]["subflows"])
    if not sent_again and name != "a small receive buffer":
        assert not warnings
    counted = len(tshark(path, "-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0", case=case))
    assert counted == case.subflows


@needs_tshark
def test_tshark_warns_only_about_drops_in_the_guides_run(tmp_path):
    path = tmp_path / "two.pcapng"
    results = ropewalk.simulate(ROOT / "scenarios/start/two-links.toml", capture=path)
    dropped = sum(link["dropped_packets"] for link in results.runs[0]["links"])
    warnings = expert_warnings(path, Case())
    # After more than a round trip tshark recognizes a retransmission, without a warning.
    assert [*warnings] == ["This frame is a (suspected) out-of-order segment"]
    assert 0.9 * dropped < warnings[next(iter(warnings))] <= dropped


@needs_tshark
def test_joins_have_the_token_that_tshark_expects(captured):
    _, path = captured("eight links")
    fields = "-T", "fields", "-e", "mptcp.expected_token"
    expected = tshark(path, "-Y", "tcp.flags.syn == 1 && mptcp.expected_token", *fields)
    fields = "-T", "fields", "-e", "tcp.options.mptcp.recvtok"
    tokens = tshark(path, "-Y", "tcp.options.mptcp.recvtok", *fields)
    assert len(tokens) == 7
    assert set(tokens) == set(expected[:1])
    streams = tshark(path, "-Y", "mptcp.stream", "-T", "fields", "-e", "mptcp.stream")
    assert set(streams) == {"0"}


@needs_tshark
@pytest.mark.parametrize("name", ["plain", "loss", "an outage", "numbers that wrap"])
def test_tshark_counts_the_same_retransmissions(captured, name):
    results, path = captured(name)
    run = results.runs[0]
    again = "tcp.analysis.retransmission || tcp.analysis.out_of_order"
    measured = f"tcp.len > 0 && ({again}) && frame.time_relative <= {run['duration_s']:.9f}"
    counted = Counter(tshark(path, "-Y", measured, "-T", "fields", "-e", "tcp.stream"))
    for number, subflow in enumerate(run["subflows"]):
        assert counted[str(number)] == subflow["retransmissions"]


@needs_tcptrace
@pytest.mark.parametrize("name", ["plain", "loss", "an outage", "numbers that wrap"])
def test_tcptrace_counts_the_same_retransmissions(captured, name, tmp_path):
    results, path = captured(name, ending="pcap")
    run = results.runs[0]
    cut = tmp_path / "measured.pcap"
    cut.write_bytes(until(path.read_bytes(), START_NS + round(run["duration_s"] * 1e9)))
    text = output(TCPTRACE, "-l", "-n", cut)
    counted = re.findall(r"rexmt data pkts: +(\d+) +rexmt", text)
    assert [int(count) for count in counted] == [
        subflow["retransmissions"] for subflow in run["subflows"]
    ]


def expert_warnings(path, case):
    """Count tshark's warnings, with verified checksums."""
    preferences = ["tcp", "ip", "udp"]
    options = [part for name in preferences for part in ("-o", f"{name}.check_checksum:TRUE")]
    lines = tshark(path, *options, "-q", "-z", "expert,warn", case=case)
    found = [re.match(r" +(\d+) +\w+ +\w+ +(.*)", line) for line in lines]
    return {match[2]: int(match[1]) for match in found if match}


def tshark(path, *arguments, case=None):
    """Return tshark's lines for a file."""
    # Payload words that do not start at a segment sometimes look like a database protocol.
    options = ["--disable-heuristic", "drda_tcp"]
    if case and case.encapsulated:
        options += ["-d", "udp.port==6080,ip"]
    return output(TSHARK, "-r", path, *options, *arguments).splitlines()


def output(program, *arguments):
    command = [program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def until(content, end_ns):
    """Cut a classic pcap file after a time."""
    at = 24
    while at < len(content):
        seconds, micros, length = struct.unpack_from("<III", content, at)
        if seconds * 10**9 + micros * 1000 > end_ns:
            return content[:at]
        at += 16 + length
    return content
