"""Each broken rule is found at its packet, with its clause, and at no earlier packet.

Each row breaks one rule at one packet of a healthy conversation.
"""

from collections.abc import Callable
from typing import NamedTuple

import pytest

from changes import (
    added,
    again,
    checked,
    filled,
    moved,
    named,
    optioned,
    stepped,
    unoptioned,
    wrong,
)
from conversations import CLIENT, KEYS, SERVER, SHORT, Packet, mptcp, payload, plain_tcp
from ropewalk.analysis.check import keys

Talk = list[Packet]


class Broken(NamedTuple):
    rule: str
    conversation: Talk
    change: Callable[[Talk], Talk]
    packet: str
    clause: str


TCP, TCP_SERVER = plain_tcp(CLIENT), plain_tcp(SERVER)
MPTCP, MPTCP_SERVER = mptcp(CLIENT), mptcp(SERVER)
SUMMED = mptcp(CLIENT, with_checksum=True)
OTHER_KEY = bytes(range(8))
SENT_LATER = 1001 + 5 * SHORT


def raw(packet: str, option: bytes) -> Callable[[Talk], Talk]:
    return lambda p: added(p, packet, "raw", option)


def mapped_to(p: Talk, name: str, offset: int) -> Talk:
    """Map the data of a packet to another offset."""
    return optioned(p, name, "dss", {"number": keys.initial_number(KEYS[0]) + 1 + offset})


