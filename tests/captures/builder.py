"""Synthetic captures for tests of the checks: packets as dicts, encoded to bytes.

A packet's dict has header fields; missing ones get correct values, and `wrong` names a field with
an incorrect one. The only code shared with the checks is the sum of checksum.py.
"""

import struct
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from ropewalk.analysis.check.checksum import checksum, word_sum

Fields = Mapping[str, Any]
FLAGS = "FSRPAUEC"
SUBTYPES = {"capable": 0, "join": 1, "dss": 2, "add_addr": 3, "remove_addr": 4, "prio": 5}
SUBTYPES |= {"fail": 6, "fastclose": 7, "tcprst": 8}


def option(name: str, value: Any = None) -> bytes:
    """Return a TCP option by name; "raw" is its own bytes."""
    if name == "raw":
        return bytes(value)
    if name == "mss":
        return struct.pack("!BBH", 2, 4, value)
    if name == "scale":
        return struct.pack("!BBB", 3, 3, value)
    if name == "sack_permitted":
        return b"\x04\x02"
    if name == "sack":
        edges = [edge % (1 << 32) for block in value for edge in block]
        return struct.pack(f"!BB{len(edges)}I", 5, 2 + 4 * len(edges), *edges)
    if name == "timestamps":
        return struct.pack("!BBII", 8, 10, *value)
    body: bytes = _mptcp(name, value)
    body = bytes([SUBTYPES[name] << 4 | body[0]]) + body[1:]
    return bytes([30, 2 + len(body)]) + body


def _mptcp(name: str, value: Any) -> bytes:
    """Return the body of an MPTCP option, its first nibble still 0."""
    if name == "capable":
        body = bytes([value.get("version", 1), value.get("flags", 1)])
        body += value.get("own", b"") + value.get("peer", b"")
        if "length" in value:
            body += struct.pack("!H", value["length"])
        return bytes(body + _field(value.get("checksum")))
    if name == "join":
        if "token" in value:
            return b"".join([b"\0", bytes([value["id"]]), value["token"], value["nonce"]])
        if "nonce" in value:
            return b"".join([b"\0", bytes([value["id"]]), value["hmac"], value["nonce"]])
        return b"".join([b"\0\0", value["hmac"]])
    if name == "dss":
        return _dss(value)
    if name == "add_addr":
        address = ip_address(value["address"]).packed
        head = bytes([value.get("echo", 0), value["id"]])
        return b"".join([head, address, value.get("hmac", b"")])
    if name == "remove_addr":
        return bytes([0, *value])
    if name == "prio":
        return bytes([value])
    if name == "fail":
        return b"\0\0" + struct.pack("!Q", value)
    return b"".join([b"\0\0", value]) if name == "fastclose" else bytes([0, value])


def _dss(value: Fields) -> bytes:
    flags, body = 0, b""
    if "ack" in value:
        wide = value.get("wide_ack", False)
        flags |= 1 | 2 * wide
        body += struct.pack("!Q" if wide else "!I", value["ack"] % (1 << (64 if wide else 32)))
    if "number" in value:
        wide = value.get("wide", False)
        flags |= 4 | 8 * wide | 16 * value.get("fin", False)
        number = value["number"] % (1 << (64 if wide else 32))
        body += struct.pack("!Q" if wide else "!I", number)
        body += struct.pack("!IH", value["subflow"] % (1 << 32), value["length"])
        body += _field(value.get("checksum"))
    return bytes([0, flags]) + body


def _field(value: int | None) -> bytes:
    return b"" if value is None else struct.pack("!H", value)


