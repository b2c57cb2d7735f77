"""A count with its noun, for sentences."""


def counted(count: int, noun: str) -> str:
    """Return a count and a noun, in the plural if the count is not 1.

    >>> counted(1, "packet"), counted(2, "packet")
    ('1 packet', '2 packets')
    """
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