ROWS = [
    Broken(
        "IPv4 header checksum",
        TCP,
        lambda p: wrong(p, "ack 0", ip_checksum_error=1),
        "ack 0",
        "RFC 791, 3.1",
    ),
    Broken(
        "TCP checksum of data",
        TCP,
        lambda p: wrong(p, "data 2", checksum_error=0x100),
        "data 2",
        "RFC 9293, 3.1",
    ),
    Broken(
        "TCP checksum of an acknowledgement",
        TCP,
        lambda p: wrong(p, "ack 3", checksum_error=1),
        "ack 3",
        "RFC 9293, 3.1",
    ),
    Broken("data offset", TCP, lambda p: wrong(p, "ack 3", offset=4), "ack 3", "RFC 9293, 3.1"),
    Broken("option of length 0", TCP, raw("ack 3", b"\1\1\x08\0"), "ack 3", "RFC 7323, 3.2"),
    Broken(
        "option beyond the header", TCP, raw("ack 3", b"\1\1\x22\x0c"), "ack 3", "RFC 9293, 3.1"
    ),
    Broken(
        "window scale above 14",
        TCP,
        lambda p: optioned(p, "syn", "scale", 15),
        "syn",
        "RFC 7323, 2.3",
    ),
    Broken(
        "window scale after the SYN",
        TCP,
        lambda p: added(p, "ack 3", "scale", 7),
        "ack 3",
        "RFC 7323, 2.2",
    ),
    Broken(
        "window scale not offered",
        TCP,
        lambda p: unoptioned(p, "syn", "scale"),
        "synack",
        "RFC 7323, 2.2",
    ),
    Broken(
        "timestamps not offered",
        TCP,
        lambda p: unoptioned(p, "syn", "timestamps"),
        "synack",
        "RFC 7323, 3.2",
    ),
    Broken(
        "timestamps left out",
        TCP,
        lambda p: unoptioned(p, "data 3", "timestamps"),
        "data 3",
        "RFC 7323, 3.2",
    ),
    Broken(
        "MSS after the SYN",
        TCP,
        lambda p: added(p, "ack 3", "mss", 1460),
        "ack 3",
        "RFC 9293, 3.2",
    ),
    Broken(
        "SACK permitted after the SYN",
        TCP,
        lambda p: added(p, "ack 3", "sack_permitted"),
        "ack 3",
        "RFC 2018, 2",
    ),
    Broken(
        "SACK not agreed on",
        TCP,
        lambda p: unoptioned(p, "syn", "sack_permitted"),
        "sack 2",
        "RFC 2018, 2",
    ),
    Broken("SYN with FIN", TCP, lambda p: wrong(p, "syn", flags="SF"), "syn", "RFC 9293, 3.5"),
    Broken(
        "SYN acknowledged by another number",
        TCP,
        lambda p: moved(p, "synack", ack=-1),
        "synack",
        "RFC 9293, 3.4",
    ),
    Broken(
        "segment without ACK",
        TCP,
        lambda p: wrong(p, "data 2", flags="P"),
        "data 2",
        "RFC 9293, 3.1",
    ),
    Broken(
        "MSS exceeded",
        TCP,
        lambda p: optioned(p, "synack", "mss", 171),
        "data 0",
        "RFC 9293, 3.7.1",
    ),
    Broken(
        "re-sent bytes differ",
        TCP,
        lambda p: filled(p, "data 1 again", 0),
        "data 1 again",
        "RFC 9293, 3.4",
    ),
    Broken(
        "data beyond the window",
        TCP,
        lambda p: again(p, "data 2", seq=1001 + (1 << 20)),
        "data 2 twice",
        "RFC 9293, 3.8.6",
    ),
    Broken(
        "data before the first byte",
        TCP,
        lambda p: moved(p, "data 0", seq=-1),
        "data 0",
        "RFC 9293, 3.4",
    ),
    Broken(
        "data after the FIN",
        TCP,
        lambda p: again(p, "fin", flags="A", seq=1802, payload=payload(800, 8)),
        "fin twice",
        "RFC 9293, 3.6",
    ),
    Broken("FIN moved", TCP, lambda p: again(p, "fin", seq=1800), "fin twice", "RFC 9293, 3.6"),
    Broken(
        "FIN before the end of the data",
        TCP,
        lambda p: moved(p, "fin", seq=-1),
        "fin",
        "RFC 9293, 3.6",
    ),
    Broken(
        "RST beyond what was sent",
        TCP,
        lambda p: again(p, "last ack", flags="RA", seq=1803 + (1 << 28)),
        "last ack twice",
        "RFC 9293, 3.5.2",
    ),
    Broken(
        "acknowledges data that is sent later",
        TCP,
        lambda p: moved(p, "ack 0", ack=4 * SHORT),
        "ack 0",
        "RFC 9293, 3.4",
    ),
    Broken(
        "acknowledgement goes back",
        TCP_SERVER,
        lambda p: moved(p, "dsack", ack=-SHORT),
        "dsack",
        "RFC 9293, 3.4",
    ),
    Broken(
        "SACK of data that is sent later",
        TCP,
        lambda p: optioned(p, "sack 2", "sack", [(SENT_LATER - SHORT, SENT_LATER)]),
        "sack 2",
        "RFC 2018, 4",
    ),
    Broken(
        "second SACK block below the acknowledgement",
        TCP,
        lambda p: optioned(p, "sack 2", "sack", [(1321, 1481), (1010, 1050)]),
        "sack 2",
        "RFC 2018, 4",
    ),
    Broken(
        "SACK block inverted",
        TCP,
        lambda p: optioned(p, "sack 2", "sack", [(1481, 1321)]),
        "sack 2",
        "RFC 2018, 4",
    ),
    Broken(
        "SACK blocks overlap",
        TCP,
        lambda p: optioned(p, "sack 3", "sack", [(1321, 1501), (1481, 1641)]),
        "sack 3",
        "RFC 2018, 4",
    ),
    Broken(
        "D-SACK of bytes that came once",
        TCP_SERVER,
        lambda p: optioned(p, "dsack", "sack", [(1161, 1321)]),
        "dsack",
        "RFC 2883, 4",
    ),
    Broken(
        "timestamp goes back",
        TCP,
        lambda p: again(p, "last ack", options=[("timestamps", (0, 15))]),
        "last ack twice",
        "RFC 7323, 5.4",
    ),
    Broken(
        "echo of no timestamp",
        TCP,
        lambda p: optioned(p, "ack 3", "timestamps", (90, 12345)),
        "ack 3",
        "RFC 7323, 3.2",
    ),
    Broken(
        "MP_CAPABLE without an algorithm",
        MPTCP,
        lambda p: optioned(p, "syn", "capable", {"flags": 0}),
        "syn",
        "RFC 8684, 3.1",
    ),
    Broken(
        "MP_CAPABLE without the peer's key",
        MPTCP,
        lambda p: optioned(p, "ack", "capable", {"peer": b""}),
        "ack",
        "RFC 8684, 3.1",
    ),
    Broken(
        "MP_CAPABLE with another key for the peer's",
        MPTCP,
        lambda p: optioned(p, "ack", "capable", {"peer": OTHER_KEY}),
        "ack",
        "RFC 8684, 3.1",
    ),
    Broken(
        "another key of its own",
        MPTCP,
        lambda p: optioned(p, "zero", "capable", {"own": OTHER_KEY}),
        "zero",
        "RFC 8684, 3.1",
    ),
    Broken(
        "MP_CAPABLE confirms another use of checksums",
        MPTCP,
        lambda p: optioned(p, "ack", "capable", {"flags": 0x81}),
        "ack",
        "RFC 8684, 3.1",
    ),
    Broken(
        "token of no connection",
        MPTCP,
        lambda p: optioned(p, "join syn", "join", {"token": b"\1\2\3\4"}),
        "join syn",
        "RFC 8684, 3.2",
    ),
    Broken(
        "HMAC of the SYN-ACK",
        MPTCP,
        lambda p: optioned(p, "join synack", "join", {"hmac": bytes(8)}),
        "join synack",
        "RFC 8684, 3.2",
    ),
    Broken(
        "HMAC of the ACK",
        MPTCP,
        lambda p: optioned(p, "join ack", "join", {"hmac": bytes(20)}),
        "join ack",
        "RFC 8684, 3.2",
    ),
    Broken(
        "MP_JOIN to an address that takes no more",
        MPTCP,
        lambda p: optioned(p, "synack", "capable", {"flags": 0x21}),
        "join syn",
        "RFC 8684, 3.1",
    ),
    Broken(
        "an identifier of two addresses",
        MPTCP,
        lambda p: optioned(p, "join syn", "join", {"id": 0}),
        "join syn",
        "RFC 8684, 3.4.1",
    ),
    Broken(
        "DSS checksum",
        SUMMED,
        lambda p: optioned(p, "one", "dss", {"checksum": 1}),
        "one",
        "RFC 8684, 3.3.1",
    ),
    Broken(
        "mapping without the agreed checksum",
        SUMMED,
        lambda p: optioned(p, "one", "dss", {"checksum": None}),
        "one",
        "RFC 8684, 3.3.1",
    ),
    Broken(
        "mapping of earlier data to other bytes",
        MPTCP,
        lambda p: mapped_to(p, "two", 0),
        "two",
        "RFC 8684, 3.3.1",
    ),
    Broken(
        "mapping changed when sent again",
        MPTCP,
        lambda p: stepped(p, "one again", number=8),
        "one again",
        "RFC 8684, 3.3.1",
    ),
    Broken(
        "bytes in no mapping",
        MPTCP,
        lambda p: stepped(p, "one", length=-4),
        "one",
        "RFC 8684, 3.3.1",
    ),
    Broken(
        "mapping of bytes before the first",
        MPTCP,
        lambda p: stepped(p, "one", number=-SHORT - 8),
        "one",
        "RFC 8684, 3.3.1",
    ),
    Broken(
        "DATA_ACK of data that is sent later",
        MPTCP,
        lambda p: stepped(p, "ack zero", ack=SHORT),
        "ack zero",
        "RFC 8684, 3.3.2",
    ),
    Broken(
        "DATA_ACK goes back",
        MPTCP_SERVER,
        lambda p: again(p, "ack three", options=named(p, "ack one on first")["options"]),
        "ack three twice",
        "RFC 8684, 3.3.2",
    ),
    Broken(
        "DATA_FIN without a mapping",
        MPTCP,
        raw("join fourth", b"\x1e\4\x20\x10"),
        "join fourth",
        "RFC 8684, 3.3",
    ),
    Broken(
        "data after the DATA_FIN",
        MPTCP,
        lambda p: optioned(p, "three", "dss", {"fin": True, "length": SHORT + 1}),
        "data fin",
        "RFC 8684, 3.3.3",
    ),
    Broken(
        "HMAC of an ADD_ADDR",
        MPTCP,
        lambda p: added(
            p, "join fourth", "add_addr", {"id": 3, "address": "10.0.3.1", "hmac": bytes(8)}
        ),
        "join fourth",
        "RFC 8684, 3.4.1",
    ),
    Broken(
        "echo of no ADD_ADDR",
        MPTCP,
        lambda p: added(p, "join fourth", "add_addr", {"id": 3, "address": "10.0.3.1", "echo": 1}),
        "join fourth",
        "RFC 8684, 3.4.1",
    ),
    Broken(
        "MP_FASTCLOSE with another key",
        MPTCP,
        lambda p: added(p, "join fourth", "fastclose", OTHER_KEY),
        "join fourth",
        "RFC 8684, 3.5",
    ),
    Broken(
        "MP_TCPRST on a segment that is no RST",
        MPTCP,
        lambda p: added(p, "join fourth", "tcprst", 1),
        "join fourth",
        "RFC 8684, 3.6",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule)
def test_broken_rule_is_found_at_its_packet_with_its_clause(row, tmp_path):
    packets = row.change(row.conversation)
    number = 1 + [packet["name"] for packet in packets].index(row.packet)
    found = checked(tmp_path, packets, pattern=False).violations
    assert row.clause in [one.clause for one in found if one.packets[:1] == (number,)], found
    assert [one for one in found if one.packets and one.packets[0] < number] == []
