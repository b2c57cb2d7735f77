"""Options are parsed from their bytes, as in the figures of the RFCs."""

import pytest

from builder import pcap
from conversations import plain_tcp
from ropewalk.analysis.check import packets

KEYS = bytes(range(16))


def capable(flags, sender=None, receiver=None, length=None, checksum=None):
    return {
        "version": 1,
        "flags": flags,
        "sender_key": sender,
        "receiver_key": receiver,
        "data_length": length,
        "checksum": checksum,
    }


def join(backup, address_id, token, nonce, hmac):
    names = ("backup", "address_id", "token", "nonce", "hmac")
    return dict(zip(names, (backup, address_id, token, nonce, hmac), strict=True))


def dss(ack, ack_is_long, mapping, is_fin):
    names = ("ack", "ack_is_long", "mapping", "is_fin")
    return dict(zip(names, (ack, ack_is_long, mapping, is_fin), strict=True))


def add_addr(is_echo, address_id, address, port, hmac):
    names = ("is_echo", "address_id", "address", "port", "hmac")
    return dict(zip(names, (is_echo, address_id, address, port, hmac), strict=True))


READ = {
    "1e04 01 81": (packets.MpCapable, capable(0x81)),
    f"1e0c 01 01 {KEYS[:8].hex()}": (packets.MpCapable, capable(1, KEYS[:8])),
    f"1e14 01 05 {KEYS.hex()}": (packets.MpCapable, capable(5, KEYS[:8], KEYS[8:])),
    f"1e16 01 01 {KEYS.hex()} 0102": (
        packets.MpCapable,
        capable(1, KEYS[:8], KEYS[8:], 0x102),
    ),
    f"1e18 01 81 {KEYS.hex()} 0102 0304": (
        packets.MpCapable,
        capable(0x81, KEYS[:8], KEYS[8:], 258, 772),
    ),
    "1e0c 11 02 01020304 05060708": (
        packets.MpJoin,
        join(True, 2, b"\1\2\3\4", b"\5\6\7\x08", b""),
    ),
    "1e10 10 02 0102030405060708 0a0b0c0d": (
        packets.MpJoin,
        join(False, 2, None, b"\x0a\x0b\x0c\x0d", bytes(range(1, 9))),
    ),
    f"1e18 10 00 {KEYS.hex()} 01020304": (
        packets.MpJoin,
        join(False, None, None, None, KEYS + b"\1\2\3\4"),
    ),
    "1e08 20 01 01020304": (packets.Dss, dss(0x01020304, False, None, False)),
    "1e0c 20 03 0102030405060708": (packets.Dss, dss(0x0102030405060708, True, None, False)),
    "1e0e 20 04 00000001 00000002 0003": (
        packets.Dss,
        dss(None, False, packets.Mapping(1, False, 2, 3, None), False),
    ),
    "1e10 20 14 00000001 00000000 0001 abcd": (
        packets.Dss,
        dss(None, False, packets.Mapping(1, False, 0, 1, 0xABCD), True),
    ),
    "1e1c 20 0f 0000000000000009 0000000000000001 00000002 0003 0004": (
        packets.Dss,
        dss(9, True, packets.Mapping(1, True, 2, 3, 4), False),
    ),
    "1e10 30 05 0a000001 0102030405060708": (
        packets.AddAddr,
        add_addr(False, 5, b"\x0a\0\0\1", None, bytes(range(1, 9))),
    ),
    "1e0a 31 05 0a000001 1389": (
        packets.AddAddr,
        add_addr(True, 5, b"\x0a\0\0\1", 5001, b""),
    ),
    f"1e1e 30 05 {KEYS.hex()} 1389 0000000000000000": (
        packets.AddAddr,
        add_addr(False, 5, KEYS, 5001, bytes(8)),
    ),
    "1e05 40 05 06": (packets.RemoveAddr, {"address_ids": (5, 6)}),
    "1e03 51": (packets.MpPrio, {"backup": True}),
    "1e0c 60 00 0000000000000007": (packets.MpFail, {"number": 7}),
    "1e0c 70 00 0001020304050607": (packets.MpFastclose, {"receiver_key": KEYS[:8]}),
    "1e04 81 06": (packets.MpTcpRst, {"transient": True, "reason": 6}),
}


def options_of(data, folder):
    """Parse options through a capture."""
    path = folder / "made.pcap"
    path.write_bytes(pcap([plain_tcp()[0] | {"options": [("raw", data)]}]))
    (record,) = packets.read_packets(packets.open_capture(path))
    return record.segment.options


@pytest.mark.parametrize("written", READ)
def test_an_mptcp_option_is_read_from_its_bytes(written, tmp_path):
    data = bytes.fromhex(written)
    kind, fields = READ[written]
    for padded in (data, b"\1" + data):
        found = options_of(padded, tmp_path)
        assert found.faults == found.mptcp_faults == ()
        (option,) = found.mptcp
        assert {name: getattr(option, name) for name in fields} == fields
        assert found.of(kind) is option
        others = {kind for kind, _ in READ.values()} - {kind}
        assert all(found.of(other) is None for other in others)


@pytest.mark.parametrize("written", READ)
def test_no_other_length_of_an_mptcp_option_is_read_as_the_same(written, tmp_path):
    data = bytes.fromhex(written)
    kind, fields = READ[written]
    for length in range(2, len(data)):
        shortened = data[:1] + bytes([length]) + data[2:length]
        option = options_of(shortened, tmp_path).of(kind)
        assert option is None or {name: getattr(option, name) for name in fields} != fields


def test_plain_options_are_read_from_their_bytes(tmp_path):
    data = bytes.fromhex("020405b4 0402 080a 00000007 00000003 01 030307")
    found = options_of(data, tmp_path)
    assert (found.mss, found.window_scale, found.sack_permitted) == (1460, 7, True)
    assert (found.timestamps, found.length) == ((7, 3), 20)
    found = options_of(bytes.fromhex("0101 0512 00000001 00000002 00000003 00000004"), tmp_path)
    assert found.sack == ((1, 2), (3, 4))
    assert found.of(packets.Dss) is None
    found = options_of(bytes.fromhex("fd08 5257 0009 0001"), tmp_path)
    assert (found.transmission, found.out_of_order) == (9, True)


def test_options_of_later_rfcs_and_unknown_ones_are_kept(tmp_path):
    found = options_of(bytes.fromhex("2202 ac08 000102 000304 63 04 abcd 0101"), tmp_path)
    assert found.fast_open == b""
    assert found.accurate_ecn == (172, (0x102, 0x304))
    assert found.others == ((0x63, b"\xab\xcd"),)
    found = options_of(bytes.fromhex("fe08 f989 01020304"), tmp_path)
    assert found.fast_open == b"\1\2\3\4"


def test_malformed_option_is_reported_with_clause_and_place(tmp_path):
    found = options_of(bytes.fromhex("0203 05 1e05 20ff 00 030307 0000"), tmp_path)
    assert found.faults == (("RFC 9293, 3.2", "MSS of length 3, at byte 0 of the options"),)
    assert found.mptcp_faults == (("RFC 8684, 3.3", "DSS of length 5, at byte 3 of the options"),)
    assert found.window_scale == 7
