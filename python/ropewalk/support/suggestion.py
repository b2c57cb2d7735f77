"""Suggestions for mistyped words."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.75  # difflib ratio from which two words count as similar


def closest_match(word: str, known: Iterable[str]) -> str | None:
    """Return the most similar known word, or None if no word is similar.

    Examples
    --------
    >>> closest_match("song-2081", ["song-2018", "park-2014"])
    'song-2018'
    >>> closest_match("khalili-2012", ["alheid-2016"]) is None
    True
    """
    from difflib import get_close_matches

    plain = word.lower().replace(" ", "").replace("_", "-")
    spelled = {each.lower().replace("_", "-"): each for each in known}
    near = get_close_matches(plain, spelled, n=1, cutoff=ALIKE)
    return spelled[near[0]] if near else None
