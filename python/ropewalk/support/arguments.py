"""Argument checks of the Python functions.

Each error is a `ValueError` that reads ``NAME = VALUE: allowed: ...``. NumPy's numbers count as
numbers; True and False do not.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MAX_SHOWN = 60  # characters of a value in an error


def whole(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """Return a whole number within bounds.

    Examples
    --------
    >>> whole("runs", 2, least=1)
    2
    >>> whole("runs", "2", least=1)
    Traceback (most recent call last):
    ValueError: runs = '2': allowed: a whole number, at least 1
    """
    try:
        found = None if _is_bool(value) else operator.index(value)
    except TypeError:
        found = None
    if found is None or found < least or (most is not None and found > most):
        limits = f", at least {least}" if most is None else f" from {least} to {most}"
        raise argument_error(name, value, f"a whole number{limits}")
    return found


def positive(name: str, value: Any) -> float:
    """Return a finite number above zero.

    Examples
    --------
    >>> positive("timeout", 0.5)
    0.5
    >>> positive("timeout", "soon")
    Traceback (most recent call last):
    ValueError: timeout = 'soon': allowed: a number above 0
    """
    try:
        found = math.nan if _is_bool(value) or isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not 0 < found < math.inf:
        raise argument_error(name, value, "a number above 0")
    return found


def flag(name: str, value: Any) -> bool:
    """Return True or False.

    Examples
    --------
    >>> flag("check", "yes")
    Traceback (most recent call last):
    ValueError: check = 'yes': allowed: True or False
    """
    if not _is_bool(value):
        raise argument_error(name, value, "True or False")
    return bool(value)


def text(name: str, value: Any, example: str) -> str:
    """Return text; a bare number becomes text, and its missing unit is reported later.

    Examples
    --------
    >>> text("step", "100 ms", "100 ms"), text("step", 0.1, "100 ms")
    ('100 ms', '0.1')
    >>> text("step", [], "100 ms")
    Traceback (most recent call last):
    ValueError: step = []: allowed: text such as '100 ms'
    """
    value = builtin_value(value)
    if _is_bool(value) or not isinstance(value, (str, int, float)):
        raise argument_error(name, value, f"text such as {example!r}")
    return str(value)


def path(name: str, value: Any) -> str:
    """Return a path as text.

    Examples
    --------
    >>> path("out", 1)
    Traceback (most recent call last):
    ValueError: out = 1: allowed: a path
    """
    if not isinstance(value, (str, os.PathLike)):
        raise argument_error(name, value, "a path")
    return os.fsdecode(value)


def function(name: str, value: Any) -> Callable[..., object] | None:
    """Return a function, or None.

    Examples
    --------
    >>> function("progress", True)
    Traceback (most recent call last):
    ValueError: progress = True: allowed: a function
    """
    if value is not None and not callable(value):
        raise argument_error(name, value, "a function")
    found: Callable[..., object] | None = value
    return found


def choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    """Raise an error if a value is not one of the allowed words.

    Examples
    --------
    >>> choice("width", "poster", ("column", "page"))
    Traceback (most recent call last):
    ValueError: width = 'poster': allowed: column, page
    """
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise argument_error(name, value, ", ".join(words))


def mapping(name: str, value: Any, what: str) -> Mapping[Any, Any]:
    """Return a mapping.

    Examples
    --------
    >>> mapping("vary", ["link.a.delay"], "keys with their values")
    Traceback (most recent call last):
    ValueError: vary = ['link.a.delay']: allowed: a mapping of keys with their values
    """
    if not isinstance(value, Mapping):
        raise argument_error(name, value, f"a mapping of {what}")
    return value


def entries_of(value: Any) -> list[Any] | None:
    """Return the entries of a list, array, column or generator; None for anything else.

    Examples
    --------
    >>> entries_of(range(3)), entries_of("text"), entries_of(3)
    ([0, 1, 2], None, None)
    """
    value = builtin_value(value)
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return None
    return [builtin_value(each) for each in value]


def builtin_value(value: Any) -> Any:
    """Return NumPy's, pandas' and polars' numbers and lists as Python's.

    Examples
    --------
    >>> import numpy as np
    >>> builtin_value(np.float64(0.5)), builtin_value(np.arange(2)), builtin_value("text")
    (0.5, [0, 1], 'text')
    """
    # Recognized by their methods, so that none of these libraries is imported.
    for method in ("tolist", "to_list"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, (str, type)):
            return convert()
    return value


def argument_error(name: str, value: Any, allowed: str) -> ValueError:
    """Return the error for an argument."""
    return ValueError(f"{name} = {short_repr(value)}: allowed: {allowed}")


def short_repr(value: Any) -> str:
    """Return a value's `repr` in one short line.

    Examples
    --------
    >>> short_repr("a"), len(short_repr("a" * 100))
    ("'a'", 60)
    """
    line = " ".join(repr(builtin_value(value)).split())
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 3]}..."


def _is_bool(value: Any) -> bool:
    return isinstance(builtin_value(value), bool)
