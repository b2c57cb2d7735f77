"""The checks pass good captures, and count their contents."""

import time
from ipaddress import ip_address

import pytest

from builder import pcap, pcapng, written
from changes import added, checked, named, notes, optioned, said, without
from conversations import (
    CLIENT,
    KEYS,
    SERVER,
    SHORT,
    SYN_OPTIONS,
    WRAPPING_KEY,
    Multipath,
    Path,
    Talk,
    encapsulated,
    mptcp,
    payload,
    plain_tcp,
)
from ropewalk.analysis import check
from ropewalk.analysis.check import keys
from ropewalk.analysis.check.checksum import word_sum

NEAR_WRAP = ((1 << 32) - 300, (1 << 32) - 1)
GOOD = {
    "plain TCP": plain_tcp,
    "plain TCP over IPv6": lambda at: plain_tcp(at, ("2001:db8:1::1", "2001:db8:9::1")),
    "plain TCP that wraps": lambda at: plain_tcp(at, isns=NEAR_WRAP),
    "MPTCP": mptcp,
    "MPTCP over IPv6": lambda at: mptcp(at, version=6),
    "MPTCP that wraps": lambda at: mptcp(at, WRAPPING_KEY, isns=NEAR_WRAP),
    "MPTCP with checksums": lambda at: mptcp(at, with_checksum=True),
    "MPTCP with checksums that wraps": lambda at: mptcp(at, WRAPPING_KEY, with_checksum=True),
}


@pytest.mark.parametrize("at", [CLIENT, SERVER], ids=["at the client", "at the server"])
@pytest.mark.parametrize("name", GOOD)
def test_a_good_capture_passes(name, at, tmp_path):
    assert checked(tmp_path, GOOD[name](at)).violations == []


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("at", [CLIENT, SERVER], ids=["at the client", "at the server"])
@pytest.mark.parametrize("name", GOOD)
def test_a_good_capture_passes_in_udp(name, at, version, tmp_path):
    packets = encapsulated(GOOD[name](at), version)
    report = checked(tmp_path, packets, encapsulated=True, port=6000)
    assert report.violations == []
    assert report.datagrams == len(packets)
    assert report.subflows[0].interfaces == ("dsl", "lte")


@pytest.mark.parametrize("length", [84, 96, 100])
@pytest.mark.parametrize("name", GOOD)
def test_a_good_capture_of_headers_alone_passes(name, length, tmp_path):
    if "IPv6" in name:
        length += 20
    packets = [packet | {"snap": length} for packet in GOOD[name](CLIENT)]
    report = checked(tmp_path, packets)
    assert report.violations == []
    assert report.snapped > 0


@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
@pytest.mark.parametrize("local", [(), ("10.0.1.1", "10.0.2.1")])
def test_a_classic_file_passes(magic, local, tmp_path):
    path = tmp_path / "made.pcap"
    path.write_bytes(pcap(mptcp(), magic))
    assert check.capture(path, local=[ip_address(address) for address in local]).violations == []


def test_counts_agree_with_the_conversation(tmp_path):
    packets = [packet | {"comment": f"{packet['name']}!"} for packet in mptcp()]
    report = checked(tmp_path, packets)
    assert report.packets == len(packets)
    assert report.comments_with("fin ") == 2
    (connection,) = report.connections
    assert connection.is_multipath
    assert connection.subflows == 2
    assert connection.unique_bytes == (5 * SHORT, 0)
    assert connection.fin_acked == (True, True)
    first, second = (subflow.sent[0] for subflow in report.subflows)
    assert [first.data_segments, first.retransmitted] == [4, 1]
    assert [first.payload_bytes, first.unique_bytes] == [4 * SHORT, 3 * SHORT]
    assert [second.data_segments, second.retransmitted] == [3, 0]
    assert [subflow.kind for subflow in report.subflows] == ["MP_CAPABLE", "MP_JOIN"]


