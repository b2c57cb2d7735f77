"""Every violation of MPTCP is reported."""

import pytest

from changes import (
    added,
    again,
    early,
    filled,
    moved,
    named,
    optioned,
    said,
    stepped,
    unoptioned,
    without,
    wrong,
)
from conversations import KEYS, NONCES, SERVER, SHORT, mptcp, payload
from ropewalk.analysis.check import keys

OTHER_KEY = bytes(range(8))
# Text of the violation, and the change to a conversation, captured at the client.
CHANGES = {
    "SYN-ACK with MP_CAPABLE of version 1, the SYN of 0": lambda p: optioned(
        p, "syn", "capable", {"version": 0}
    ),
    "MP_CAPABLE of version 2, where 1 is in use": lambda p: optioned(
        p, "ack", "capable", {"version": 2}
    ),
    "flags 0x00: of B and D to H only H": lambda p: optioned(p, "syn", "capable", {"flags": 0}),
    "flags 0x41: of B and D to H only H": lambda p: optioned(p, "syn", "capable", {"flags": 65}),
    "MP_CAPABLE without the 0 keys": lambda p: optioned(p, "syn", "capable", {"own": KEYS[0]}),
    "MP_CAPABLE without the 2 keys": lambda p: optioned(p, "ack", "capable", {"peer": b""}),
    "MP_CAPABLE returns key 0001020304050607": lambda p: optioned(
        p, "ack", "capable", {"peer": OTHER_KEY}
    ),
    "key 0001020304050607, 91aa20128dac826f before": lambda p: optioned(
        p, "zero", "capable", {"own": OTHER_KEY}
    ),
    "MP_CAPABLE has a data length if and only if": lambda p: optioned(
        p, "ack", "capable", {"length": 8}
    ),
    "mapping of 1..161 on a segment": lambda p: moved(p, "zero", seq=SHORT),
    "confirms another use of checksums": lambda p: optioned(p, "ack", "capable", {"flags": 0x81}),
    "MP_CAPABLE of length 18": lambda p: added(
        p, "join fourth", "raw", b"\1\1\x1e\x12\x01" + bytes(15)
    ),
    "MP_CAPABLE that the SYN did not offer": lambda p: unoptioned(p, "syn", "capable"),
    "MPTCP option on plain TCP": lambda p: unoptioned(p, "synack", "capable"),
    "MP_CAPABLE on a joined subflow": lambda p: added(p, "join fourth", "capable", {}),
    "MP_CAPABLE of the listener after its": lambda p: added(p, "fourth", "capable", {}),
    "first segment after the SYN without MP_CAPABLE": lambda p: unoptioned(p, "ack", "capable"),
    "first data without MP_CAPABLE before": lambda p: unoptioned(
        without(p, "fourth"), "zero", "capable"
    ),
    "first segment after the SYN-ACK without a DATA_ACK": lambda p: unoptioned(p, "fourth", "dss"),
    "both MP_CAPABLE and MP_JOIN": lambda p: added(
        unoptioned(p, "join syn", "scale"), "join syn", "capable", {}
    ),
    "mappings by both MP_CAPABLE and DSS": lambda p: added(
        unoptioned(p, "zero", "timestamps"),
        "zero",
        "dss",
        {"number": 1, "subflow": 1, "length": SHORT},
    ),
    "MP_FASTCLOSE on neither ACK nor RST": lambda p: wrong(
        added(p, "join fourth", "fastclose", KEYS[0]), "join fourth", flags="P"
    ),
    "token 01020304 is of no connection": lambda p: optioned(
        p, "join syn", "join", {"token": b"\1\2\3\4"}
    ),
    "token of its own sender": lambda p: wrong(
        optioned(p, "join syn", "join", {"token": keys.token(KEYS[0])}),
        "join syn",
        source=("10.0.1.1", 40001),
    ),
    "repeated SYN with another token": lambda p: again(
        p,
        "join syn",
        options=optioned(p, "join syn", "join", {"token": keys.token(KEYS[0])})[
            p.index(named(p, "join syn"))
        ]["options"],
    ),
    "another random number on a repeated SYN": lambda p: again(
        p,
        "join syn",
        options=optioned(p, "join syn", "join", {"nonce": NONCES[1]})[
            p.index(named(p, "join syn"))
        ]["options"],
    ),
    "MP_JOIN with HMAC 0000000000000000, not": lambda p: optioned(
        p, "join synack", "join", {"hmac": bytes(8)}
    ),
    f"MP_JOIN with HMAC {'00' * 20}, not": lambda p: optioned(
        p, "join ack", "join", {"hmac": bytes(20)}
    ),
    "MP_JOIN with HMAC": lambda p: optioned(p, "join synack", "join", {"nonce": NONCES[0]}),
    "MP_JOIN of the wrong form on a segment": lambda p: optioned(
        p, "join ack", "join", {"id": 1, "token": bytes(4), "nonce": bytes(4)}
    ),
    "MP_JOIN before any DSS of the peer": lambda p: early(
        without(p, "fourth", "ack zero"), "join syn", "zero"
    ),
    "MP_JOIN to an address and port that take no more": lambda p: optioned(
        p, "synack", "capable", {"flags": 0x21}
    ),
    "MP_JOIN on the first subflow": lambda p: added(p, "last ack 0", "join", {"hmac": bytes(20)}),
    "SYN-ACK without MP_JOIN": lambda p: unoptioned(p, "join synack", "join"),
    "MP_JOIN before keys and random numbers are known": lambda p: unoptioned(
        p, "join synack", "join"
    ),
    "first segment after the SYN without MP_JOIN": lambda p: unoptioned(p, "join ack", "join"),
    "data before the ACK with MP_JOIN was": lambda p: without(p, "join fourth"),
    "responder before the ACK with MP_JOIN": lambda p: unoptioned(p, "join ack", "join"),
    "address 10.0.2.1 has identifier 0, but 10.0.1.1": lambda p: optioned(
        p, "join syn", "join", {"id": 0}
    ),
    "ADD_ADDR with the wrong HMAC": lambda p: added(
        p, "join fourth", "add_addr", {"id": 3, "address": "10.0.3.1", "hmac": bytes(8)}
    ),
    "echo of an ADD_ADDR that was not seen": lambda p: added(
        p, "join fourth", "add_addr", {"id": 3, "address": "10.0.3.1", "echo": 1}
    ),
    "ADD_ADDR of length 16": lambda p: added(
        p, "join fourth", "add_addr", {"id": 3, "address": "10.0.3.1", "echo": 1, "hmac": bytes(8)}
    ),
    "MP_FASTCLOSE with key 0001020304050607": lambda p: added(
        p, "join fourth", "fastclose", OTHER_KEY
    ),
    "MP_TCPRST on a segment that is no RST": lambda p: added(p, "join fourth", "tcprst", 1),
    "reason 9 of MP_TCPRST": lambda p: added(p, "join fourth", "tcprst", 9),
    "unknown MPTCP subtype 12": lambda p: added(p, "join fourth", "raw", b"\x1e\4\xc0\0"),
    "reserved bits of DSS": lambda p: added(p, "join fourth", "raw", b"\x1e\4\x20\x40"),
    "DATA_FIN without a mapping": lambda p: added(p, "join fourth", "raw", b"\x1e\4\x20\x10"),
    "DSS twice": lambda p: added(p, "ack two", "dss", {"ack": 1}),
    "mapping without end": lambda p: optioned(p, "one", "dss", {"length": 0}),
    "bytes 317..321 of the subflow are in no mapping": lambda p: stepped(p, "one", length=-4),
    "bytes 161..165 of the subflow are in no mapping": lambda p: stepped(p, "one", subflow=4),
    "byte 161 of the subflow was mapped to other data": lambda p: stepped(
        p, "one again", number=8
    ),
    "mapping of 321..481 on a segment": lambda p: stepped(p, "one", subflow=SHORT),
    "bytes differ from those sent before at data offset 167": lambda p: filled(
        p, "one by second", 0
    ),
    "retransmitted bytes differ at sequence number 168": lambda p: filled(p, "one again", 0),
    "payload is not the pattern at offset 326": lambda p: filled(p, "two", 0),
    "before the first": lambda p: stepped(p, "one", number=-SHORT - 8),
    "DATA_ACK up to 161, but only up to 160": lambda p: stepped(p, "ack zero", ack=1),
    "is before the first data": lambda p: stepped(p, "fourth", ack=-1),
    "DATA_ACK up to 0 is less than 1": lambda p: again(
        p,
        "ack server data fin",
        options=[
            *named(p, "ack server data fin")["options"][:1],
            ("dss", {"ack": keys.initial_number(KEYS[1]) + 1}),
        ],
    ),
    "DATA_ACK of 64 bits before any": lambda p: optioned(p, "fourth", "dss", {"wide_ack": True}),
    "DATA_ACK of 32 bits for data that came with 64": lambda p: optioned(
        p, "ack three", "dss", {"wide_ack": False}
    ),
    "acknowledges data without a DATA_ACK": lambda p: unoptioned(p, "ack two", "dss"),
    "data without a mapping before any DATA_ACK": lambda p: unoptioned(p, "two", "dss"),
    "DATA_FIN never acknowledged": lambda p: without(p, "ack server data fin"),
    "DATA_FIN alone with subflow sequence number 1": lambda p: stepped(
        p, "server data fin", subflow=1
    ),
    "DATA_FIN at 799, at 800 before": lambda p: again(
        p,
        "data fin",
        payload=b"",
        seq=2000,
        options=[
            *named(p, "data fin")["options"][:1],
            (
                "dss",
                {
                    "number": keys.initial_number(KEYS[0]) + 800,
                    "subflow": 0,
                    "length": 1,
                    "fin": True,
                    "wide": True,
                },
            ),
        ],
    ),
    "data after the DATA_FIN": lambda p: optioned(
        p, "three", "dss", {"fin": True, "length": SHORT + 1}
    ),
    "data from offset 480 is missing at the end": lambda p: without(p, "three"),
    "data up to 480 where the window ends at 416": lambda p: [
        packet | {"window": 256 if "S" in packet["flags"] else 2 if packet["inbound"] else 512}
        for packet in p
    ],
    "mapping with a checksum, other than": lambda p: optioned(p, "one", "dss", {"checksum": 1}),
}
AT_SERVER = {
    "address 10.0.9.1 has identifier 4, but 10.0.9.1": lambda p: optioned(
        p, "join synack", "join", {"id": 4}
    ),
    "address 10.0.3.1 has identifier 0": lambda p: added(
        p, "join fourth", "add_addr", {"id": 0, "address": "10.0.3.1", "hmac": bytes(8)}
    ),
    "ACK with MP_JOIN never answered": lambda p: [
        packet
        for packet in p
        if (packet["source"][0] != "10.0.2.1" and packet["destination"][0] != "10.0.2.1")
        or packet["name"] in ("join syn", "join synack", "join ack")
    ],
    "data instead of an acknowledgement of the ACK with MP_JOIN": lambda p: wrong(
        p, "join fourth", payload=payload(0, 8)
    ),
    "data of a host whose key was never seen": lambda p: unoptioned(
        unoptioned(p, "ack", "capable"), "zero", "capable"
    ),
    "segment of the listener before the initiator's key": lambda p: without(p, "ack"),
    "DATA_ACK up to 480 is less than 640 before": lambda p: again(
        p, "ack three", options=named(p, "ack one on first")["options"]
    ),
    "bytes 161..321 of the subflow are in no mapping": lambda p: unoptioned(
        p, "one by second", "dss"
    ),
}
WITH_CHECKSUM = {
    "wrong DSS checksum": lambda p: optioned(p, "one", "dss", {"checksum": 1}),
    "wrong DSS checksum: first data": lambda p: optioned(p, "zero", "capable", {"checksum": 1}),
    "wrong DSS checksum: DATA_FIN": lambda p: optioned(
        p, "server data fin", "dss", {"checksum": 1}
    ),
    "mapping without a checksum, other than": lambda p: optioned(
        p, "one", "dss", {"checksum": None}
    ),
}


@pytest.mark.parametrize("expected", CHANGES)
def test_wrong_packet_is_reported(expected, tmp_path):
    said(CHANGES[expected](mptcp()), expected, tmp_path)


@pytest.mark.parametrize("expected", AT_SERVER)
def test_wrong_packet_is_reported_at_the_server(expected, tmp_path):
    said(AT_SERVER[expected](mptcp(SERVER)), expected, tmp_path)


@pytest.mark.parametrize("name", WITH_CHECKSUM)
def test_wrong_checksum_is_reported(name, tmp_path):
    said(WITH_CHECKSUM[name](mptcp(with_checksum=True)), name.split(":")[0], tmp_path)
