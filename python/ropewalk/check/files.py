"""Files of captured packets: pcapng (draft-ietf-opsawg-pcapng) and classic pcap.

Both byte orders, and the link types of link.py. What the format forbids, or what contradicts
itself, is an error, never passed over.
"""

import mmap
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .link import LINKS

NANOSECONDS = 10**9

SECTION_HEADER = 0x0A0D0D0A
INTERFACE_DESCRIPTION = 1
SIMPLE_PACKET = 3
INTERFACE_STATISTICS = 5
ENHANCED_PACKET = 6
BYTE_ORDER_MAGIC = 0x1A2B3C4D
ANY_LENGTH = 0xFFFFFFFFFFFFFFFF

OPT_ENDOFOPT, OPT_COMMENT = 0, 1
IF_NAME, IF_SPEED, IF_TSRESOL, IF_TSOFFSET = 2, 8, 9, 14
EPB_FLAGS = 2
ISB_COUNTERS = {4: "ifrecv", 5: "ifdrop", 6: "filteraccept", 7: "osdrop", 8: "usrdeliv"}
# Options of a fixed length: by block, code and length.
FIXED = {
    (INTERFACE_DESCRIPTION, IF_SPEED): 8,
    (INTERFACE_DESCRIPTION, IF_TSRESOL): 1,
    (INTERFACE_DESCRIPTION, IF_TSOFFSET): 8,
    (ENHANCED_PACKET, EPB_FLAGS): 4,
    (INTERFACE_STATISTICS, 2): 8,
    (INTERFACE_STATISTICS, 3): 8,
    **{(INTERFACE_STATISTICS, code): 8 for code in ISB_COUNTERS},
}
DIRECTIONS = {0: None, 1: "inbound", 2: "outbound"}

# Magic number of a classic file: units of a second's fraction, in nanoseconds.
PCAP_MAGIC = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}


class PacketFileError(ValueError):
    """The file does not conform to its format."""


Error = Callable[[str], PacketFileError]
Progress = Callable[[int, int], object]
TOLD_EVERY = 4096
"""Packets between two reports of progress."""


@dataclass
class Interface:
    """An interface of a capture."""

    name: str | None = None
    link_type: int = 101
    snap_length: int = 0
    """Most bytes kept of a packet, 0 for all."""
    speed: int | None = None
    """In bits per second."""
    ticks_per_second: int = 10**6
    offset_s: int = 0
    statistics: dict[str, int] = field(default_factory=dict)

    def nanoseconds(self, ticks: int) -> int:
        """Return the time in nanoseconds since the epoch, rounded down."""
        return ticks * NANOSECONDS // self.ticks_per_second + self.offset_s * NANOSECONDS


