"""Published numbers, read from ``published.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published(paper: str) -> dict[str, Any]:
    """Return a paper's statements: ``citation``, and a table for each item.

    Raises KeyError for an unknown paper.

    Examples
    --------
    >>> published("elahi-2011")["table1"]["rows"][0]["experimental"]
    567
    """
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    paper_facts: dict[str, Any] = tomllib.loads(text)[paper]
    return paper_facts


def printed_digits(number: float) -> int:
    """Return the number of printed digits after the decimal point.

    Examples
    --------
    >>> printed_digits(572.74), printed_digits(286.3), printed_digits(567)
    (2, 1, 0)
    """
    return len(str(number).partition(".")[2])
