"""Payload of Ropewalk's runs: at each multiple of 8 bytes, the offset as a 64-bit number."""

import sys
from array import array

from .connections import PlacedPacket
from .rules import Tcp


def pattern(start: int, length: int) -> bytes:
    """Return the pattern's bytes at an offset.

    >>> pattern(6, 12).hex()
    '000000000000000000080000'
    """
    first = start // 8 * 8
    words = array("Q", range(first, start + length, 8))
    if sys.byteorder == "little":
        words.byteswap()
    return words.tobytes()[start - first : start - first + length]


def check_pattern(placed: PlacedPacket, data: bytes, start: int) -> None:
    """Check that bytes at an offset match the pattern."""
    wanted = pattern(start, len(data))
    if data != wanted:
        differs = next(at for at in range(len(data)) if data[at] != wanted[at])
        placed.fault(Tcp.PATTERN, f"payload is not the pattern at offset {start + differs}")