@dataclass(frozen=True)
class Record:
    """One captured packet."""

    number: int
    """Counted from 1, as programs that show captures do."""
    time_ns: int
    interface: Interface
    direction: str | None
    """Inbound or outbound, seen from the host that captures."""
    data: bytes
    original_length: int
    end: int
    """Where in the file the next one may begin."""
    comments: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all bytes of the packet were kept."""
        return len(self.data) == self.original_length


def read(path: str | Path, progress: Progress | None = None) -> Iterator[Record]:
    """Read the packets of a file of either format.

    `progress` is told bytes read and bytes of the file, now and then.

    Raises
    ------
    PacketFileError
        At the first thing that the format does not allow.
    """
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        if size < 12:
            raise PacketFileError(f"a file of {size} bytes holds no packets")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    (magic,) = struct.unpack(">I", content[:4])
    if magic == SECTION_HEADER:
        return _told(_Pcapng(content).records(), progress, size)
    for order in "<>":
        (magic,) = struct.unpack(order + "I", content[:4])
        if magic in PCAP_MAGIC:
            return _told(_classic(content, order, PCAP_MAGIC[magic]), progress, size)
    raise PacketFileError(
        f"unknown magic number {content[:4].hex()}, so it is no capture; allowed: pcap, pcapng"
    )


class _Pcapng:
    """A pcapng file being read."""

    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._order = "<"
        self._interfaces: list[Interface] = []
        self._section_end: int | None = None
        self._at = 0

    def records(self) -> Iterator[Record]:
        number = 0
        while self._at < len(self._content):
            kind, body = self._block()
            if kind == SECTION_HEADER:
                self._section(body)
            elif kind == INTERFACE_DESCRIPTION:
                self._interfaces.append(self._interface(body))
            elif kind == ENHANCED_PACKET:
                number += 1
                yield self._packet(number, body)
            elif kind == INTERFACE_STATISTICS:
                self._statistics(body)
            elif kind == SIMPLE_PACKET:
                raise self._error("a simple packet block tells no time")

    def _error(self, text: str) -> PacketFileError:
        return PacketFileError(f"before byte {self._at}: {text}")

    def _block(self) -> tuple[int, bytes]:
        """Return type and body of the next block, and go past it."""
        rest = len(self._content) - self._at
        if rest < 12:
            raise self._error(f"{rest} bytes left are too few for a block")
        header = self._content[self._at : self._at + 12]
        if struct.unpack("<I", header[:4])[0] == SECTION_HEADER:
            orders = [o for o in "<>" if struct.unpack(o + "I", header[8:])[0] == BYTE_ORDER_MAGIC]
            if not orders:
                raise self._error(f"byte-order magic {header[8:].hex()}")
            self._order = orders[0]
            if self._section_end not in (None, self._at):
                raise self._error("a section begins where another has not ended")
            self._section_end = None
        kind, length = struct.unpack(self._order + "II", header[:8])
        if length % 4 or not 12 <= length <= rest:
            raise self._error(f"block length {length} with {rest} bytes left")
        end = self._at + length
        (again,) = struct.unpack(self._order + "I", self._content[end - 4 : end])
        if again != length:
            raise self._error(f"block length {length} is {again} at the block's end")
        body = self._content[self._at + 8 : end - 4]
        self._at = end
        if self._section_end is not None and end > self._section_end:
            raise self._error("a block leaves its section")
        return kind, body

    def _section(self, body: bytes) -> None:
        if len(body) < 16:
            raise self._error("section header cut short")
        _, major, minor, length = struct.unpack(self._order + "IHHQ", body[:16])
        if (major, minor) not in ((1, 0), (1, 2)):
            raise self._error(f"version {major}.{minor}")
        if length != ANY_LENGTH:
            if length % 4 or self._at + length > len(self._content):
                raise self._error(f"section length {length}")
            self._section_end = self._at + length
        self._options(SECTION_HEADER, body[16:])
        self._interfaces = []

    def _interface(self, body: bytes) -> Interface:
        if len(body) < 8:
            raise self._error("interface description cut short")
        link_type, reserved, snap_length = struct.unpack(self._order + "HHI", body[:8])
        if link_type not in LINKS:
            raise self._error(_unread(link_type))
        if reserved:
            raise self._error("reserved field of an interface is not 0")
        interface = Interface(link_type=link_type, snap_length=snap_length)
        for code, value in self._options(INTERFACE_DESCRIPTION, body[8:]):
            if code == IF_NAME:
                interface.name = self._text(value)
            elif code == IF_SPEED:
                (interface.speed,) = struct.unpack(self._order + "Q", value)
            elif code == IF_TSRESOL:
                base, exponent = (2 if value[0] & 0x80 else 10), value[0] & 0x7F
                interface.ticks_per_second = base**exponent
            elif code == IF_TSOFFSET:
                (interface.offset_s,) = struct.unpack(self._order + "q", value)
        return interface

    def _numbered(self, number: int) -> Interface:
        if number >= len(self._interfaces):
            raise self._error(f"interface {number} of {len(self._interfaces)}")
        return self._interfaces[number]

    def _packet(self, number: int, body: bytes) -> Record:
        if len(body) < 20:
            raise self._error("packet block cut short")
        which, high, low, captured, original = struct.unpack(self._order + "5I", body[:20])
        interface = self._numbered(which)
        end = 20 + captured
        padded = end + -captured % 4
        if padded > len(body):
            raise self._error(f"{captured} captured bytes do not fit their block")
        if any(body[end:padded]):
            raise self._error("padding of a packet is not 0")
        _check_lengths(captured, original, interface, self._error)
        comments, direction = [], None
        for code, value in self._options(ENHANCED_PACKET, body[padded:]):
            if code == OPT_COMMENT:
                comments.append(self._text(value))
            elif code == EPB_FLAGS:
                (flags,) = struct.unpack(self._order + "I", value)
                if flags & 3 not in DIRECTIONS:
                    raise self._error(f"direction {flags & 3} of a packet")
                direction = DIRECTIONS[flags & 3]
        return Record(
            number,
            interface.nanoseconds(high << 32 | low),
            interface,
            direction,
            body[20:end],
            original,
            self._at,
            tuple(comments),
        )

    def _statistics(self, body: bytes) -> None:
        if len(body) < 12:
            raise self._error("interface statistics cut short")
        (which,) = struct.unpack(self._order + "I", body[:4])
        interface = self._numbered(which)
        for code, value in self._options(INTERFACE_STATISTICS, body[12:]):
            if code in ISB_COUNTERS:
                (count,) = struct.unpack(self._order + "Q", value)
                interface.statistics[ISB_COUNTERS[code]] = count

    def _options(self, block: int, body: bytes) -> list[tuple[int, bytes]]:
        """Return code and value of each option; an end is wanted if there are any."""
        found: list[tuple[int, bytes]] = []
        if not body:
            return found
        at = 0
        while len(body) - at >= 4:
            code, length = struct.unpack(self._order + "HH", body[at : at + 4])
            at += 4
            if code == OPT_ENDOFOPT:
                if length or at != len(body):
                    raise self._error("bytes follow the end of the options")
                return found
            end = at + length
            padded = end + -length % 4
            if padded > len(body):
                raise self._error(f"option {code} of {length} bytes leaves its block")
            if any(body[end:padded]):
                raise self._error(f"padding of option {code} is not 0")
            if FIXED.get((block, code), length) != length:
                raise self._error(f"option {code} of {length} bytes")
            if code != OPT_COMMENT and (block, code) in FIXED and code in dict(found):
                raise self._error(f"option {code} twice")
            found.append((code, body[at:end]))
            at = padded
        raise self._error("options without an end")

    def _text(self, value: bytes) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise self._error("text that is not UTF-8") from None


def _check_lengths(captured: int, original: int, interface: Interface, error: Error) -> None:
    """A packet is as long as captured, or longer; what is kept obeys the snap length."""
    if captured > original:
        raise error(f"{captured} bytes captured of a packet of {original}")
    if captured > (interface.snap_length or captured):
        raise error(f"{captured} bytes captured where at most {interface.snap_length} are kept")


def _told(records: Iterator[Record], progress: Progress | None, size: int) -> Iterator[Record]:
    for record in records:
        if progress is not None and record.number % TOLD_EVERY == 0:
            progress(record.end, size)
        yield record


def _unread(link_type: int) -> str:
    return f"link type {link_type}, which is none of {', '.join(map(str, sorted(LINKS)))}"


def _classic(content: mmap.mmap, order: str, unit_ns: int) -> Iterator[Record]:
    """Yield the records of a classic pcap file."""
    if len(content) < 24:
        raise PacketFileError("file header cut short")
    major, minor, zone, accuracy, snap_length, link = struct.unpack(
        order + "HHiIII", content[4:24]
    )
    if (major, minor) != (2, 4):
        raise PacketFileError(f"version {major}.{minor}")
    if zone or accuracy:
        raise PacketFileError("reserved fields of the file header are not 0")
    if link not in LINKS:
        raise PacketFileError(_unread(link))
    interface = Interface(None, link, snap_length, None, NANOSECONDS // unit_ns)
    at, number = 24, 0
    while at < len(content):

        def error(text: str, at: int = at) -> PacketFileError:
            return PacketFileError(f"at byte {at}: {text}")

        if len(content) - at < 16:
            raise error("packet header cut short")
        seconds, fraction, captured, original = struct.unpack(order + "4I", content[at : at + 16])
        if fraction >= interface.ticks_per_second:
            raise error(f"fraction of a second {fraction}")
        _check_lengths(captured, original, interface, error)
        data = content[at + 16 : at + 16 + captured]
        if len(data) < captured:
            raise error("packet cut short")
        at += 16 + captured
        number += 1
        time_ns = seconds * NANOSECONDS + fraction * unit_ns
        yield Record(number, time_ns, interface, None, data, original, at)
