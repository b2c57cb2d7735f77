"""Rounds of a simulated striped connection, from captures at both ends."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...engines.simulate import simulate
from .striped import Striped

FILE_HEADER, RECORD_HEADER = 24, struct.Struct("<IIII")
IPV4, UDP = 20, 8  # headers around the TCP packet
SNAPLEN = 128
CLIENT = 10  # first byte of the sender's addresses


@dataclass(frozen=True)
class Rounds:
    """Rounds of section 4.1: each begins with an acknowledgement of new data.

    Attributes
    ----------
    segments : numpy.ndarray of int, shape (rounds,)
        Data segments sent in the round, C.
    first : numpy.ndarray of bool, shape (rounds,)
        Whether the first of them is the first to arrive.
    link : numpy.ndarray of int, shape (rounds,)
        Link of the first segment, from zero.
    together : numpy.ndarray of bool, shape (rounds,)
        Whether all segments leave at once, not some of them at later duplicate acknowledgements.
    """

    segments: NDArray[np.int64]
    first: NDArray[np.bool_]
    link: NDArray[np.int64]
    together: NDArray[np.bool_]


@dataclass(frozen=True)
class Packet:
    """A captured packet of a striped connection; the time has microseconds."""

    time_us: int
    by_client: bool
    link: int
    number: int
    ack: int
    payload: int


def rounds_of(one: Striped, seed: int) -> Rounds:
    """Simulate a transfer and split it into rounds.

    The handshake, rounds without a segment and segments in flight at the end are left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        sent, received = (
            list(_captured(one, seed, end, Path(folder))) for end in ("sender", "receiver")
        )
    arrivals = {
        (packet.link, packet.number): place
        for place, packet in enumerate(received)
        if packet.by_client and packet.payload
    }
    found = []
    for segments in _rounds(sent):
        keys = [(segment.link, segment.number) for segment in segments]
        if all(key in arrivals for key in keys):  # else the run ended before
            places = [arrivals[key] for key in keys]
            together = segments[0].time_us == segments[-1].time_us
            found.append((len(segments), places[0] == min(places), segments[0].link, together))
    columns = (np.array(column) for column in zip(*found, strict=True))
    return Rounds(*columns)


def _rounds(sent: list[Packet]) -> Iterator[list[Packet]]:
    """Yield the data segments of each round at the sender."""
    acknowledged = None
    segments: list[Packet] = []
    for packet in sent:
        if packet.by_client:
            if packet.payload:
                segments.append(packet)
        elif acknowledged is None or 0 < (packet.ack - acknowledged) % 2**32 < 2**31:
            if segments:
                yield segments
            acknowledged, segments = packet.ack, []
    if segments:
        yield segments


def _captured(one: Striped, seed: int, end: str, folder: Path) -> Iterator[Packet]:
    file = folder / f"{end}.pcap"
    simulate(one.scenario(), seed=seed, capture=file, capture_at=end, snaplen=SNAPLEN)
    return packets(file.read_bytes())


def packets(capture: bytes) -> Iterator[Packet]:
    """Read a classic capture of a striped connection: TCP in UDP datagrams, over IPv4."""
    at = FILE_HEADER
    while at < len(capture):
        seconds, micros, kept, _ = RECORD_HEADER.unpack_from(capture, at)
        at += RECORD_HEADER.size
        tcp = at + IPV4 + UDP + IPV4
        by_client = capture[at + 12] == CLIENT
        inner_length = int.from_bytes(capture[tcp - 18 : tcp - 16])
        yield Packet(
            time_us=seconds * 1_000_000 + micros,
            by_client=by_client,
            # The last byte of the client's address counts its paths from one.
            link=capture[at + (15 if by_client else 19)] - 1,
            number=int.from_bytes(capture[at + 4 : at + 6]),
            ack=int.from_bytes(capture[tcp + 8 : tcp + 12]),
            payload=inner_length - IPV4 - 4 * (capture[tcp + 12] >> 4),
        )
        at += kept
