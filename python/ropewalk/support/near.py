"""The known word that a wrong one was meant to be."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.75  # ratio of difflib from which on a word counts as a typing error


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is near enough to be meant; None if all are far.

    Examples
    --------
    >>> nearest("song-2081", ["song-2018", "park-2014"])
    'song-2018'
    >>> nearest("khalili-2012", ["alheid-2016"]) is None
    True
    """
    from difflib import get_close_matches

    plain = word.lower().replace(" ", "").replace("_", "-")
    spelled = {each.lower().replace("_", "-"): each for each in known}
    near = get_close_matches(plain, spelled, n=1, cutoff=ALIKE)
    return spelled[near[0]] if near else None
