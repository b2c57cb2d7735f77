"""Makes text from files safe for a terminal: control characters are spelled out."""

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


def without_controls(text: str) -> str:
    r"""Leave control characters out, where text is laid out in columns already.

    Examples
    --------
    >>> without_controls("wi-fi\x1b[31m")
    'wi-fi[31m'
    """
    return "".join(each for each in text if not _acts(each))


def _acts(character: str) -> bool:
    return character not in _KEPT and unicodedata.category(character) in ("Cc", "Cs")
