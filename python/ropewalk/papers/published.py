"""Published numbers of the papers."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published(paper: str) -> dict[str, Any]:
    """Return what a paper states, as ``published.toml`` has it.

    Parameters
    ----------
    paper : str
        Its key, such as ``"song-2018"``.

    Returns
    -------
    dict
        ``citation``, and a table for each item.

    Raises
    ------
    KeyError
        There is no such paper.

    Examples
    --------
    >>> published("elahi-2011")["table1"]["rows"][0]["experimental"]
    567
    """
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    paper_facts: dict[str, Any] = tomllib.loads(text)[paper]
    return paper_facts


def printed_digits(number: float) -> int:
    """Return how many digits after the point a number is printed with.

    Examples
    --------
    >>> printed_digits(572.74), printed_digits(286.3), printed_digits(567)
    (2, 1, 0)
    """
    return len(str(number).partition(".")[2])
