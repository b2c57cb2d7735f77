"""IPv4 (RFC 791), IPv6 (RFC 8200), UDP (RFC 768) and TCP (RFC 9293) headers.

A packet may be captured only in part; then what needs the rest is not checked, and the
lengths come from the headers.
"""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

from . import options
from .checksum import folded, is_right, word_sum

TCP, UDP = 6, 17
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
Address = IPv4Address | IPv6Address
ADDRESSES: dict[bytes, Address] = {}
"""Cache of address objects, since creating them is slow."""


class HeaderError(ValueError):
    """A header violates its RFC, so that what follows it cannot be parsed."""


@dataclass(slots=True)
class IpPacket:
    """An IP header and its payload."""

    source: Address
    destination: Address
    protocol: int
    payload: bytes
    length: int
    """Of the payload, whether captured or not."""
    pseudo_sum: int
    """Sum of the pseudo-header, for the payload's checksum."""
    faults: list[str]

    @property
    def is_whole(self) -> bool:
        """Whether all of the payload was captured."""
        return len(self.payload) == self.length


@dataclass(slots=True)
class Datagram:
    """A UDP header and its payload."""

    source_port: int
    destination_port: int
    payload: bytes
    length: int
    faults: list[str]


@dataclass(slots=True)
class Segment:
    """A TCP header and its payload."""

    source: tuple[Address, int]
    destination: tuple[Address, int]
    sequence: int
    acknowledgement: int
    flags: int
    window: int
    options: options.Options
    payload: bytes
    length: int
    """Of the payload, whether captured or not."""
    faults: list[str]
    is_offloaded: bool = False
    """Whether the checksum is left to the network device."""


def parse_ip(data: bytes, original_length: int | None = None) -> IpPacket:
    """Read an IP packet of either version, without link header."""
    if not data:
        raise HeaderError("no bytes of an IP header")
    on_wire = len(data) if original_length is None else original_length
    version = data[0] >> 4
    if version == 4:
        return _ipv4(data, on_wire)
    if version == 6:
        return _ipv6(data, on_wire)
    raise HeaderError(f"IP version {version}")


def address_of(data: bytes) -> Address:
    """Return the address of 4 or 16 bytes."""
    found = ADDRESSES.get(data)
    if found is None:
        found = ADDRESSES[data] = IPv4Address(data) if len(data) == 4 else IPv6Address(data)
    return found


def _ipv4(data: bytes, on_wire: int) -> IpPacket:
    size = (data[0] & 15) * 4
    if size < 20:
        raise HeaderError(f"IPv4 header of {size} bytes")
    if len(data) < size:
        raise HeaderError(f"{len(data)} bytes captured of an IPv4 header of {size}")
    total, fragment, ttl, protocol = struct.unpack("!2xH2xHBB", data[:10])
    faults = []
    if total < size or total != on_wire:
        faults.append(f"IPv4 total length {total} of a packet of {on_wire} bytes")
    if fragment & 0x8000:
        faults.append("IPv4 reserved flag is not 0")
    if fragment & 0x3FFF:
        faults.append("IPv4 fragment")
    if not ttl:
        faults.append("IPv4 time to live is 0")
    if not is_right(word_sum(data[:size])):
        faults.append("wrong IPv4 header checksum")
    length = on_wire - size
    pseudo = word_sum(data[12:20]) + protocol + length
    return IpPacket(
        address_of(data[12:16]),
        address_of(data[16:20]),
        protocol,
        data[size:],
        length,
        pseudo,
        faults,
    )


def _ipv6(data: bytes, on_wire: int) -> IpPacket:
    if len(data) < 40:
        raise HeaderError(f"{len(data)} bytes captured of an IPv6 header of 40")
    length, following, hops = struct.unpack("!4xHBB", data[:8])
    faults = []
    if length + 40 != on_wire:
        faults.append(f"IPv6 payload length {length} of a packet of {on_wire} bytes")
    if not hops:
        faults.append("IPv6 hop limit is 0")
    length = on_wire - 40
    # RFC 8200 8.1: a length of 32 bits, so both of its words count.
    pseudo = word_sum(data[8:40]) + (length >> 16) + (length & 0xFFFF) + following
    return IpPacket(
        address_of(data[8:24]),
        address_of(data[24:40]),
        following,
        data[40:],
        length,
        pseudo,
        faults,
    )


def parse_udp(packet: IpPacket) -> Datagram:
    """Read the UDP header that a packet carries, and check its checksum.

    No checksum, a field of 0, is allowed over IPv4, not over IPv6 (RFC 8200, 8.1).
    """
    data = packet.payload
    if len(data) < 8:
        raise HeaderError(f"{len(data)} bytes of a UDP header of 8")
    source, destination, length, field = struct.unpack("!4H", data[:8])
    faults = []
    if length != packet.length:
        faults.append(f"UDP length {length} where IP carries {packet.length} bytes")
    if field == 0:
        if packet.source.version == 6:
            faults.append("UDP over IPv6 without a checksum")
    elif packet.is_whole and not is_right(packet.pseudo_sum + word_sum(data)):
        faults.append("wrong UDP checksum")
    return Datagram(source, destination, data[8:], packet.length - 8, faults)


def parse_tcp(packet: IpPacket) -> Segment:
    """Read the TCP segment that a packet carries, and check its checksum."""
    data = packet.payload
    if len(data) < 20:
        raise HeaderError(f"{len(data)} bytes of a TCP header of 20")
    source, destination, sequence, acknowledgement, offset, flags, window, field, urgent = (
        struct.unpack("!HHIIBBHHH", data[:20])
    )
    size = (offset >> 4) * 4
    if not 20 <= size <= packet.length:
        raise HeaderError(f"TCP data offset of {size} bytes in a segment of {packet.length}")
    if len(data) < size:
        raise HeaderError(f"{len(data)} bytes captured of a TCP header of {size}")
    faults = []
    if offset & 15:
        faults.append("TCP reserved bits are not 0")
    if flags & URG or urgent:
        faults.append("TCP urgent data")
    # Linux leaves the sum of the pseudo-header there for a device to go on with.
    is_offloaded = field == folded(packet.pseudo_sum)
    is_wrong = packet.is_whole and not is_right(packet.pseudo_sum + word_sum(data))
    if is_wrong and not is_offloaded:
        faults.append("wrong TCP checksum")
    try:
        found = options.parse(data[20:size])
    except options.OptionError as error:
        faults.append(str(error))
        found = options.Options(size - 20)
    return Segment(
        (packet.source, source),
        (packet.destination, destination),
        sequence,
        acknowledgement,
        flags,
        window,
        found,
        data[size:],
        packet.length - size,
        faults,
        is_wrong and is_offloaded,
    )


def unwrapped(packet: IpPacket, port: int | None = None) -> tuple[IpPacket, list[str]] | None:
    """Return the IP packet inside a UDP packet, and what is wrong with the outer one.

    Inside is what begins with the nibble 4 or 6; with a port, only if the datagram
    comes from or goes to it. None if there is no packet inside.
    """
    if packet.protocol != UDP:
        return None
    datagram = parse_udp(packet)
    if port is not None and port not in (datagram.source_port, datagram.destination_port):
        return None
    if not datagram.payload or datagram.payload[0] >> 4 not in (4, 6):
        return None
    return parse_ip(datagram.payload, datagram.length), packet.faults + datagram.faults
