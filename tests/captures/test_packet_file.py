"""Files are read as pcapng and pcap say, or not at all."""

import struct
from collections.abc import Callable

import pytest

from builder import block, block_option, pcap, pcapng, written
from conversations import plain_tcp
from ropewalk.check.files import PacketFileError, read

PACKETS = plain_tcp()[:3]
END = block_option(0, b"")


def records(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    return list(read(path))


def section(length=(1 << 64) - 1, order="<", version=(1, 0)):
    body = struct.pack(order + "IHHQ", 0x1A2B3C4D, *version, length)
    return block(0x0A0D0D0A, body, order)


def interface(*options, link_type=101, reserved=0, snap_length=0):
    body = struct.pack("<HHI", link_type, reserved, snap_length)
    return block(1, body + b"".join(options) + (END if options else b""))


def packet(data=b"1234", *options, which=0, ticks=0, original=None, end=END):
    length = len(data) if original is None else original
    fields = (which, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length)
    body = struct.pack("<5I", *fields) + data + bytes(-len(data) % 4)
    return block(6, body + b"".join(options) + (end if options else b""))


@pytest.mark.parametrize("order", "<>")
def test_pcapng_tells_all_of_its_packets(order, tmp_path):
    packets = [
        fields | {"interface": at % 2, "comment": f"no. {at}", "snap": 40 + at}
        for at, fields in enumerate(PACKETS)
    ]
    found = records(tmp_path, pcapng(packets, ["dsl", "lte"], order))
    for at, (record, fields) in enumerate(zip(found, packets, strict=True)):
        assert record.number == at + 1
        assert record.time_ns == fields["time"]
        assert record.interface.name == ["dsl", "lte"][at % 2]
        assert record.interface.speed == 10**7
        assert record.direction == ("inbound" if fields["inbound"] else "outbound")
        assert record.comments == (f"no. {at}",)
        assert record.data == written(fields)[: 40 + at]
        assert record.original_length == len(written(fields))
        assert not record.is_whole
    assert found[0].interface.statistics == {"ifrecv": 3}


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_pcap_tells_all_of_its_packets(magic, order, tmp_path):
    found = records(tmp_path, pcap(PACKETS, magic, order))
    for record, fields in zip(found, PACKETS, strict=True):
        assert record.time_ns == fields["time"]
        assert record.direction is None
        assert record.data == written(fields)
        assert record.is_whole


@pytest.mark.parametrize(
    ("options", "ticks", "time_ns"),
    [
        ([], 1_500_000, 1_500_000_000),
        ([block_option(9, b"\x09")], 5, 5),
        ([block_option(9, b"\x03")], 5, 5_000_000),
        ([block_option(9, b"\x0c")], 5_999, 5),
        ([block_option(9, b"\x8a")], 1 << 9, 500_000_000),
        ([block_option(14, struct.pack("<q", -2))], 3_000_000, 10**9),
        ([block_option(9, b"\x09")], (7 << 32) + 1, (7 << 32) + 1),
    ],
)
def test_time_is_counted_as_the_interface_says(options, ticks, time_ns, tmp_path):
    (record,) = records(tmp_path, section() + interface(*options) + packet(ticks=ticks))
    assert record.time_ns == time_ns


def test_unknown_blocks_and_options_are_passed_over(tmp_path):
    unknown = block(0x0BAD, b"12345") + block(4, bytes(4))
    options = [block_option(99, b"x"), block_option(1, b"a"), block_option(1, b"b")]
    content = section() + unknown + interface() + packet(b"123", *options) + unknown
    (record,) = records(tmp_path, content)
    assert record.data == b"123"
    assert record.comments == ("a", "b")


def test_a_new_section_has_new_interfaces(tmp_path):
    first = interface(block_option(2, b"one")) + packet()
    second = interface(block_option(2, b"two")) + packet()
    found = records(tmp_path, section(len(first)) + first + section() + second)
    assert [record.interface.name for record in found] == ["one", "two"]
    assert [record.number for record in found] == [1, 2]


def good(length: int = 4) -> bytes:
    return section() + interface() + packet(bytes(length))


def changed(content: bytes, at: int, value: bytes) -> bytes:
    return content[:at] + value + content[at + len(value) :]


FLAGS = struct.pack("<I", 3)
WRONG: dict[str, Callable[[], bytes]] = {
    "holds no packets": lambda: b"",
    "allowed: pcap, pcapng": lambda: bytes(24),
    "byte-order magic": lambda: changed(good(), 8, bytes(4)),
    "version 2.0": lambda: section(version=(2, 0)),
    "too few for a block": lambda: good() + bytes(8),
    "block length 30": lambda: changed(good(), 4, struct.pack("<I", 30)),
    "block length 28 is 32 at": lambda: changed(good(), 24, struct.pack("<I", 32)),
    "a block leaves its section": lambda: section(24) + interface() + packet(),
    "a section begins where another": lambda: section(48) + interface() + section() + bytes(40),
    "section length 400": lambda: section(400) + interface(),
    "section header cut short": lambda: block(0x0A0D0D0A, struct.pack("<IHH", 0x1A2B3C4D, 1, 0)),
    "link type 127, which is none of": lambda: section() + interface(link_type=127),
    "reserved field of an interface": lambda: section() + interface(reserved=1),
    "interface 1 of 1": lambda: section() + interface() + packet(which=1),
    "interface 0 of 0": lambda: section() + packet(),
    "a simple packet block tells no time": lambda: section() + interface() + block(3, bytes(8)),
    "captured bytes do not fit": lambda: (
        section() + interface() + block(6, bytes(12) + b"\x09" * 8)
    ),
    "packet block cut short": lambda: section() + interface() + block(6, bytes(16)),
    "4 bytes captured of a packet of 3": lambda: section() + interface() + packet(original=3),
    "where at most 2 are kept": lambda: section() + interface(snap_length=2) + packet(),
    "padding of a packet is not 0": lambda: changed(good(3), 28 + 20 + 31, b"\x01"),
    "options without an end": lambda: good() + packet(b"", block_option(1, b"x"), end=b""),
    "bytes follow the end": lambda: good() + packet(b"", END, block_option(1, b"x")),
    "option 2 of 2 bytes": lambda: good() + packet(b"", block_option(2, b"xy")),
    "option 2 twice": lambda: good() + packet(b"", *[block_option(2, bytes(4))] * 2),
    "direction 3 of a packet": lambda: good() + packet(b"", block_option(2, FLAGS)),
    "leaves its block": lambda: good() + packet(b"", b"\x01\x00\x09\x00"),
    "padding of option 1": lambda: good() + packet(b"", b"\x01\x00\x01\x00xy\0\0"),
    "not UTF-8": lambda: good() + packet(b"", block_option(1, b"\xff")),
    "option 9 of 2 bytes": lambda: section() + interface(block_option(9, b"\1\1")),
    "interface statistics cut short": lambda: good() + block(5, bytes(8)),
    "file header cut short": lambda: pcap([])[:20],
    "version 2.3": lambda: changed(pcap([]), 6, b"\x03"),
    "reserved fields of the file header": lambda: changed(pcap([]), 8, b"\x01"),
    "link type 105, which is none of": lambda: changed(pcap([]), 20, b"\x69"),
    "packet header cut short": lambda: pcap(PACKETS) + bytes(8),
    "packet cut short": lambda: pcap(PACKETS)[:-1],
    "fraction of a second 1000000": lambda: changed(
        pcap(PACKETS, 0xA1B2C3D4), 28, struct.pack("<I", 10**6)
    ),
    "bytes captured of a packet of 0": lambda: changed(pcap(PACKETS), 36, bytes(4)),
}


@pytest.mark.parametrize("expected", WRONG)
def test_what_the_format_forbids_is_an_error(expected, tmp_path):
    with pytest.raises(PacketFileError, match=expected):
        records(tmp_path, WRONG[expected]())
