"""Captured packets: types passed by the Rust reader to the rules.

The reader (``ropewalk_capture::reading``) uses pcap-parser for files, etherparse for Ethernet, IP,
UDP and TCP headers, and ``ropewalk_wire`` for TCP options.
"""

from collections.abc import Callable, Collection, Iterator
from ipaddress import IPv4Address, IPv6Address
from os import PathLike, fspath
from typing import TypeVar

from ..._core import (
    AddAddr,
    Dss,
    Interface,
    Mapping,
    MpCapable,
    MpFail,
    MpFastclose,
    MpJoin,
    MpPrio,
    MpTcpRst,
    Options,
    PacketFileError,
    PacketReader,
    Record,
    RemoveAddr,
    Segment,
)

__all__ = [
    "ACK",
    "AE",
    "CWR",
    "ECE",
    "FIN",
    "NANOSECONDS",
    "PSH",
    "RST",
    "SYN",
    "URG",
    "AddAddr",
    "Address",
    "AnyOption",
    "Dss",
    "Endpoint",
    "Interface",
    "Mapping",
    "MpCapable",
    "MpFail",
    "MpFastclose",
    "MpJoin",
    "MpPrio",
    "MpTcpRst",
    "MptcpOption",
    "Options",
    "PacketFileError",
    "PacketReader",
    "Progress",
    "Record",
    "RemoveAddr",
    "Segment",
    "address_of",
    "open_capture",
    "read_packets",
]

NANOSECONDS = 10**9
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << bit for bit in range(9))
BATCH = 4096
"""Packets read at a time."""

Address = IPv4Address | IPv6Address
Endpoint = tuple[Address, int]
Progress = Callable[[int, int], object]
MptcpOption = (
    MpCapable | MpJoin | Dss | AddAddr | RemoveAddr | MpPrio | MpFail | MpFastclose | MpTcpRst
)
AnyOption = TypeVar("AnyOption", bound=MptcpOption)


def address_of(data: bytes) -> Address:
    """Return the address in 4 or 16 bytes."""
    return IPv4Address(data) if len(data) == 4 else IPv6Address(data)


def read_packets(reader: PacketReader, progress: Progress | None = None) -> Iterator[Record]:
    """Yield the packets of a capture.

    `progress` is called with the bytes read and the size of the file. Raises PacketFileError at
    the first block that violates the file format.
    """
    while batch := reader.read(BATCH):
        yield from batch
        if progress is not None and reader.size:
            progress(reader.position, reader.size)


def open_capture(
    path: str | PathLike[str],
    *,
    local: Collection[Address] = (),
    encapsulated: bool = False,
    port: int | None = None,
) -> PacketReader:
    """Open a pcapng or pcap file; "-" is standard input, and gzip is decompressed.

    For `local`, `encapsulated` and `port` see `capture`.
    """
    return PacketReader(fspath(path), local=set(local), encapsulated=encapsulated, port=port)
