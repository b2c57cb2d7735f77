"""All file formats are read, and packets keep the file's metadata."""

import gzip
import struct
import subprocess
import sys
from collections.abc import Callable

import pytest

from builder import block, block_option, pcap, pcapng, written
from conversations import plain_tcp
from ropewalk.analysis.check.packets import PacketFileError, open_capture, read_packets

PACKETS = plain_tcp()[:3]
END = block_option(0, b"")


def reader_of(tmp_path, content, **arguments):
    path = tmp_path / "file"
    path.write_bytes(content)
    return open_capture(path, **arguments)


def read(tmp_path, content, **arguments):
    return list(read_packets(reader_of(tmp_path, content, **arguments)))


def section(length=(1 << 64) - 1, order="<", version=(1, 0)):
    body = struct.pack(order + "IHHQ", 0x1A2B3C4D, *version, length)
    return block(0x0A0D0D0A, body, order)


def interface(*options, link_type=101, snap_length=0):
    body = struct.pack("<HHI", link_type, 0, snap_length)
    return block(1, body + b"".join(options) + (END if options else b""))


def packet(data=b"1234", *options, which=0, ticks=0, original=None):
    length = len(data) if original is None else original
    fields = (which, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length)
    body = struct.pack("<5I", *fields) + data + bytes(-len(data) % 4)
    return block(6, body + b"".join(options) + (END if options else b""))


@pytest.mark.parametrize("order", "<>")
def test_pcapng_packets_keep_their_metadata(order, tmp_path):
    packets = [
        fields | {"interface": at % 2, "comment": f"no. {at}", "snap": 60 + at}
        for at, fields in enumerate(PACKETS)
    ]
    reader = reader_of(tmp_path, pcapng(packets, ["dsl", "lte"], order))
    found = list(read_packets(reader))
    for at, (record, fields) in enumerate(zip(found, packets, strict=True)):
        assert record.number == at + 1
        assert record.time_ns == fields["time"]
        assert record.interface == ["dsl", "lte"][at % 2]
        assert record.interface_number == at % 2
        assert record.outbound is not fields["inbound"]
        assert record.comments == (f"no. {at}",)
        assert record.is_whole is (60 + at >= len(written(fields)))
    first, second = reader.interfaces
    assert (first.name, second.name) == ("dsl", "lte")
    assert (first.speed, first.link_type) == (10**7, 101)
    assert (first.statistics, second.statistics) == ({"ifrecv": 3}, {})


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("magic", [0xA1B2C3D4, 0xA1B23C4D])
def test_pcap_packets_keep_their_metadata(magic, order, tmp_path):
    found = read(tmp_path, pcap(PACKETS, magic, order))
    for record, fields in zip(found, PACKETS, strict=True):
        assert record.time_ns == fields["time"]
        assert record.outbound is None
        assert record.is_whole
        assert record.segment.sequence == fields["seq"] % (1 << 32)


def test_segment_has_the_fields_of_its_header(tmp_path):
    fields = plain_tcp()[4]
    (record,) = read(tmp_path, pcap([fields]))
    segment = record.segment
    for end, wanted in (
        (segment.source, fields["source"]),
        (segment.destination, fields["destination"]),
    ):
        assert (str(end[0]), end[1]) == wanted
    assert segment.payload == fields["payload"]
    assert segment.length == len(fields["payload"])
    assert segment.window == fields["window"]
    assert (segment.checksum, segment.checksum_error) == ("right", 0)
    assert (record.ip_checksum, record.udp_checksum) == ("right", "none")
    assert segment.has(0x10)
    assert not segment.has(0x02)
    assert (record.identification, record.hop_limit, record.skipped) == (0, 64, None)


def test_wrong_checksum_is_reported_with_its_difference(tmp_path):
    packets = [fields | {"checksum_error": 1, "ip_checksum_error": 1} for fields in PACKETS]
    for record in read(tmp_path, pcap(packets)):
        assert (record.ip_checksum, record.segment.checksum) == ("wrong", "wrong")
        assert {record.ip_checksum_error, record.segment.checksum_error} <= {1, 0xFFFE}


def test_directions_of_a_flow_have_numbers(tmp_path):
    first, back = (record.segment for record in read(tmp_path, pcap(PACKETS[:2])))
    assert (first.flow, first.reverse_flow) == (back.reverse_flow, back.flow)
    assert first.flow != back.flow
    assert first.source is back.destination


