"""What the models accept: finite numbers within bounds, and why another is refused."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector = NDArray[np.float64]


def number(
    name: str,
    value: float,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> float:
    """Return a finite number that keeps its bounds.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : float
        What was given.
    above, least, below, most : float, optional
        The bounds: ``above < value``, ``least <= value``, ``value < below``,
        ``value <= most``.

    Returns
    -------
    float
        The value.

    Raises
    ------
    ValueError
        It is no number, not finite, or out of bounds.

    Examples
    --------
    >>> number("loss", 0.01, above=0, below=1)
    0.01
    >>> number("loss", 1, above=0, below=1)
    Traceback (most recent call last):
    ValueError: loss is 1: must be a finite number above 0 and below 1
    """
    return float(numbers(name, value, 1, above=above, least=least, below=below, most=most)[0])


def numbers(
    name: str,
    values: ArrayLike,
    count: int | None = None,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
) -> Vector:
    """Return finite numbers that keep their bounds, one for each of `count`.

    Parameters
    ----------
    name : str
        What the caller calls them.
    values : array_like, shape (count,) or scalar
        What was given; a scalar stands for all.
    count : int, optional
        How many are needed; as many as given, but at least one, if left out.
    above, least, below, most : float, optional
        Bounds of each, as in `number`.

    Returns
    -------
    numpy.ndarray, shape (count,)
        The values, in an array of their own.

    Raises
    ------
    ValueError
        One is no number, not finite or out of bounds, or there are too many or
        too few of them.

    Examples
    --------
    >>> numbers("rtt", 0.1, 2, above=0)
    array([0.1, 0.1])
    >>> numbers("rtt", [0.1, 0], above=0)
    Traceback (most recent call last):
    ValueError: rtt[1] is 0: must be a finite number above 0
    """
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (
            ("above", above),
            ("at least", least),
            ("below", below),
            ("at most", most),
        )
        if bound is not None
    ]
    allowed = " ".join(["must be a finite number", " and ".join(bounds)]).rstrip()
    try:
        given = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {values!r}: {allowed}") from None
    each = np.atleast_1d(given)
    if each.ndim != 1 or not each.size:
        raise ValueError(f"{name} has shape {given.shape}: must be a scalar or a list of numbers")
    wrong = ~np.isfinite(each)
    if above is not None:
        wrong |= ~(each > above)
    if least is not None:
        wrong |= ~(each >= least)
    if below is not None:
        wrong |= ~(each < below)
    if most is not None:
        wrong |= ~(each <= most)
    if wrong.any():
        first = int(np.argmax(wrong))
        which = f"[{first}]" if given.ndim else ""
        raise ValueError(f"{name}{which} is {each[first]:g}: {allowed}")
    if count is None or each.size == count:
        return each
    if given.ndim:
        raise ValueError(f"{name} has {each.size} entries: must have {count}, or be a scalar")
    return np.full(count, each[0])


def whole(name: str, value: float, *, least: int) -> int:
    """Return a whole number that is at least `least`.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : float
        What was given.
    least : int
        The smallest that is allowed.

    Returns
    -------
    int
        The value.

    Raises
    ------
    ValueError
        It is no whole number, or too small.

    Examples
    --------
    >>> whole("packets", 2.5, least=1)
    Traceback (most recent call last):
    ValueError: packets is 2.5: must be a whole number of at least 1
    """
    checked = number(name, value, least=least)
    if checked != int(checked):
        raise ValueError(f"{name} is {value:g}: must be a whole number of at least {least}")
    return int(checked)
