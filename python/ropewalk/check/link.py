"""Link-layer headers before the IP header, by link type (LINKTYPE_ values of tcpdump.org)."""

import struct
from collections.abc import Callable
from typing import NamedTuple

ETHERTYPES = {0x0800, 0x86DD}
VLAN_TAGS = {0x8100, 0x88A8}
MIN_ETHERNET = 60
"""Frames are padded to it, without their checksum."""
SENT, RECEIVED = 4, 0
"""Packet types of Linux's cooked captures: by this host, to this host."""


class Stripped(NamedTuple):
    """A packet without its link header."""

    size: int
    """Bytes of it."""
    is_ip: bool
    direction: str | None = None


def _raw(data: bytes) -> Stripped:
    return Stripped(0, is_ip=True)


def _loopback(data: bytes) -> Stripped:
    """NULL and LOOP: a protocol family of 4 bytes, in the order of some machine."""
    return Stripped(4, is_ip=len(data) > 4 and data[4] >> 4 in (4, 6))


def _ethernet(data: bytes) -> Stripped:
    at = 12
    while len(data) >= at + 2:
        (kind,) = struct.unpack("!H", data[at : at + 2])
        if kind not in VLAN_TAGS:
            return Stripped(at + 2, kind in ETHERTYPES)
        at += 4
    return Stripped(len(data), is_ip=False)


def _cooked(data: bytes) -> Stripped:
    size = 16
    if len(data) < size:
        return Stripped(len(data), is_ip=False)
    kind, protocol = struct.unpack("!H12xH", data[:size])
    return _of_linux(size, kind, protocol)


def _cooked_2(data: bytes) -> Stripped:
    size = 20
    if len(data) < size:
        return Stripped(len(data), is_ip=False)
    protocol, kind = struct.unpack("!H8xB", data[:11])
    return _of_linux(size, kind, protocol)


def _of_linux(size: int, kind: int, protocol: int) -> Stripped:
    direction = {SENT: "outbound", RECEIVED: "inbound"}.get(kind)
    return Stripped(size, protocol in ETHERTYPES, direction)


LINKS: dict[int, Callable[[bytes], Stripped]] = {
    0: _loopback,  # NULL
    1: _ethernet,
    101: _raw,
    108: _loopback,  # LOOP
    113: _cooked,  # LINUX_SLL
    228: _raw,  # IPV4
    229: _raw,  # IPV6
    276: _cooked_2,  # LINUX_SLL2
}


def strip(link_type: int, data: bytes, length: int) -> tuple[bytes, int, str | None] | None:
    """Remove the link header of a packet.

    Parameters
    ----------
    link_type
        Link type of the interface.
    data
        What was captured of the packet, from its link header on.
    length
        Length of the whole packet, bytes.

    Returns
    -------
    tuple or None
        The IP packet as captured, the bytes of all of it, and the direction if the link header
        tells one; None if no IP packet is inside.
    """
    found = LINKS[link_type](data)
    if not found.is_ip:
        return None
    packet, left = data[found.size :], length - found.size
    if link_type == 1 and length <= MIN_ETHERNET:
        left = min(left, _ip_length(packet, left))
        packet = packet[:left]
    return packet, left, found.direction


def _ip_length(packet: bytes, default: int) -> int:
    """Return the length in the IP header, since a frame may be padded."""
    if len(packet) >= 20 and packet[0] >> 4 == 4:
        return int.from_bytes(packet[2:4], "big")
    if len(packet) >= 40 and packet[0] >> 4 == 6:
        return 40 + int.from_bytes(packet[4:6], "big")
    return default
