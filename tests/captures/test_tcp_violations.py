"""Every violation of IP or TCP is reported."""

import pytest

from changes import (
    added,
    again,
    checked,
    early,
    filled,
    moved,
    named,
    optioned,
    said,
    unoptioned,
    without,
    wrong,
)
from conversations import SERVER, SHORT, encapsulated, payload, plain_tcp

# Text of the violation, and the change to a conversation, captured at the client.
NUMBER_1 = b"\xfd\x08RW\0\1\0\0"
CHANGES = {
    "wrong IPv4 header checksum": lambda p: wrong(p, "ack 0", ip_checksum_error=1),
    "wrong TCP checksum": lambda p: wrong(p, "data 2", checksum_error=0x100),
    "TCP data offset of 16 bytes": lambda p: wrong(p, "ack 3", offset=4),
    "TCP data offset of 60 bytes": lambda p: wrong(p, "ack 3", offset=15),
    "MP_CAPABLE of length 12 where 4 bytes": lambda p: added(p, "ack 3", "raw", b"\1\1\x1e\x0c"),
    "timestamps of length 0": lambda p: added(p, "ack 3", "raw", b"\1\1\x08\0"),
    "transmission number of length 6": lambda p: added(p, "ack 3", "raw", b"\xfd\6RW\0\0\1\1"),
    "flags 0x0002 of": lambda p: added(p, "ack 3", "raw", b"\xfd\x08RW\0\0\0\2"),
    "data segment has number 1, not 0": lambda p: added(p, "data 2", "raw", NUMBER_1),
    "acknowledgement has number 1, not 0": lambda p: added(p, "ack", "raw", NUMBER_1),
    "MSS of length 3": lambda p: added(p, "ack 3", "raw", b"\2\3\0"),
    "SACK of length 9": lambda p: added(p, "ack 3", "raw", b"\5\x09" + bytes(7)),
    "timestamps twice": lambda p: added(p, "ack 3", "timestamps", (1, 1)),
    "padding after the end of the options": lambda p: added(p, "ack 3", "raw", b"\0\1"),
    "window scale 15 is more than 14": lambda p: optioned(p, "syn", "scale", 15),
    "window scale on a segment that is no SYN": lambda p: added(p, "ack 3", "scale", 7),
    "MSS on a segment that is no SYN": lambda p: added(p, "ack 3", "mss", 1460),
    "SACK permitted on a segment": lambda p: added(p, "ack 3", "sack_permitted"),
    "window scale that the SYN did not offer": lambda p: unoptioned(p, "syn", "scale"),
    "timestamps that the SYN did not offer": lambda p: unoptioned(p, "syn", "timestamps"),
    "SACK to a host that has not permitted it": lambda p: unoptioned(p, "syn", "sack_permitted"),
    "timestamps that were not agreed on": lambda p: unoptioned(p, "synack", "timestamps"),
    "160 bytes and 12 of options exceed": lambda p: optioned(p, "synack", "mss", 171),
    "SYN of 10.0.1.1:40000 was not captured": lambda p: without(p, "syn"),
    "segment before the SYN-ACK": lambda p: without(p, "synack"),
    "responder before the initiator's ACK": lambda p: early(p, "ack 0", "ack"),
    "SYN-ACK of the initiator": lambda p: again(p, "syn", flags="SA", ack=0),
    "repeated SYN with another": lambda p: [*p, named(p, "synack") | {"seq": 5, "name": "late"}],
    "SYN with FIN or RST": lambda p: wrong(p, "syn", flags="SF"),
    "segment without ACK": lambda p: wrong(p, "data 2", flags="P"),
    "sequence number leaves out 8 bytes": lambda p: moved(p, "data 2", seq=8),
    "sequence number before the first byte": lambda p: moved(p, "data 0", seq=-1),
    "below the acknowledged ones": lambda p: moved(p, "last ack", seq=-30),
    "data after the FIN": lambda p: again(p, "fin", flags="A", seq=1802, payload=payload(800, 8)),
    "repeated FIN with another": lambda p: again(p, "fin", seq=1800),
    "FIN before the end of the data": lambda p: moved(p, "fin", seq=-1),
    "retransmitted bytes differ at sequence number 168": lambda p: filled(p, "data 1 again", 0),
    "payload is not the pattern at offset 326": lambda p: filled(p, "data 2", 0),
    "up to 802, but only up to 801": lambda p: moved(p, "ack 4", ack=1),
    "acknowledges less than the SYN": lambda p: moved(p, "synack", ack=-1),
    "acknowledgement 1 is less than 2": lambda p: again(p, "last ack", ack=2001),
    "timestamp 0 is less": lambda p: again(p, "last ack", options=[("timestamps", (0, 15))]),
    "segment without timestamps": lambda p: unoptioned(p, "data 3", "timestamps"),
    "echo 12345 was never": lambda p: optioned(p, "ack 3", "timestamps", (90, 12345)),
    "echo 7 without ACK": lambda p: optioned(p, "syn", "timestamps", (5, 7)),
    "SACK of 321..961, which was not": lambda p: optioned(p, "sack 2", "sack", [(1321, 1961)]),
    "151..481 is not above": lambda p: optioned(p, "sack 2", "sack", [(1151, 1481)]),
    "empty SACK block": lambda p: optioned(p, "sack 2", "sack", [(1400, 1400)]),
    "SACK blocks overlap": lambda p: optioned(p, "sack 3", "sack", [(1321, 1501), (1481, 1641)]),
    "D-SACK of -199..-198, which was not": lambda p: optioned(p, "dsack", "sack", [(801, 802)]),
    "data up to 161 where the window ends at 101": lambda p: [
        packet | {"window": 100 if "S" in packet["flags"] else 0} for packet in p
    ],
    "bytes from 641 are missing at the end": lambda p: without(p, "data 4"),
    "FIN never acknowledged": lambda p: without(p, "last ack"),
}
# The same, captured at the server.
AT_SERVER = {
    "bytes from 161 are missing at the end": lambda p: without(
        p, "data 1 again", "ack 3", "dsack", "ack 4", "server fin", "last ack"
    ),
    "D-SACK of 161..321, which was not seen twice": lambda p: optioned(
        p, "dsack", "sack", [(1161, 1321)]
    ),
    "acknowledgement 481 is less than 641 before": lambda p: moved(p, "dsack", ack=-SHORT),
    "up to 641, but only up to 161 was seen": lambda p: without(p, "data 1 again"),
}


