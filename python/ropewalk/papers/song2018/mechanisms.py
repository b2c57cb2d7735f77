"""Song et al. 2018, mechanisms: the virtual network device, and reordering in TCP."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from ...analysis.reproduction import ComparedValue, Reproduction
from ...engines.simulate import simulate
from ..short_runs import ShortRun, reproduction, short_run

LINK = """
[[link]]
name = "{name}"
rate = "8 Mbit/s"
delay = "{delay_ms:g} ms"
queue = "10000 packets"
reverse = {{ rate = "unlimited", delay = "0 ms" }}
"""
STRIPED = """
duration = "100 s"
{links}
[transport]
protocol = "striped-tcp"
device = "naive"
profile = "ns-3"
congestion = "newreno"
scheduler = "round-robin"

[traffic]
kind = "bulk"
size = "1 MB"
"""
PCAP_HEADER, PCAP_PACKET = struct.Struct("<IHHiIII"), struct.Struct("<4I")  # classic pcap
HEADERS_BYTES = 20 + 8  # IP and UDP
UDP = 17
# Delays of three links. A segment of 1500 bytes takes 1.5 ms.
ALIKE_MS = (20, 20, 20)
NEAR_MS = (20, 20, 21)
APART_MS = (60, 20, 20)
POSITIONS = 2  # section 1: displacements that TCP's own resequencing corrects


@dataclass(frozen=True)
class Packet:
    """A captured packet of the sender: source address, protocol and bytes; the inner address."""

    source: bytes
    protocol: int
    outer_bytes: int
    inner_bytes: int
    inner_source: bytes


def reproduce() -> Reproduction:
    """Simulate one TCP connection over three links by the naive device."""
    runs = {
        "equal delays": _run(ALIKE_MS),
        "a link 1 ms slower": _run(NEAR_MS),
        "a link 40 ms slower": _run(APART_MS),
    }
    alike, near, apart = runs.values()
    packets = _captured(alike)
    links = list(dict.fromkeys(each.source for each in packets))
    wrong = sum(links.index(after.source) != (links.index(before.source) + 1) % len(links)
                for before, after in pairwise(packets))  # fmt: skip
    headers = {each.outer_bytes - each.inner_bytes for each in packets}
    return reproduction(
        "song-2018",
        "Song et al. 2018, mechanisms: a virtual network device over three links",
        runs,
        [
            ComparedValue("links that carry packets of the connection", len(links), published=3,
                          band=(3, 3)),
            ComparedValue(f"round robin: of {len(packets)} packets, not on the next link", wrong,
                          published=0, unit="packets", band=(0, 0)),
            ComparedValue("encapsulation: packets that are not UDP",
                          sum(each.protocol != UDP for each in packets), published=0,
                          unit="packets", band=(0, 0)),
            ComparedValue("encapsulation: bytes added to each packet", max(headers),
                          published=HEADERS_BYTES, unit="B",
                          band=(HEADERS_BYTES, HEADERS_BYTES)),
            ComparedValue("encapsulation: addresses of the inner connection's sender",
                          len({each.inner_source for each in packets}), published=1, band=(1, 1)),
            ComparedValue("reordering by at most 2 positions: greatest displacement",
                          _displacement(near), published="1 to 2", unit="segments",
                          band=(1, POSITIONS)),
            ComparedValue("reordering by at most 2 positions: retransmissions",
                          near.retransmitted, published=0, unit="segments", band=(0, 0)),
            ComparedValue("reordering by more: greatest displacement", _displacement(apart),
                          published="above 2", unit="segments", band=(POSITIONS + 1, None)),
            ComparedValue("reordering by more: lost packets", apart.lost, published=0,
                          unit="packets", band=(0, 0)),
            ComparedValue("reordering by more: retransmissions", apart.retransmitted,
                          published="some", unit="segments", band=(1, None)),
            ComparedValue("reordering by more: goodput over the goodput with equal delays",
                          apart.run["goodput_mbps"] / alike.run["goodput_mbps"],
                          published="below 1", unit="times", band=(None, 1)),
        ],
    )  # fmt: skip


def _run(delays_ms: tuple[int, ...]) -> ShortRun:
    links = "".join(LINK.format(name=f"link-{place}", delay_ms=delay)
                    for place, delay in enumerate(delays_ms, start=1))  # fmt: skip
    name = f"delays of {' '.join(map(str, delays_ms))} ms"
    return short_run(name, STRIPED.format(links=links), reordering=True)


def _displacement(done: ShortRun) -> int:
    """Return the greatest number of positions by which a segment arrived late (RFC 4737)."""
    return len(done.run["reordering"]["metrics"]["extents"])


def _captured(done: ShortRun) -> list[Packet]:
    """Return the packets that the sender sent, from a capture without link headers."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sender.pcap"
        simulate(done.scenario, capture=file, capture_at="sender")
        content = file.read_bytes()
    found, place = [], PCAP_HEADER.size
    while place < len(content):
        *_, kept, size = PCAP_PACKET.unpack_from(content, place)
        place += PCAP_PACKET.size
        outer, inner = content[place : place + kept], content[place + HEADERS_BYTES :]
        found.append(
            Packet(outer[12:16], outer[9], size, int.from_bytes(inner[2:4], "big"), inner[12:16])
        )
        place += kept
    return [each for each in found if each.source[:3] == found[0].source[:3]]
