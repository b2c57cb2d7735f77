"""Traits of a capture are notes, not violations of a host."""

import json
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builder import pcap
from changes import (
    added,
    checked,
    moved,
    notes,
    optioned,
    without,
    wrong,
)
from conversations import (
    CLIENT,
    SERVER,
    SHORT,
    SYN_OPTIONS,
    Path,
    Talk,
    mptcp,
    payload,
    plain_tcp,
)

ENDS = ("10.0.1.1", "10.0.9.1")


def opened(at=CLIENT, window=512, options=SYN_OPTIONS):
    """Begin a plain TCP connection."""
    talk, path = Talk(at, window), Path(ENDS, 40000, (1000, 2000))
    talk.say("syn", path, CLIENT, "S", options=options)
    talk.say("synack", path, SERVER, "SA", options=options)
    talk.say("ack", path, CLIENT)
    return talk, path


def clean(packets, tmp_path, **arguments):
    """Return the notes on a capture that must have no violation."""
    report = checked(tmp_path, packets, **arguments)
    assert [*map(str, report.violations)] == []
    return notes(report)


# Words of a note, and a change to the capture of a good connection, at the client.
TRAITS = {
    "acknowledged but not captured: 1 segment of 10.0.1.1:40000 > 10.0.9.1:5001": lambda p: (
        without(p, "data 4")
    ),
    "sent but not captured: 1 segment": lambda p: without(p, "data 2", *LATER, "dsack"),
    "1 timestamp of 10.0.1.1:40000": lambda p: without(p, "data 0 again"),
    "the clock goes back 1 time": lambda p: wrong(p, "fin", time=1),
    "1 packet of 10.0.9.1 sent and received alike": lambda p: wrong(p, "ack 3", inbound=False),
    "1 connection captured in one direction only": lambda p: [
        packet for packet in p if packet["inbound"]
    ],
    "1 connection open before the capture began": lambda p: without(p, "syn", "synack"),
    "1 connection still open where the capture ends": lambda p: without(p, "last ack", "fin"),
    "a window shrinks 1 time": lambda p: wrong(p, "last ack", window=100),
    "1 segment above the MSS": lambda p: [
        packet | {"inbound": not packet["inbound"]}
        for packet in optioned(p, "synack", "mss", 171)[:4]
    ],
}
LATER = ("ack 0", "sack 2", "sack 3", "data 1 again", "ack 3", "data 0 again")


@pytest.mark.parametrize("expected", TRAITS)
def test_a_trait_is_noted(expected, tmp_path):
    assert expected in clean(TRAITS[expected](plain_tcp()), tmp_path)


def test_lost_packets_are_noted_once_for_each_direction(tmp_path):
    talk, path = opened()
    for number in range(20):
        talk.say(f"data {number}", path, CLIENT, "A", payload(1400 * number, 1400))
        talk.say("ack", path, SERVER)
    kept = [each for each in talk.packets if each["name"] not in ("data 3", "data 4", "data 11")]
    found = clean(kept, tmp_path)
    assert "acknowledged but not captured: 3 segments of" in found
    assert found.count("acknowledged but not captured") == 1


def test_acknowledging_unsent_bytes_is_a_violation(tmp_path):
    talk, path = opened()
    for number in range(4):
        talk.say(f"data {number}", path, CLIENT, "A", payload(1400 * number, 1400))
        talk.say(f"ack {number}", path, SERVER)
    packets = moved(talk.packets, "ack 1", ack=700)
    [violation] = checked(tmp_path, packets).violations
    assert violation.clause == "RFC 9293, 3.4"
    assert violation.text == "acknowledges bytes 2801..3501, which were not sent yet"
    first, second = violation.packets
    assert [packets[first - 1]["name"], packets[second - 1]["name"]] == ["ack 1", "data 2"]


def test_nothing_can_be_acknowledged_behind_a_fin(tmp_path):
    packets = moved(plain_tcp(), "server fin", ack=9)
    [violation] = checked(tmp_path, packets).violations
    assert "behind the FIN at 801" in violation.text


