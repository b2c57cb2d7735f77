"""Internet checksum of IP, TCP, UDP and DSS (RFC 1071): 16-bit ones' complement sum.

Ones' complement addition is arithmetic modulo 0xFFFF, where 2 ** 16 is 1. So a packet is taken as
one long number, and its upper half is shifted right by whole words and added to the lower.
"""

MODULUS = 0xFFFF
SMALL = 1024
"""Number of bits below which halving does not pay."""


def word_sum(data: bytes) -> int:
    """Return the sum of 16-bit words; an odd last byte is the upper half of a word.

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
    return fold_carries(number)


def fold_carries(total: int) -> int:
    """Return a sum with its carries added; it is 0 only for all-zero data.

    >>> fold_carries(0x1FFFE), fold_carries(0)
    (65535, 0)
    """
    return total % MODULUS or (MODULUS if total else 0)


def checksum(total: int) -> int:
    """Return the checksum field for a sum taken with that field 0.

    >>> hex(checksum(0xDDF2))
    '0x220d'
    """
    return MODULUS - fold_carries(total)


def is_valid(total: int) -> bool:
    """Return whether a sum that includes the checksum field is that of intact data.

    >>> is_valid(0xDDF2 + 0x220D), is_valid(0xDDF2)
    (True, False)
    """
    return fold_carries(total) == MODULUS
