"""Headers that cannot be right are told, before anything is read from them."""

import pytest

from builder import datagram, segment
from conversations import encapsulated, plain_tcp
from ropewalk.check import headers
from test_check import GOOD

IPV4 = segment(GOOD["plain TCP"](0)[0])
IPV6 = segment(GOOD["plain TCP over IPv6"](0)[0])
IN_UDP = encapsulated(plain_tcp())[0]


def changed(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


UNREADABLE = {
    "no bytes of an IP header": b"",
    "IP version 5": b"\x50" + IPV4[1:],
    "IPv4 header of 16 bytes": b"\x44" + IPV4[1:],
    "19 bytes captured of an IPv4 header of 20": IPV4[:19],
    "39 bytes captured of an IPv6 header of 40": IPV6[:39],
}
WRONG = {
    "IPv4 reserved flag is not 0": changed(IPV4, 6, 0x80),
    "IPv4 fragment": changed(IPV4, 7, 1),
    "IPv4 time to live is 0": changed(IPV4, 8, 0),
    "IPv6 hop limit is 0": changed(IPV6, 7, 0),
    "IPv6 payload length 9 of a packet of 80 bytes": changed(IPV6, 5, 9),
}


@pytest.mark.parametrize("expected", UNREADABLE)
def test_an_ip_header_must_be_there(expected):
    with pytest.raises(headers.HeaderError, match=expected):
        headers.parse_ip(UNREADABLE[expected], 100)


@pytest.mark.parametrize("expected", WRONG)
def test_an_ip_header_must_make_sense(expected):
    assert expected in headers.parse_ip(WRONG[expected]).faults


@pytest.mark.parametrize("length", [19, 7])
def test_a_header_inside_must_be_there(length):
    packet = headers.parse_ip(IPV4[: 20 + length], len(IPV4))
    with pytest.raises(headers.HeaderError, match=f"{length} bytes of a TCP header of 20"):
        headers.parse_tcp(packet)
    if length < 8:
        with pytest.raises(headers.HeaderError, match=f"{length} bytes of a UDP header of 8"):
            headers.parse_udp(packet)


def test_tcp_flags_and_bits_that_no_one_uses_are_told():
    faults = headers.parse_tcp(headers.parse_ip(changed(IPV4, 32, IPV4[32] | 1))).faults
    assert "TCP reserved bits are not 0" in faults
    faults = headers.parse_tcp(headers.parse_ip(changed(IPV4, 33, IPV4[33] | 0x20))).faults
    assert "TCP urgent data" in faults


def test_only_udp_to_the_port_is_unwrapped():
    outer = datagram(IN_UDP["outer"], IPV4)
    inner, faults = headers.unwrapped(headers.parse_ip(outer), 6000)
    assert (str(inner.source), inner.length, faults) == ("10.0.1.1", len(IPV4) - 20, [])
    assert headers.unwrapped(headers.parse_ip(outer)) is not None
    assert headers.unwrapped(headers.parse_ip(outer), 6001) is None
    assert headers.unwrapped(headers.parse_ip(IPV4)) is None
    other = datagram(IN_UDP["outer"], b"\x55" + IPV4[1:])
    assert headers.unwrapped(headers.parse_ip(other)) is None