def test_a_keep_alive_may_have_a_byte_of_garbage(tmp_path):
    talk, path = opened()
    talk.say("probe", path, CLIENT, "A", b"?", again=0)
    talk.say("data", path, CLIENT, "A", payload(0, SHORT))
    talk.say("ack", path, SERVER)
    for garbage in (b"", b"?"):
        talk.say("probe", path, CLIENT, "A", garbage, again=SHORT)
        talk.say("ack", path, SERVER)
    report = checked(tmp_path, talk.packets)
    assert report.violations == []
    assert report.subflows[0].sent[0].retransmitted == 0


def test_both_ends_may_open_at_once(tmp_path):
    talk, path = Talk(), Path(ENDS, 40000, (1000, 2000))
    talk.say("syn", path, CLIENT, "S", options=SYN_OPTIONS, lost=True)
    talk.say("other syn", path, SERVER, "S", options=SYN_OPTIONS)
    talk.say("synack", path, CLIENT, "SA", options=SYN_OPTIONS, again=0, acks=1)
    talk.say("other synack", path, SERVER, "SA", options=SYN_OPTIONS, again=0)
    talk.say("data", path, SERVER, "A", payload(0, SHORT))
    talk.say("ack", path, CLIENT)
    report = checked(tmp_path, talk.packets)
    assert [*map(str, report.violations)] == []
    assert len(report.connections) == 1


def test_data_on_a_syn_may_be_taken_or_not(tmp_path):
    for taken in (SHORT, 0):
        talk, path = Talk(), Path(ENDS, 40000, (1000, 2000))
        talk.say("syn", path, CLIENT, "S", payload(0, SHORT), options=SYN_OPTIONS)
        talk.say("synack", path, SERVER, "SA", options=SYN_OPTIONS, acks=1 + taken)
        talk.say("early", path, SERVER, "A", payload(0, SHORT))
        again = {} if taken else {"again": 1}
        talk.say("data", path, CLIENT, "A", payload(taken, SHORT), **again)
        talk.say("ack", path, SERVER)
        assert "segment" not in clean(talk.packets, tmp_path)


def test_a_refused_connection_is_acknowledged_by_its_reset(tmp_path):
    talk, path = Talk(), Path(ENDS, 40000, (1000, 0))
    talk.say("syn", path, CLIENT, "S", options=SYN_OPTIONS)
    talk.say("reset", path, SERVER, "RA", acks=1)
    packets = wrong(talk.packets, "reset", options=[], window=0)
    clean(packets, tmp_path)
    [violation] = checked(tmp_path, moved(packets, "reset", ack=5)).violations
    assert violation.clause == "RFC 9293, 3.5.2"


def test_ports_may_be_used_again(tmp_path):
    talk, path = opened()
    talk.say("data", path, CLIENT, "A", payload(0, SHORT))
    later = plain_tcp(isns=(90000, 7000))
    last = talk.packets[-1]["time"]
    packets = [*talk.packets, *(each | {"time": each["time"] + last} for each in later)]
    report = checked(tmp_path, packets)
    assert [*map(str, report.violations)] == []
    assert [each.unique_bytes for each in report.connections] == [(SHORT, 0), (800, 0)]


def test_a_half_open_connection_is_recovered(tmp_path):
    # RFC 9293, 3.5.1: the response to the new SYN is an ACK of the old connection, then a RST.
    talk, path = opened()
    talk.say("data", path, CLIENT, "A", payload(0, SHORT))
    talk.say("ack 1", path, SERVER)
    new = Path(ENDS, 40000, (50000, 2000))
    talk.say("new syn", new, CLIENT, "S", options=SYN_OPTIONS)
    talk.say("challenge", path, SERVER)
    talk.say("reset", path, CLIENT, "R")
    report = checked(tmp_path, talk.packets)
    assert [*map(str, report.violations)] == []
    assert len(report.connections) == 2


def test_a_reset_beyond_all_that_was_sent_is_a_violation(tmp_path):
    talk, path = opened()
    talk.say("data", path, CLIENT, "A", payload(0, SHORT))
    talk.say("reset", path, CLIENT, "R")
    clean(talk.packets, tmp_path)
    [violation] = checked(tmp_path, moved(talk.packets, "reset", seq=5000)).violations
    assert violation.clause == "RFC 9293, 3.5.2"