def test_local_addresses_determine_directions(tmp_path):
    content = pcap(PACKETS[:2])
    (source, _) = read(tmp_path, content)[0].segment.source
    found = read(tmp_path, content, local=[source])
    assert [record.outbound for record in found] == [True, False]


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
def test_packet_time_uses_the_interface_resolution(options, ticks, time_ns, tmp_path):
    (record,) = read(tmp_path, section() + interface(*options) + packet(ticks=ticks))
    assert record.time_ns == time_ns


def test_unknown_blocks_and_options_are_passed_over(tmp_path):
    unknown = block(0x0BAD, b"12345") + block(4, bytes(4)) + block(10, bytes(8))
    options = [block_option(99, b"x"), block_option(1, b"a"), block_option(1, b"b")]
    data = written(PACKETS[0])
    content = section() + unknown + interface() + packet(data, *options) + unknown
    (record,) = read(tmp_path, content)
    assert record.segment is not None
    assert record.comments == ("a", "b")


def test_a_simple_packet_has_the_time_before_it_and_the_snap_length(tmp_path):
    data = written(PACKETS[0])
    simple = block(3, struct.pack("<I", len(data)) + data[:52])
    content = section() + interface(snap_length=52) + packet(data, ticks=7) + simple
    (_, record) = read(tmp_path, content)
    assert (record.time_ns, record.is_whole) == (7000, False)


def test_a_new_section_has_new_interfaces(tmp_path):
    first = interface(block_option(2, b"one")) + packet()
    second = interface(block_option(2, b"two")) + packet()
    found = read(tmp_path, section(len(first)) + first + section() + second)
    assert [record.interface for record in found] == ["one", "two"]
    assert [record.interface_number for record in found] == [0, 1]
    assert [record.number for record in found] == [1, 2]


def test_text_that_is_not_utf_8_is_kept_as_far_as_it_can_be(tmp_path):
    content = section() + interface() + packet(b"", block_option(1, b"a\xff"))
    (record,) = read(tmp_path, content)
    assert record.comments == ("a\N{REPLACEMENT CHARACTER}",)


def test_a_file_that_ends_within_a_packet_is_read_to_there(tmp_path):
    for content in (pcap(PACKETS), pcapng(PACKETS, ["dsl"])):
        whole = read(tmp_path, content)
        reader = reader_of(tmp_path, content[:-20])
        assert not reader.ends_within_packet
        found = list(read_packets(reader))
        assert len(whole) - 1 <= len(found) <= len(whole)
        assert reader.ends_within_packet


def test_gzip_and_standard_input_are_read(tmp_path):
    compressed = gzip.compress(pcap(PACKETS))
    assert len(read(tmp_path, compressed)) == len(PACKETS)
    script = (
        "from ropewalk.analysis.check.packets import *;"
        "print(sum(1 for _ in read_packets(open_capture('-'))))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, input=compressed, capture_output=True, check=True)
    assert done.stdout.strip() == str(len(PACKETS)).encode()


def test_progress_ends_with_the_size_of_the_file(tmp_path):
    content = pcap(PACKETS)
    text = []
    list(read_packets(reader_of(tmp_path, content), lambda *figures: text.append(figures)))
    assert text == [(len(content), len(content))]


def good(length: int = 4) -> bytes:
    return section() + interface() + packet(bytes(length))


def changed(content: bytes, at: int, value: bytes) -> bytes:
    return content[:at] + value + content[at + len(value) :]


WRONG: dict[str, Callable[[], bytes]] = {
    "0 bytes are too short for a capture file": lambda: b"",
    "20 bytes are too short for a capture file": lambda: pcap([])[:20],
    "magic number 00000000, so it is no capture; allowed: pcap, pcapng": lambda: bytes(24),
    "no block of the format": lambda: changed(good(), 8, bytes(4)),
    "lengths of the block contradict": lambda: changed(good(), 32, struct.pack("<I", 8)),
    "interface 1 of 1": lambda: section() + interface() + packet(which=1),
    "interface 0 of 0": lambda: section() + packet(),
    "if_tsresol 0x7f of an interface": lambda: section() + interface(block_option(9, b"\x7f")),
    "pcap version 3.4; allowed: 2.x": lambda: changed(pcap([]), 4, b"\x03"),
}


@pytest.mark.parametrize("expected", WRONG)
def test_malformed_file_is_an_error(expected, tmp_path):
    with pytest.raises(PacketFileError, match=expected):
        read(tmp_path, WRONG[expected]())


def test_packets_before_an_error_are_returned(tmp_path):
    reader = reader_of(tmp_path, good() + packet(which=9))
    assert len(reader.read(10)) == 1
    with pytest.raises(PacketFileError, match="before byte 120: interface 9 of 1"):
        reader.read(10)
    assert reader.read(10) == []
