"""The checksum of IP, TCP, UDP and DSS (RFC 1071): a sum of 16-bit words, carries added.

Adding a carry at the right is arithmetic modulo 0xFFFF, so a whole packet is one long
number with one remainder.
"""

MODULUS = 0xFFFF


def word_sum(data: bytes) -> int:
    """Return the sum of the words; an odd last byte is a word's left half.

    >>> hex(word_sum(bytes.fromhex("0001f203f4f5f6f7")))  # the example of RFC 1071
    '0xddf2'
    """
    number = int.from_bytes(data, "big")
    return folded(number << 8 if len(data) % 2 else number)


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
