"""The checks pass good captures, and count what is in them."""

from ipaddress import ip_address

import pytest
from builder import pcap
from changes import checked
from check import check
from conversations import (
    CLIENT,
    SERVER,
    SHORT,
    WRAPPING_KEY,
    encapsulated,
    mptcp,
    plain_tcp,
)

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
    assert check(path, local=[ip_address(address) for address in local]).violations == []


def test_the_figures_are_those_of_the_conversation(tmp_path):
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


def test_at_the_server_what_was_lost_is_not_counted(tmp_path):
    (subflow,) = checked(tmp_path, plain_tcp(SERVER)).subflows
    assert [subflow.sent[0].data_segments, subflow.sent[0].retransmitted] == [6, 1]
    (subflow,) = checked(tmp_path, plain_tcp(CLIENT)).subflows
    assert [subflow.sent[0].data_segments, subflow.sent[0].retransmitted] == [7, 2]


def test_an_open_end_passes_if_the_capture_is_cut(tmp_path):
    packets = mptcp(SERVER)
    end = next(at for at, packet in enumerate(packets) if packet["name"] == "server data fin")
    assert checked(tmp_path, packets[:end], is_cut=True).violations == []
    assert any("DATA_FIN never" in text for text in checked(tmp_path, packets[:end]).violations)


def test_other_payload_passes_if_it_is_not_asked_for(tmp_path):
    packets = plain_tcp()
    for packet in packets:
        packet["payload"] = bytes(len(packet["payload"]))
    assert checked(tmp_path, packets, has_pattern=False).violations == []
    assert checked(tmp_path, packets).violations != []


def test_fallback_to_plain_tcp_passes(tmp_path):
    packets = plain_tcp()
    packets[0]["options"].append(("capable", {}))
    assert checked(tmp_path, packets).violations == []
