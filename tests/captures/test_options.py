"""Options are read from their bytes, as the figures of the RFCs draw them."""

from contextlib import suppress

import pytest

from ropewalk.check import mptcp_options as mp
from ropewalk.check import options

KEYS = bytes(range(16))
READ = {
    "1e04 01 81": mp.MpCapable(1, 0x81),
    f"1e0c 01 01 {KEYS[:8].hex()}": mp.MpCapable(1, 1, KEYS[:8]),
    f"1e14 01 01 {KEYS.hex()}": mp.MpCapable(1, 1, KEYS[:8], KEYS[8:]),
    f"1e16 01 01 {KEYS.hex()} 0102": mp.MpCapable(1, 1, KEYS[:8], KEYS[8:], 0x102),
    f"1e18 01 81 {KEYS.hex()} 0102 0304": mp.MpCapable(1, 0x81, KEYS[:8], KEYS[8:], 258, 772),
    "1e0c 11 02 01020304 05060708": mp.MpJoin(True, 2, b"\1\2\3\4", b"\5\6\7\x08"),
    "1e10 10 02 0102030405060708 0a0b0c0d": mp.MpJoin(
        False, 2, None, bytes.fromhex("0a0b0c0d"), bytes(range(1, 9))
    ),
    f"1e18 10 00 {bytes(20).hex()}": mp.MpJoin(hmac=bytes(20)),
    "1e08 20 01 01020304": mp.Dss(0x01020304, False, None, False),
    "1e0c 20 03 0102030405060708": mp.Dss(0x0102030405060708, True, None, False),
    "1e0e 20 04 00000001 00000002 0003": mp.Dss(
        None, False, mp.Mapping(1, False, 2, 3, None), False
    ),
    "1e10 20 14 00000001 00000000 0001 abcd": mp.Dss(
        None, False, mp.Mapping(1, False, 0, 1, 0xABCD), True
    ),
    "1e1c 20 0f 0000000000000009 0000000000000001 00000002 0003 0004": mp.Dss(
        9, True, mp.Mapping(1, True, 2, 3, 4), False
    ),
    "1e10 30 05 0a000001 0102030405060708": mp.AddAddr(
        False, 5, b"\x0a\0\0\1", None, bytes(range(1, 9))
    ),
    "1e0a 31 05 0a000001 1389": mp.AddAddr(True, 5, b"\x0a\0\0\1", 5001, b""),
    f"1e1e 30 05 {KEYS.hex()} 1389 0000000000000000": mp.AddAddr(False, 5, KEYS, 5001, bytes(8)),
    "1e05 40 05 06": mp.RemoveAddr((5, 6)),
    "1e03 51": mp.MpPrio(True),
    "1e0c 60 00 0000000000000007": mp.MpFail(7),
    "1e0c 70 00 0001020304050607": mp.MpFastclose(KEYS[:8]),
    "1e04 81 06": mp.MpTcpRst(True, 6),
}


@pytest.mark.parametrize("written", READ)
def test_an_mptcp_option_is_read_from_its_bytes(written):
    data = bytes.fromhex(written)
    assert options.parse(data).mptcp == (READ[written],)
    for padded in (b"\1" + data, data + bytes(3)):
        assert options.parse(padded).mptcp == (READ[written],)


@pytest.mark.parametrize("written", READ)
def test_no_other_length_of_an_mptcp_option_is_read_as_the_same(written):
    data = bytes.fromhex(written)
    for length in range(2, len(data)):
        shortened = data[:1] + bytes([length]) + data[2:length]
        with suppress(options.OptionError):
            assert options.parse(shortened).mptcp != (READ[written],)


def test_plain_options_are_read_from_their_bytes():
    data = bytes.fromhex("020405b4 0402 080a 00000007 00000003 01 030307")
    found = options.parse(data)
    assert (found.mss, found.window_scale, found.sack_permitted) == (1460, 7, True)
    assert (found.timestamps, found.length) == ((7, 3), 20)
    found = options.parse(bytes.fromhex("0101 0512 00000001 00000002 00000003 00000004"))
    assert found.sack == ((1, 2), (3, 4))
    assert found.of(mp.Dss) is None