@pytest.mark.parametrize("expected", CHANGES)
def test_wrong_packet_is_reported(expected, tmp_path):
    said(CHANGES[expected](plain_tcp()), expected, tmp_path)


@pytest.mark.parametrize("expected", AT_SERVER)
def test_wrong_packet_is_reported_at_the_server(expected, tmp_path):
    said(AT_SERVER[expected](plain_tcp(SERVER)), expected, tmp_path)


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("expected", "fields"),
    [
        ("outer packet: wrong UDP checksum", {"checksum_error": 1}),
        ("1 bytes of an IPv4 header", {"udp_length": 9}),
        ("outer packet: ", {"ip_length": 9}),
    ],
)
def test_wrong_outer_packet_is_reported(expected, fields, version, tmp_path):
    packets = encapsulated(plain_tcp(), version)
    packets[5]["outer"] |= fields
    said(packets, expected, tmp_path, encapsulated=True)


@pytest.mark.parametrize("version", [4, 6])
def test_udp_without_a_checksum_is_wrong_over_ipv6_alone(version, tmp_path):
    packets = encapsulated(plain_tcp(), version)
    for packet in packets:
        packet["outer"]["checksum"] = 0
    violations = checked(tmp_path, packets, encapsulated=True).violations
    assert len(violations) == (len(packets) if version == 6 else 0)
    assert all("UDP over IPv6 without a checksum" in each.text for each in violations)


def test_udp_that_holds_no_packet_is_not_examined(tmp_path):
    packets = encapsulated(plain_tcp())
    packets[5]["inner"] = b"\x01\x02"
    report = checked(tmp_path, packets, encapsulated=True)
    assert report.violations == []
    assert report.unexamined == {"UDP without an IP packet inside": 1}