def segment(packet: Fields) -> bytes:
    options = b"".join(option(*entry) for entry in packet.get("options", ()))
    options += bytes(-len(options) % 4)
    flags = sum(1 << FLAGS.index(letter) for letter in packet["flags"])
    source, destination = packet["source"], packet["destination"]
    payload = packet.get("payload", b"")
    header = struct.pack(
        "!HHIIBBHHH",
        source[1],
        destination[1],
        packet["seq"] % (1 << 32),
        packet.get("ack", 0) % (1 << 32),
        packet.get("offset", 5 + len(options) // 4) << 4,
        flags,
        packet.get("window", 0),
        0,
        0,
    )
    right = header + options + payload
    return _ip(packet, source[0], destination[0], 6, right, 16)


def datagram(packet: Fields, payload: bytes) -> bytes:
    source, destination = packet["source"], packet["destination"]
    length = packet.get("udp_length", 8 + len(payload))
    header = struct.pack("!4H", source[1], destination[1], length, 0)
    return _ip(packet, source[0], destination[0], 17, header + payload, 6)


def _ip(
    packet: Fields, source: str, destination: str, protocol: int, data: bytes, at: int
) -> bytes:
    """Return an IP packet, with its payload's checksum at an offset."""
    addresses = ip_address(source).packed + ip_address(destination).packed
    total = word_sum(addresses) + protocol + len(data) + word_sum(data)
    field = checksum(total) or (0xFFFF if protocol == 17 else 0)
    more = packet.get("add_to_checksums", 0)
    field = (field + more) % 0xFFFF if more else field
    field = packet.get("checksum", field ^ packet.get("checksum_error", 0))
    data = data[:at] + struct.pack("!H", field) + data[at + 2 :]
    if len(addresses) == 32:
        length = packet.get("ip_length", len(data))
        return struct.pack("!IHBB", 6 << 28, length, protocol, 64) + addresses + data
    length = packet.get("ip_length", 20 + len(data))
    numbers = packet.get("id", 0), 0x4000, packet.get("ttl", 64), protocol, 0
    header = struct.pack("!BBHHHBBH", 0x45, 0, length, *numbers) + addresses
    field = checksum(word_sum(header)) ^ packet.get("ip_checksum_error", 0)
    return header[:10] + struct.pack("!H", field) + header[12:] + data


def written(packet: Fields) -> bytes:
    """Return the bytes of a packet on the link, encapsulated or not."""
    if "damaged" in packet:
        return bytes(packet["damaged"])
    inner = packet["inner"] if "inner" in packet else segment(packet)
    return datagram(packet["outer"], inner) if "outer" in packet else inner


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def block_option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def pcapng(packets: Iterable[Fields], interfaces: Iterable[str], order: str = "<") -> bytes:
    """Return a pcapng file; packets have the interface's index and the time in ns."""
    end = block_option(0, b"", order)
    header = struct.pack(order + "IHHQ", 0x1A2B3C4D, 1, 0, (1 << 64) - 1)
    content = bytearray(block(0x0A0D0D0A, header, order))
    for name in interfaces:
        options = block_option(2, name.encode(), order) + block_option(9, b"\x09", order)
        options += block_option(8, struct.pack(order + "Q", 10**7), order)
        content += block(1, struct.pack(order + "HHI", 101, 0, 0) + options + end, order)
    count = 0
    for packet in packets:
        count += 1
        data = written(packet)
        kept = data[: packet.get("snap", len(data))]
        options = block_option(2, struct.pack(order + "I", 2 - packet["inbound"]), order)
        if "comment" in packet:
            options += block_option(1, packet["comment"].encode(), order)
        time = packet["time"]
        fields = (packet.get("interface", 0), time >> 32, time & 0xFFFFFFFF, len(kept), len(data))
        body = struct.pack(order + "5I", *fields) + kept + bytes(-len(kept) % 4)
        content += block(6, body + options + end, order)
    statistics = block_option(4, struct.pack(order + "Q", count), order) + end
    return bytes(content + block(5, struct.pack(order + "3I", 0, 0, 0) + statistics, order))


def pcap(packets: Iterable[Fields], magic: int = 0xA1B23C4D, order: str = "<") -> bytes:
    """Return a classic file, with nanoseconds, or by its magic number microseconds."""
    content = bytearray(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 0x40000, 101))
    for packet in packets:
        data = written(packet)
        kept = data[: packet.get("snap", len(data))]
        seconds, fraction = divmod(packet["time"], 10**9)
        if magic == 0xA1B2C3D4:
            fraction //= 1000
        content += struct.pack(order + "4I", seconds, fraction, len(kept), len(data)) + kept
    return bytes(content)
