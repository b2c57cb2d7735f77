"""Link headers that programs such as tcpdump write are taken away, and directions read."""

import struct

import pytest

from builder import pcap, written
from conversations import plain_tcp
from ropewalk import check
from ropewalk.check.link import strip

IP = {4: 0x0800, 6: 0x86DD}
MACS = bytes(range(12))
CLIENT = "10.0.1.1"


def ethernet(packet, tag=b""):
    frame = MACS + tag + struct.pack("!H", IP[packet[0] >> 4]) + packet
    return frame + bytes(max(0, 60 - len(frame)))


def cooked(packet, sent):
    header = struct.pack("!HHH8sH", 4 if sent else 0, 1, 6, MACS[:8], IP[packet[0] >> 4])
    return header + packet


def cooked_2(packet, sent):
    kind = 4 if sent else 0
    return struct.pack("!HHIHBB8s", IP[packet[0] >> 4], 0, 2, 1, kind, 6, MACS[:8]) + packet


LINKS = {
    "Ethernet": (1, lambda packet, sent: ethernet(packet)),
    "Ethernet with a VLAN": (1, lambda packet, sent: ethernet(packet, b"\x81\0\0\7")),
    "cooked": (113, cooked),
    "cooked, version 2": (276, cooked_2),
    "loopback": (0, lambda packet, sent: b"\2\0\0\0" + packet),
}


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("hosts", [None, ("2001:db8:1::1", "2001:db8:9::1")])
def test_a_conversation_below_a_link_header_passes(name, hosts, tmp_path):
    link_type, framed = LINKS[name]
    talk = plain_tcp() if hosts is None else plain_tcp(0, hosts)
    packets = [
        packet | {"damaged": framed(written(packet), not packet["inbound"])} for packet in talk
    ]
    other = {"damaged": MACS + b"\x08\x06" + bytes(28)} if link_type == 1 else None  # ARP
    packets += [packets[-1] | other] if other else []
    path = tmp_path / "made.pcap"
    content = pcap(packets)
    path.write_bytes(content[:20] + struct.pack("<I", link_type) + content[24:])
    report = check.capture(path, pattern=True)
    assert report.violations == []
    assert report.connections[0].unique_bytes == (800, 0)
    assert sum(report.unexamined.values()) == bool(other)


def test_a_cooked_header_tells_the_direction():
    packet = written(plain_tcp()[0])
    for link_type, framed in ((113, cooked), (276, cooked_2)):
        for sent, direction in ((True, "outbound"), (False, "inbound")):
            data = framed(packet, sent)
            assert strip(link_type, data, len(data)) == (packet, len(packet), direction)


@pytest.mark.parametrize("link_type", [0, 1, 113, 276])
def test_what_is_too_short_is_no_ip(link_type):
    assert strip(link_type, b"\2\0\0", 3) is None
