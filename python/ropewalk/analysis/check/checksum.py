"""The checksum of IP, TCP, UDP and DSS (RFC 1071): a sum of 16-bit words, carries added.

Adding a carry at the right is arithmetic modulo 0xFFFF, where 2 ** 16 is 1: a packet is one long
number, and half of it shifted right by whole words may be added to the rest.
"""

MODULUS = 0xFFFF
SMALL = 1024
"""Bits that are not worth halving."""


def word_sum(data: bytes) -> int:
    """Return the sum of the words; an odd last byte is a word's left half.

    >>> hex(word_sum(bytes.fromhex("0001f203f4f5f6f7")))  # the example of RFC 1071
    '0xddf2'
    """
    number = int.from_bytes(data, "big")
    if len(data) % 2:
        number <<= 8
    bits = 8 * len(data)
    while bits > SMALL:
        half = (bits // 32 + 1) * 16
        number = (number & ((1 << half) - 1)) + (number >> half)
        bits = half + 16
    return folded(number)


def folded(total: int) -> int:
    """Return a sum with its carries added; it is 0 only if all that was added is 0.

    >>> folded(0x1FFFE), folded(0)
    (65535, 0)
    """
    return total % MODULUS or (MODULUS if total else 0)


def checksum(total: int) -> int:
    """Return the field that goes with a sum taken while the field was 0.

    >>> hex(checksum(0xDDF2))
    '0x220d'
    """
    return MODULUS - folded(total)


def is_right(total: int) -> bool:
    """Whether a sum over all words, the field included, is that of intact data.

    >>> is_right(0xDDF2 + 0x220D), is_right(0xDDF2)
    (True, False)
    """
    return folded(total) == MODULUS
