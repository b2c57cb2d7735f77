"""Parameters of the two ends of a striped connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

DUP_THRESH = 3
SACK_BLOCKS = 3  # with timestamps (RFC 2018, section 3)
SYN_OPTIONS = 8  # bytes in addition to other segments' options: MSS, SACK permitted, window scale
OF_HANDSHAKE = -1  # number of a packet that is not a segment

Blocks: TypeAlias = tuple[range, ...]


@dataclass(frozen=True)
class Parameters:
    """Parameters of the two ends; sizes in bytes, times in nanoseconds."""

    segment: int
    headers: int
    initial_window: int
    ssthresh: int
    window_segments: int
    ack_every: int
    ack_delay: int
    sack: bool
    limited_transmit: bool
    halve_pipe: bool
    byte_counting: bool
    prr: bool
    grow_in_disorder: bool
    quick_acks: int
