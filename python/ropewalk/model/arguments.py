"""Argument checks of the models: numbers and arrays within bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Array of any shape."""
Vector: TypeAlias = NDArray[np.float64]
"""Array with one axis."""
Formula = TypeVar("Formula", bound=Callable[..., float])


def number(
    name: str,
    value: float,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    note: str = "",
) -> float:
    """Return a finite number within bounds.

    The bounds are ``above < value``, ``least <= value``, ``value < below``, ``value <= most``.
    `name` is for errors, and `note` adds to them: a unit, or the source of a bound.

    Examples
    --------
    >>> number("loss", 0.01, above=0, below=1)
    0.01
    >>> number("loss", 1, above=0, below=1)
    Traceback (most recent call last):
    ValueError: loss is 1: must be a finite number above 0 and below 1
    """
    checked = array(name, value, above=above, least=least, below=below, most=most, note=note)
    return float(_alone(name, checked))


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
    """Return finite numbers within the bounds of `number`, one for each of `count`.

    A scalar applies to all. By default `count` is the number of `values`, at least one.

    Examples
    --------
    >>> numbers("rtt", 0.1, 2, above=0)
    array([0.1, 0.1])
    >>> numbers("rtt", [0.1, 0], above=0)
    Traceback (most recent call last):
    ValueError: rtt[1] is 0: must be a finite number above 0
    """
    given = array(name, values, above=above, least=least, below=below, most=most)
    if given.ndim > 1 or not given.size:
        raise ValueError(f"{name} has shape {given.shape}: must be a scalar or a list of numbers")
    if not given.ndim:
        return np.full(count or 1, given)
    if count is not None and given.size != count:
        raise ValueError(f"{name} has {given.size} entries: must have {count}, or be a scalar")
    return given.copy()


def array(
    name: str,
    values: ArrayLike,
    *,
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    note: str = "",
) -> Floats:
    """Return finite numbers within the bounds of `number`, in any shape; doubles are not copied.

    Examples
    --------
    >>> array("delay", [[0.1, 0.2], [0.3, -1.0]], least=0)
    Traceback (most recent call last):
    ValueError: delay[1, 1] is -1: must be a finite number of at least 0
    """
    allowed = _allowed("finite", above, least, below, most, note)
    given = _doubles(name, values, allowed)
    good = np.isfinite(given)
    if above is not None:
        good &= given > above
    if least is not None:
        good &= given >= least
    if below is not None:
        good &= given < below
    if most is not None:
        good &= given <= most
    _demand(name, given, good, allowed)
    return given


def whole(
    name: str, value: float, *, least: int = 1, most: int | None = None, note: str = ""
) -> int:
    """Return a whole number within bounds; `note` is as in `number`.

    Examples
    --------
    >>> whole("packets", 2.5)
    Traceback (most recent call last):
    ValueError: packets is 2.5: must be a whole number of at least 1
    """
    return int(_alone(name, wholes(name, value, least=least, most=most, note=note)))


def wholes(
    name: str, values: ArrayLike, *, least: int = 1, most: int | None = None, note: str = ""
) -> Floats:
    """Return whole numbers within bounds, in any shape, as doubles.

    Examples
    --------
    >>> wholes("position", [1, 0])
    Traceback (most recent call last):
    ValueError: position[1] is 0: must be a whole number of at least 1
    """
    allowed = _allowed("whole", None, least, None, most, note)
    given = _doubles(name, values, allowed)
    good = np.isfinite(given) & (given == np.floor(given)) & (given >= least)
    if most is not None:
        good &= given <= most
    if isinstance(values, bool):
        raise ValueError(f"{name} is {values}: {allowed}")
    _demand(name, given, good, allowed)
    return given


def choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise an error if a value is not one of `allowed`.

    Examples
    --------
    >>> choice("queue", "long", ("printed", "own"))
    Traceback (most recent call last):
    ValueError: queue is 'long': must be 'printed' or 'own'
    """
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}: must be {' or '.join(map(repr, allowed))}")


def elementwise(formula: Formula) -> Formula:
    """Extend a formula of numbers to arrays, which broadcast: one result per element.

    Numbers alone give a number. The error for an array's element names its value.

    Examples
    --------
    >>> @elementwise
    ... def square(of: float) -> float:
    ...     return number("of", of, least=0) ** 2
    >>> square(3), square(np.array([1.0, 2.0])).tolist(), square([]).tolist()
    (9.0, [1.0, 4.0], [])
    """

    @wraps(formula)
    def over(*given: Any, **named: Any) -> Any:
        if not any(np.ndim(each) > 0 for each in (*given, *named.values())):
            return formula(*given, **named)
        shapes = np.broadcast(*given, *named.values())
        found = np.empty(shapes.shape)
        for at, values in enumerate(shapes):
            rest = dict(zip(named, values[len(given) :], strict=True))
            found.flat[at] = formula(*values[: len(given)], **rest)
        return found

    return cast(Formula, over)


def shared_shape(**arrays: Floats) -> tuple[int, ...]:
    """Return the shape to which the named scenarios broadcast.

    Examples
    --------
    >>> shared_shape(segments=np.ones(3), count=np.ones(2))
    Traceback (most recent call last):
    ValueError: segments and count are for scenarios (3,) and (2,): must broadcast
    """
    shapes = [each.shape for each in arrays.values()]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(
            f"{' and '.join(arrays)} are for scenarios {' and '.join(map(str, shapes))}: "
            "must broadcast"
        ) from None


def _doubles(name: str, values: ArrayLike, allowed: str) -> Floats:
    try:
        given = np.asarray(values)
        if given.dtype.kind in "USc":  # NumPy reads text as numbers, and drops imaginary parts
            raise TypeError
        return given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is {values!r}: {allowed}") from None


def _alone(name: str, checked: Floats) -> Floats:
    if checked.ndim:
        raise ValueError(f"{name} has shape {checked.shape}: must be one number")
    return checked


def _allowed(
    kind: str,
    above: float | None,
    least: float | None,
    below: float | None,
    most: float | None,
    note: str,
) -> str:
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (
            ("above", above),
            ("of at least", least),
            ("below", below),
            ("of at most" if least is None else "at most", most),
        )
        if bound is not None
    ]
    words = f"must be a {kind} number {' and '.join(bounds)}".rstrip()
    return f"{words} ({note})" if note else words


def _demand(name: str, given: Floats, good: NDArray[np.bool_], allowed: str) -> None:
    if not good.all():
        first = tuple(int(index) for index in np.argwhere(~good)[0]) if given.ndim else ()
        place = f"[{', '.join(map(str, first))}]" if first else ""
        raise ValueError(f"{name}{place} is {given[first]:g}: {allowed}")
