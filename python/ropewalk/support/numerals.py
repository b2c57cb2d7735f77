"""Numbers as text, rounded for reading."""

from __future__ import annotations

import math
import re

SIGNIFICANT = 2  # fewest digits of a small number
MOST_PLACES = 9  # values below this place are rounding errors
FIXED = re.compile(r",?\.([1-9])f")


def decimal(value: float, places: int = 2) -> str:
    """Return a number with some decimal places, more if it is small.

    Examples
    --------
    >>> decimal(1234.567), decimal(0.064), decimal(0.0), decimal(0.3), decimal(12.0, 1)
    ('1,234.57', '0.064', '0.00', '0.30', '12.0')
    """
    return f"{value:,.{_places(value, places)}f}"


def with_interval(value: float, half: float | None, places: int = 2) -> str:
    """Return a mean with half the width of its confidence interval, if not zero.

    Examples
    --------
    >>> with_interval(30.94, 2.54), with_interval(0.064, 0.0013), with_interval(143.71, 0.0)
    ('30.94 ± 2.54', '0.064 ± 0.001', '143.71')
    >>> with_interval(18.99, 0.0011)
    '18.99 ± 0.0011'
    """
    known = decimal(value, places)
    if not half:
        return known
    same = f"{half:,.{_places(value, places)}f}"
    return f"{known} ± {same if re.search('[1-9]', same) else decimal(half, places)}"


def format_number(value: float, spec: str) -> str:
    """Return a number in a format; `decimal` handles fixed places.

    Examples
    --------
    >>> format_number(0.064, ",.2f"), format_number(0.64, ".1%"), format_number(64.0, ",.0f")
    ('0.064', '64.0%', '64')
    """
    fixed = FIXED.fullmatch(spec)
    return decimal(value, int(fixed[1])) if fixed else f"{value:{spec}}"


def format_mean(value: float, half: float | None, spec: str) -> str:
    """Return a mean with half its confidence interval, in a format.

    Examples
    --------
    >>> format_mean(9.5, 0.25, ",.2f"), format_mean(9.5, None, ",.1f")
    ('9.50 ± 0.25', '9.5')
    """
    if fixed := FIXED.fullmatch(spec):
        return with_interval(value, half, int(fixed[1]))
    known = format_number(value, spec)
    return f"{known} ± {format_number(half, spec)}" if half else known


def _places(value: float, places: int) -> int:
    """Return the decimal places that leave two significant digits."""
    size = abs(value)
    if not math.isfinite(value) or size < 10.0**-MOST_PLACES:
        return places
    return max(places, min(SIGNIFICANT - 1 - math.floor(math.log10(size)), MOST_PLACES))
