"""What the model of Song et al. 2018 accepts: arrays of numbers, links on the last axis."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def checked(
    name: str, value: npt.ArrayLike, *, above: float | None = 0.0, least: float | None = None
) -> Floats:
    """Return finite numbers above a bound, or of at least `least`, in any shape.

    Examples
    --------
    >>> checked("byte_rate", [12_500.0, 0.0])
    Traceback (most recent call last):
    ValueError: byte_rate[1] is 0: must be a finite number above 0
    """
    allowed = "must be a finite number"
    if least is not None:
        allowed += f" of at least {least:g}"
    elif above is not None:
        allowed += f" above {above:g}"
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}: {allowed}") from None
    good = np.isfinite(numbers)
    if least is not None:
        good &= numbers >= least
    elif above is not None:
        good &= numbers > above
    if not good.all():
        _refuse(name, numbers, good, allowed)
    return numbers


def whole(name: str, value: npt.ArrayLike, *, least: int = 1) -> Floats:
    """Return whole numbers of at least `least`, in any shape.

    Examples
    --------
    >>> whole("position", 1.5)
    Traceback (most recent call last):
    ValueError: position is 1.5: must be a whole number of at least 1
    """
    numbers = checked(name, value, least=least)
    good = numbers == np.floor(numbers)
    if not good.all():
        _refuse(name, numbers, good, f"must be a whole number of at least {least}")
    return numbers


def number(name: str, value: float) -> float:
    """Return one finite number above 0.

    Examples
    --------
    >>> number("segment_bytes", [536, 1460])
    Traceback (most recent call last):
    ValueError: segment_bytes has shape (2,): must be one number
    """
    numbers = checked(name, value)
    if numbers.ndim:
        raise ValueError(f"{name} has shape {numbers.shape}: must be one number")
    return float(numbers)


def whole_number(name: str, value: int) -> int:
    """Return one whole number of at least 1.

    Examples
    --------
    >>> whole_number("ack_every", 0)
    Traceback (most recent call last):
    ValueError: ack_every is 0: must be a finite number of at least 1
    """
    whole(name, value)
    return int(number(name, value))


def choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse what is not one of `allowed`.

    Examples
    --------
    >>> choice("queue", "long", ("printed", "own"))
    Traceback (most recent call last):
    ValueError: queue is 'long': must be 'printed' or 'own'
    """
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}: must be {' or '.join(map(repr, allowed))}")


def with_links(name: str, value: npt.ArrayLike, *, least: float | None = None) -> Floats:
    """Return numbers with at least one on the last axis.

    Examples
    --------
    >>> with_links("delay_s", 0.005, least=0)
    Traceback (most recent call last):
    ValueError: delay_s has shape (): must have at least one value on its last axis
    """
    numbers = checked(name, value, least=least)
    if not numbers.ndim or not numbers.shape[-1]:
        raise ValueError(
            f"{name} has shape {numbers.shape}: must have at least one value on its last axis"
        )
    return numbers


def links_of(byte_rate: npt.ArrayLike, delay_s: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Return rates and delays of as many links, which are on the last axis.

    Examples
    --------
    >>> links_of([12_500.0, 12_500.0], [0.005])
    Traceback (most recent call last):
    ValueError: delay_s has 1 links on its last axis: must have as many as byte_rate, 2
    """
    rate = with_links("byte_rate", byte_rate)
    delay = with_links("delay_s", delay_s, least=0)
    if rate.shape[-1] != delay.shape[-1]:
        raise ValueError(
            f"delay_s has {delay.shape[-1]} links on its last axis: must have as many as "
            f"byte_rate, {rate.shape[-1]}"
        )
    same_scenarios(byte_rate=rate[..., 0], delay_s=delay[..., 0])
    return rate, delay


def same_scenarios(**arrays: Floats) -> tuple[int, ...]:
    """Return the shape that arrays with these names broadcast to.

    Examples
    --------
    >>> same_scenarios(segments=np.ones(3), count=np.ones(2))
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


def _refuse(name: str, numbers: Floats, good: npt.NDArray[np.bool_], allowed: str) -> None:
    where = tuple(int(index) for index in np.argwhere(~good)[0]) if numbers.ndim else ()
    place = f"[{', '.join(map(str, where))}]" if where else ""
    raise ValueError(f"{name}{place} is {numbers[where]:g}: {allowed}")
