"""The checksum is that of RFC 1071, word by word."""

from hypothesis import given
from hypothesis import strategies as st

from ropewalk.analysis.check.checksum import checksum, is_valid, word_sum


def by_words(data: bytes) -> int:
    """Compute the checksum as in section 4.1 of RFC 1071."""
    total = 0
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big")
        total = (total & 0xFFFF) + (total >> 16)
    return total


@given(st.binary(max_size=3000))
def test_checksum_is_the_sum_of_the_words(data):
    assert word_sum(data) == by_words(data)


@given(st.binary(max_size=3000).filter(lambda data: len(data) % 2 == 0))
def test_data_with_its_checksum_verifies(data):
    field = checksum(word_sum(data)).to_bytes(2, "big")
    assert is_valid(word_sum(data + field))


@given(st.binary(min_size=2, max_size=3000), st.integers(0), st.integers(1, 255))
def test_a_changed_byte_is_found(data, place, change):
    place %= len(data)
    changed = data[:place] + bytes([data[place] ^ change]) + data[place + 1 :]
    field = checksum(word_sum(data))
    assert not is_valid(word_sum(changed) + field)