def test_a_closed_window_may_be_probed(tmp_path):
    talk, path = opened(window=0)
    for _ in range(2):
        talk.say("probe", path, CLIENT, "A", payload(0, 1), again=1, lost=True)
        talk.say("ack", path, SERVER)
    packets = [each | ({"window": 0} if each["name"] in ("ack",) else {}) for each in talk.packets]
    clean(packets, tmp_path)


def first_subflow(packets):
    return [each for each in packets if "10.0.2.1" not in ends(each)]


def ends(packet):
    return packet["source"][0], packet["destination"][0]


def version_0(name, *values):
    """Return an option with MP_CAPABLE of version 0."""
    if name != "capable":
        return (name, *values)
    return name, values[0] | {"version": 0}


def test_mptcp_version_0_is_noted_as_not_examined(tmp_path):
    packets = [
        packet | {"options": [version_0(*option) for option in packet["options"]]}
        for packet in first_subflow(mptcp())
    ]
    report = checked(tmp_path, packets, pattern=False)
    assert [*map(str, report.violations)] == []
    [(kind, count)] = report.unexamined.items()
    assert "version 0 (RFC 6824)" in kind
    assert count > 5
    worse = wrong(packets, "one again", payload=bytes(SHORT))
    assert any(each.rule == "tcp-resent" for each in checked(tmp_path, worse).violations)


def test_mptcp_may_fall_back_to_tcp(tmp_path):
    # A middlebox removes the options of all segments after the SYNs (RFC 8684, 3.7).
    stripped = [
        packet
        if "S" in packet["flags"]
        else packet | {"options": [each for each in packet["options"] if each[0] == "timestamps"]}
        for packet in first_subflow(mptcp(SERVER))
    ]
    assert "1 connection of MPTCP that fall back to TCP" in clean(
        stripped, tmp_path, pattern=False
    )


def test_a_subflow_of_an_uncaptured_connection_is_not_examined(tmp_path):
    joined = [each for each in mptcp() if "10.0.2.1" in ends(each)]
    report = checked(tmp_path, joined, pattern=False)
    assert [*map(str, report.violations)] == []
    assert any("start is not captured" in kind for kind in report.unexamined)


def test_wrong_token_is_proved_by_the_keys_of_the_response(tmp_path):
    packets = optioned(mptcp(), "join syn", "join", {"token": b"\1\2\3\4"})
    report = checked(tmp_path, packets, pattern=False)
    found = [each for each in report.violations if each.rule == "mptcp-join-token"]
    [violation] = found
    assert [packets[number - 1]["name"] for number in violation.packets] == [
        "join syn",
        "join synack",
    ]


def test_data_of_a_subflow_that_is_not_captured_may_be_acknowledged(tmp_path):
    found = clean(first_subflow(mptcp()), tmp_path)
    assert "bytes of MPTCP data of 10.0.1.1:40000" in found


@pytest.mark.parametrize("identified", [True, False])
@pytest.mark.parametrize("name", ["TCP", "MPTCP"])
def test_packets_that_are_captured_twice_count_once(name, identified, tmp_path):
    """As in a router's `tcpdump -i any`: in on one device, out on another."""
    talk = plain_tcp() if name == "TCP" else mptcp()
    packets = []
    for number, packet in enumerate(talk):
        first = packet | {"id": number + 7 if identified else 0, "inbound": True, "interface": 0}
        packets += [first, first | {"ttl": 63, "inbound": False, "interface": 1}]
    report = checked(tmp_path, packets)
    assert [*map(str, report.violations)] == []
    assert f"{len(talk)} packets captured twice" in notes(report)
    [once] = checked(tmp_path, talk).subflows[:1]
    assert report.subflows[0].sent[0].data_segments == once.sent[0].data_segments


def test_checksums_of_changed_addresses_are_wrong_by_the_same_amount(tmp_path):
    packets = [packet | {"add_to_checksums": 77} for packet in plain_tcp()]
    found = clean(packets, tmp_path)
    for address in ENDS:
        text = f"wrong, by the same amount on all packets of {address}: a tool has changed"
        assert text in found


def test_checksums_of_changed_payloads_are_wrong_where_there_is_data(tmp_path):
    packets = [
        packet | ({"checksum_error": 1 + number} if packet["payload"] else {})
        for number, packet in enumerate(plain_tcp())
    ]
    assert "on most segments with data of 10.0.1.1" in clean(packets, tmp_path)


