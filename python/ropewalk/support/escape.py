"""Escaping of control characters in text from files, for a terminal."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"


def printable(text: str) -> str:
    r"""Return a text with control characters escaped, except for line breaks and tabs.

    Examples
    --------
    >>> print(printable("wi-fi\x1b[31m: no such link"))
    wi-fi\x1b[31m: no such link
    """
    return "".join(repr(each)[1:-1] if _acts(each) else each for each in text)


def strip_controls(text: str) -> str:
    r"""Remove control characters from text that is already laid out in columns.

    Examples
    --------
    >>> strip_controls("wi-fi\x1b[31m")
    'wi-fi[31m'
    """
    return "".join(each for each in text if not _acts(each))


def _acts(character: str) -> bool:
    return character not in _KEPT and unicodedata.category(character) in ("Cc", "Cs")
