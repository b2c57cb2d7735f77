"""Units of values in scenario files and of table columns, whose names end in their unit."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

BITS_TO_MBPS = 1e-6  # Mbit/s per bit/s
BYTES_TO_MBPS = 8e-6  # Mbit/s per byte/s
NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*")
# Units of each quantity, with their size in the quantity's base unit.
UNITS = (
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0},
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3},
    {"%": 1.0},
    {"": 1.0},
)
# By suffix of a column's name: the displayed unit, and the factor to convert to it.
COLUMNS = {
    "_mbps": ("Mbit/s", 1.0),
    "_kbps": ("kbit/s", 1.0),
    "_ms": ("ms", 1.0),
    "_s": ("s", 1.0),
    "_bytes": ("kB", 1e-3),
    "_ratio": ("%", 100.0),
    "_percent": ("%", 1.0),
    "_m": ("m", 1.0),
}
EVEN = 1.1  # largest ratio of two steps at which numbers count as evenly spaced
RATIO_ERROR = 0.02  # the same for logarithms, which allows for rounded values
WIDE = 20.0  # ratio of largest to smallest value at which an axis becomes logarithmic
APART = re.compile(r"\S+\s+[A-Za-z/]+")  # number and unit with a space between


def numbers(values: Sequence[str]) -> tuple[list[float], str] | None:
    """Return texts as numbers in the unit of the first one, and that unit, if it has one.

    None if a text is not a number or the units belong to different quantities.

    Examples
    --------
    >>> numbers(["10 ms", "0.1 s"]), numbers(["3 packets", "5 packets"])
    (([10.0, 100.0], 'ms'), ([3.0, 5.0], 'packets'))
    >>> numbers(["min-rtt"]), numbers(["3 packets", "10 kB"]), numbers(["3g.trace", "4g.trace"])
    (None, None, None)
    """
    matched = [match for value in values if (match := NUMBER.fullmatch(value))]
    if not matched or len(matched) < len(values):
        return None
    unit = matched[0][2]
    alike = [units for units in UNITS if unit in units]
    if not alike and all(APART.fullmatch(value.strip()) for value in values):
        alike = [{unit: 1.0}]
    for units in alike:
        if all(match[2] in units for match in matched):
            return [float(match[1]) * units[match[2]] / units[unit] for match in matched], unit
    return None


def is_wide(values: Sequence[float]) -> bool:
    """Whether numbers span enough magnitudes for a logarithmic axis.

    Three or more evenly spaced numbers always get a linear axis, and otherwise three or more
    numbers at equal ratios a logarithmic one.

    Examples
    --------
    >>> is_wide([1.0, 10.0, 100.0]), is_wide([0.0, 100.0]), is_wide([10.0, 100.0])
    (True, False, False)
    >>> is_wide([1.0, 20.0, 40.0, 60.0, 80.0, 100.0]), is_wide([256.0, 512.0, 1024.0])
    (False, True)
    """
    if min(values) <= 0 or _is_even(values):
        return False
    return max(values) / min(values) >= WIDE or has_even_ratios(values)


def has_even_ratios(values: Sequence[float]) -> bool:
    """Whether three or more positive numbers are at equal ratios.

    Examples
    --------
    >>> has_even_ratios([1.0, 3.16, 10.0]), has_even_ratios([1.0, 2.0, 5.0])
    (True, False)
    """
    return min(values) > 0 and _is_even([math.log(value) for value in values], 1 + RATIO_ERROR)


def _is_even(values: Sequence[float], most: float = EVEN) -> bool:
    """Whether three or more numbers are evenly spaced, except for a rounded first one."""
    ordered = sorted(set(values))
    steps = [high - low for low, high in pairwise(ordered)]
    return len(steps) > 1 and max(steps) <= most * min(steps)


def key_words(key: str) -> str:
    """Return a scenario's key in words, without ``transport``.

    Examples
    --------
    >>> key_words("transport.receive_buffer"), key_words("traffic.rate")
    ('receive buffer', 'traffic rate')
    >>> key_words("link.dsl.delay"), key_words("link.*.loss")
    ('delay of dsl', 'loss of all links')
    """
    table, *rest = key.split(".")
    if table == "link" and len(rest) > 1:
        name = "all links" if rest[0] == "*" else rest[0]
        return f"{' '.join(rest[1:]).replace('_', ' ')} of {name}"
    words = rest if table == "transport" and rest else [table, *rest]
    return " ".join(words).replace("_", " ")


def heading(name: str) -> str:
    """Return a column's heading in words, with its unit.

    Examples
    --------
    >>> heading("delay_p95_ms"), heading("out_of_order_ratio"), heading("seed")
    ('delay p95 (ms)', 'out of order (%)', 'seed')
    """
    for ending, (unit, _) in COLUMNS.items():
        if name.endswith(ending):
            return f"{name.removesuffix(ending).replace('_', ' ')} ({unit})"
    return name.replace("_", " ")


def scale_of(name: str) -> float:
    """Return the factor from a column's values to the unit of its `heading`.

    Examples
    --------
    >>> scale_of("out_of_order_ratio"), scale_of("goodput_mbps")
    (100.0, 1.0)
    """
    return next((scale for ending, (_, scale) in COLUMNS.items() if name.endswith(ending)), 1.0)