def test_options_that_are_not_known_are_counted(tmp_path):
    packets = added(plain_tcp(), "syn", "raw", b"\x13\4\0\0")
    assert "1 option of kind 19, not examined" in clean(packets, tmp_path)


def test_wrong_checksums_of_one_packet_stay_violations(tmp_path):
    for name in ("data 2", "ack 3"):
        [violation] = checked(tmp_path, wrong(plain_tcp(), name, checksum_error=5)).violations
        assert violation.rule == "tcp-checksum"


def run(path, *arguments):
    command = [sys.executable, "-m", "ropewalk", "check", *arguments, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_capture_without_examined_packets_has_its_own_status(tmp_path):
    path = tmp_path / "made.pcap"
    outer = {"source": ("10.0.1.1", 53), "destination": ("10.0.9.1", 53)}
    datagram = {"time": 1, "inbound": False, "inner": b"a query", "outer": outer}
    for packets, words in (
        ([], "nothing was examined: the file has no packets"),
        ([datagram], "nothing was examined but headers of UDP"),
    ):
        path.write_bytes(pcap(packets))
        done = run(path)
        assert (done.returncode, words in done.stdout) == (3, True), done.stdout


def test_a_violation_has_packets_connection_clause_and_sentence(tmp_path):
    path = tmp_path / "made.pcap"
    path.write_bytes(pcap(wrong(plain_tcp(), "data 1 again", payload=bytes(SHORT))))
    done = run(path, "--json", "--local", "10.0.1.1")
    assert done.returncode == 1
    [file] = json.loads(done.stdout)["files"]
    [violation] = file["violations"]
    assert violation == {
        "rule": "tcp-resent",
        "clause": "RFC 9293, 3.4",
        "severity": "data",
        "packets": [11],
        "time_s": 0.011,
        "interface": None,
        "connection": 0,
        "source": "10.0.1.1:40000",
        "destination": "10.0.9.1:5001",
        "text": "retransmitted bytes differ at sequence number 168",
    }
    assert file["connections"][0]["violations"] == 1
    assert file["examined"] is True


MADE = {
    "TCP at the client": plain_tcp(CLIENT),
    "TCP at the server": plain_tcp(SERVER),
    "MPTCP at the client": mptcp(CLIENT),
    "MPTCP at the server": mptcp(SERVER),
}


@settings(deadline=None, max_examples=60)
@given(name=st.sampled_from(sorted(MADE)), seed=st.integers(0, 10**9))
def test_no_damage_of_the_capture_is_a_violation(tmp_path_factory, name, seed):
    """A good conversation stays good, whatever the capturing program loses or truncates."""
    chance = random.Random(seed)
    packets = MADE[name]
    kind = chance.choice(["midway", "one direction", "snapped", "early end", "directions unknown"])
    if kind == "midway":
        packets = packets[chance.randrange(len(packets)) :]
    elif kind == "one direction":
        side = chance.random() < 0.5
        packets = [packet for packet in packets if packet["inbound"] == side]
    elif kind == "snapped":
        packets = [packet | {"snap": chance.choice([84, 96, 120, 300])} for packet in packets]
    elif kind == "early end":
        packets = packets[: chance.randrange(1, len(packets))]
    folder = tmp_path_factory.mktemp("damaged")
    report = checked(folder, packets, pattern=False)
    assert [*map(str, report.violations)] == [], kind


@settings(deadline=None, max_examples=60)
@given(name=st.sampled_from(sorted(MADE)), seed=st.integers(0, 10**9))
def test_uncaptured_packet_is_no_violation(tmp_path_factory, name, seed):
    packets = MADE[name]
    chance = random.Random(seed)
    lost = set(chance.sample(range(len(packets)), chance.choice([1, 1, 2, 5])))
    kept = [packet for number, packet in enumerate(packets) if number not in lost]
    folder = tmp_path_factory.mktemp("lossy")
    report = checked(folder, kept, pattern=False)
    names = [packets[number]["name"] for number in sorted(lost)]
    assert [*map(str, report.violations)] == [], names
