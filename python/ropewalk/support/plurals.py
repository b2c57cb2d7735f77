"""A count with its noun, for sentences."""


def count_noun(count: int, noun: str) -> str:
    """Return a count and a noun, in the plural if the count is not 1.

    >>> count_noun(1, "packet"), count_noun(2, "packet")
    ('1 packet', '2 packets')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