def test_server_capture_does_not_count_lost_packets(tmp_path):
    (subflow,) = checked(tmp_path, plain_tcp(SERVER)).subflows
    assert [subflow.sent[0].data_segments, subflow.sent[0].retransmitted] == [6, 1]
    (subflow,) = checked(tmp_path, plain_tcp(CLIENT)).subflows
    assert [subflow.sent[0].data_segments, subflow.sent[0].retransmitted] == [7, 2]


def test_an_open_end_is_a_trait_of_the_capture(tmp_path):
    packets = mptcp(SERVER)
    end = next(at for at, packet in enumerate(packets) if packet["name"] == "server data fin")
    report = checked(tmp_path, packets[:end])
    assert report.violations == []
    assert "1 connection still open where the capture ends" in notes(report)
    said(packets[:end], "DATA_FIN never", tmp_path)


def test_other_payload_passes_without_pattern(tmp_path):
    packets = plain_tcp()
    for packet in packets:
        packet["payload"] = bytes(len(packet["payload"]))
    assert checked(tmp_path, packets, pattern=False).violations == []
    assert checked(tmp_path, packets).violations != []


def test_fallback_to_plain_tcp_passes(tmp_path):
    packets = plain_tcp()
    packets[0]["options"].append(("capable", {}))
    assert checked(tmp_path, packets).violations == []


def test_addresses_may_be_advertised_and_withdrawn(tmp_path):
    address = {"id": 3, "address": "10.0.8.1"}
    proof = keys.address_hmac(KEYS[1], KEYS[0], 3, ip_address("10.0.8.1").packed, None)
    packets = added(mptcp(), "join fourth", "add_addr", address | {"hmac": proof})
    packets = added(packets, "last ack 0", "add_addr", address | {"echo": 1})
    packets = added(packets, "server fin 1", "remove_addr", [3])
    packets = added(packets, "last ack 1", "prio", 1)
    assert checked(tmp_path, packets).violations == []


def test_a_fast_close_passes(tmp_path):
    packets = mptcp()
    closing = [dict(named(packets, name)) for name in ("last ack 0", "last ack 1")]
    end = packets.index(named(packets, "three"))
    for packet, option in zip(closing, [("fastclose", KEYS[1]), ("tcprst", 0)], strict=True):
        names = ("one by second", "one again")
        before = max(
            (named(packets, name) for name in names),
            key=lambda one: one["source"] == packet["source"],
        )
        packet |= {"flags": "RA", "ack": before["ack"], "options": [option]}
        packet["seq"] = before["seq"] + SHORT
    report = checked(tmp_path, packets[:end] + closing)
    assert report.violations == []
    assert report.connections[0].fin_acked == (False, False)


def opened(at: int) -> tuple[Talk, Path, Multipath]:
    """Begin an MPTCP connection whose ACK with MP_CAPABLE is lost."""
    talk, path, mp = Talk(at), Path(("10.0.1.1", "10.0.9.1"), 40000, (1, 2)), Multipath()
    talk.say("syn", path, CLIENT, "S", options=[*SYN_OPTIONS, ("capable", {})])
    options = [*SYN_OPTIONS, ("capable", {"own": KEYS[1]})]
    talk.say("synack", path, SERVER, "SA", options=options)
    return talk, path, mp


def test_a_segment_may_arrive_before_the_keys(tmp_path):
    talk, path, mp = opened(SERVER)
    mapping = mp.data_ack(CLIENT, 0) | mp.mapping(CLIENT, SHORT, 1 + SHORT, payload(SHORT, SHORT))
    talk.say("one", path, CLIENT, "A", payload(SHORT, SHORT), [("dss", mapping)], again=1 + SHORT)
    first = mp.first_data(payload(0, SHORT))
    talk.say("zero", path, CLIENT, "A", payload(0, SHORT), [("capable", first)], again=1)
    ack = ("dss", mp.data_ack(SERVER, 2 * SHORT))
    talk.say("ack", path, SERVER, options=[ack], acks=1 + 2 * SHORT)
    assert checked(tmp_path, talk.packets).violations == []
    said(without(talk.packets, "zero"), "data of a host whose key was never seen", tmp_path)


def test_a_segment_may_arrive_before_its_mapping(tmp_path):
    talk, path, mp = opened(SERVER)
    data = payload(0, 3 * SHORT)
    first = mp.first_data(data[:SHORT])
    talk.say("zero", path, CLIENT, "A", data[:SHORT], [("capable", first)])
    talk.say("ack", path, SERVER, options=[("dss", mp.data_ack(SERVER, SHORT))])
    mapping = mp.data_ack(CLIENT, 0) | mp.mapping(CLIENT, SHORT, 1 + SHORT, data[SHORT:])
    talk.say("two", path, CLIENT, "A", data[2 * SHORT :], again=1 + 2 * SHORT)
    one = data[SHORT : 2 * SHORT]
    talk.say("one", path, CLIENT, "A", one, [("dss", mapping)], again=1 + SHORT)
    ack = ("dss", mp.data_ack(SERVER, 3 * SHORT))
    talk.say("ack", path, SERVER, options=[ack], acks=1 + 3 * SHORT)
    assert checked(tmp_path, talk.packets).violations == []


def test_data_mapped_with_32_bits_may_be_acknowledged_with_32_bits(tmp_path):
    packets = optioned(mptcp(), "two", "dss", {"wide": True})
    wide = [each for each in checked(tmp_path, packets).violations if "32 bits" in each.text]
    assert len(wide) == 2
    again = named(mptcp(), "two") | {"time": named(packets, "one by second")["time"]}
    at = packets.index(named(packets, "one by second"))
    packets = [*packets[:at], again, *packets[at:]]
    assert checked(tmp_path, packets).violations == []


def test_checking_takes_linear_time(tmp_path):
    talk, path = Talk(CLIENT, window=0xFFFF), Path(("10.0.1.1", "10.0.9.1"), 40000, (1, 2))
    talk.say("syn", path, CLIENT, "S", options=SYN_OPTIONS)
    talk.say("synack", path, SERVER, "SA", options=SYN_OPTIONS)
    talk.say("ack", path, CLIENT)
    for number in range(3000):
        talk.say("data", path, CLIENT, "A", payload(1400 * number, 1400))
        talk.say("ack", path, SERVER)
    made = tmp_path / "made.pcapng"
    made.write_bytes(pcapng(talk.packets, ["dsl"]))
    start = time.process_time()
    assert check.capture(made, pattern=True).violations == []
    assert time.process_time() - start < 5


def test_a_capture_that_begins_midway_passes(tmp_path):
    packets = plain_tcp()[3:]
    report = checked(tmp_path, packets, pattern=False)
    assert report.violations == []
    assert "1 connection open before the capture began" in notes(report)
    assert report.connections[0].unique_bytes == (800, 0)
    said(packets, "the SYN of 10.0.1.1:40000 was not captured", tmp_path)


def test_offloaded_checksum_is_counted(tmp_path):
    sent = [packet for packet in plain_tcp() if not packet["inbound"]]
    packets = [
        packet | {"checksum": left_to_device(packet)} if packet in sent else packet
        for packet in plain_tcp()
    ]
    report = checked(tmp_path, packets)
    assert report.violations == []
    assert report.offloaded == len(sent)
    worse = [packet | {"checksum": 7} for packet in packets]
    found = checked(tmp_path, worse)
    assert found.violations == []
    assert f"{len(sent)} checksums wrong, on most packets of 10.0.1.1" in notes(found)


def left_to_device(packet):
    """Return the pseudo-header's sum, as Linux leaves it (CHECKSUM_PARTIAL)."""
    data = written(packet)
    return word_sum(data[12:20] + b"\0\6" + (len(data) - 20).to_bytes(2, "big"))
