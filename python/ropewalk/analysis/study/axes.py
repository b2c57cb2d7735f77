"""Axes of a study: keys with their values, combined or stepping together."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..._core import base_value
from ...scenario import Scenario
from ...scenario.toml_syntax import Value, toml_value
from ...support.arguments import builtin_value, entries_of, short_repr
from ...units import NUMBER

Changes: TypeAlias = tuple[tuple[str, str], ...]

RANGE_KEYS = ("from", "to", "steps", "scale")
SCALES = ("linear", "log")
MAX_STEPS = 100_000
RANGE = 'a list of values, or { from = "10 ms", to = "100 ms", steps = 10, scale = "linear" }'


@dataclass(frozen=True)
class Axis:
    """A varied key, such as ``"link.dsl.delay"``, with its values as in a scenario file.

    `numbers` are in base units (s, bit/s, bytes, fractions), None for text. `files` has the
    content of files named by the values.
    """

    key: str
    values: tuple[str, ...]
    numbers: tuple[float | None, ...]
    files: Mapping[str, str] = field(default_factory=dict, repr=False)


def values_of(scenario: Scenario, key: str, given: object) -> tuple[str, ...]:
    """Return the values of an axis, spelled as in a scenario file.

    `given` is an iterable (list, array, data frame column, generator) or a range with ``from``,
    ``to``, ``steps`` and ``scale``. Raises ScenarioError for an unknown key or a wrong end of a
    range, ValueError if `given` is neither list nor range.

    Examples
    --------
    >>> scenario = Scenario.load("start/two-links")
    >>> values_of(scenario, "link.dsl.rate", {"from": "1 Mbit/s", "to": "9 Mbit/s", "steps": 3})
    ('1 Mbit/s', '5 Mbit/s', '9 Mbit/s')
    """
    listed = entries_of(given)
    if isinstance(given, Mapping):
        values = _of_range(scenario, key, given)
    elif listed:
        given = listed
        values = tuple(toml_value(each) for each in listed)
    else:
        raise ValueError(f"{_shown(given)}: allowed: {RANGE}")
    seen: set[float | str] = set()
    for value in values:
        if (meant := value_meaning(key, value)) in seen:
            raise ValueError(f"{_shown(given)}: {value or 'nothing'} occurs twice")
        seen.add(meant)
    return values


def value_meaning(key: str, value: str) -> float | str:
    """Return the meaning of a value: a number in base units, or its text.

    Examples
    --------
    >>> value_meaning("link.dsl.delay", "10ms"), value_meaning("link.dsl.delay", "0.01 s")
    (0.01, 0.01)
    >>> value_meaning("link.dsl.queue", "5packets"), value_meaning("transport.congestion", "lia")
    ('5 packets', 'lia')
    """
    found = base_value(key, value)
    if found is not None:
        return found
    match = NUMBER.fullmatch(value)
    return value if match is None else f"{match[1]} {match[2]}".rstrip()


def axes_of(
    scenario: Scenario, given: Mapping[str, Sequence[str]], zipped: Sequence[Sequence[str]]
) -> tuple[Axis, ...]:
    """Return the axes, each value checked with the first values of the other keys.

    Raises ScenarioError for an unknown key or an invalid value.

    Examples
    --------
    >>> scenario = Scenario.load("start/two-links")
    >>> [axis] = axes_of(scenario, {"link.dsl.delay": ["10 ms", "1 s"]}, [])
    >>> axis.numbers
    (0.01, 1.0)
    """
    first = {key: values[0] for key, values in given.items()}
    found = []
    for key, values in given.items():
        partners = next((group for group in zipped if key in group), (key,))
        numbers = []
        files: dict[str, str] = {}
        for at, value in enumerate(values):
            step = {partner: given[partner][at] for partner in partners}
            tried = apply_changes(scenario, {**first, **step, key: value})
            numbers.append(number(tried, key, value))
            files |= {name: each for name, each in tried.files.items() if name in value}
        found.append(Axis(key, tuple(values), tuple(numbers), files))
    return tuple(found)


def apply_changes(scenario: Scenario, changes: Mapping[str, str]) -> Scenario:
    """Return a scenario with keys set in the order of their names."""
    return scenario.with_(dict(sorted(changes.items())))


def number(scenario: Scenario, key: str, value: str) -> float | None:
    """Return the value of a key in base units; None for text.

    Units that depend on other keys, such as bytes of a bdp, are resolved in the scenario.

    Examples
    --------
    >>> scenario = Scenario.load("start/two-links")
    >>> number(scenario, "link.dsl.rate", "16 Mbit/s"), number(scenario, "mesh.range", "2 km")
    (16000000.0, 2000.0)
    >>> scenario = scenario.with_({"link.dsl.queue": "2 packets"})
    >>> number(scenario, "link.dsl.queue", "2 packets")
    3000.0
    """
    plain = base_value(key, value)
    if plain is not None:
        return plain
    found: Any = scenario.values
    parts = key.split(".")
    if parts[:2] == ["flow", found["transport"]["name"]]:
        # Keys of the first flow are in a table of their own.
        parts = parts[2:] if "traffic" in parts else ["transport", *parts[2:]]
    for part in parts:
        found = _within(found, part)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        # A radio's queue counts packets of any length.
        match = NUMBER.fullmatch(value)
        return float(match[1]) if match and match[2] in ("packet", "packets") else None
    return float(found)


def combinations(axes: Sequence[Axis], zipped: Sequence[Sequence[str]]) -> Iterator[Changes]:
    """Yield each combination of the axes' values, the last axis varying fastest.

    Keys that step together vary at the place of their first one.

    Examples
    --------
    >>> two = [Axis("a", ("1", "2"), (1.0, 2.0)), Axis("b", ("x", "y"), (None, None))]
    >>> [dict(each) for each in combinations(two, [["a", "b"]])]
    [{'a': '1', 'b': 'x'}, {'a': '2', 'b': 'y'}]
    >>> len(list(combinations(two, [])))
    4
    """
    of = {each.key: [(each.key, value) for value in each.values] for each in axes}
    steps: list[list[Changes]] = []
    together = {key: tuple(group) for group in zipped for key in group}
    for each in axes:
        group = together.get(each.key, (each.key,))
        if group[0] == each.key:
            steps.append(list(zip(*(of[key] for key in group), strict=True)))
    for chosen in itertools.product(*steps):
        yield tuple(pair for pairs in chosen for pair in pairs)


def count(axes: Sequence[Axis], zipped: Sequence[Sequence[str]]) -> int:
    """Return the number of combinations.

    Examples
    --------
    >>> count([Axis("a", ("1", "2"), (1.0, 2.0)), Axis("b", ("x", "y"), (None, None))], [])
    4
    """
    behind = {key for group in zipped for key in group[1:]}
    return math.prod(len(each.values) for each in axes if each.key not in behind)


def check_zipped(axes: Sequence[Axis], zipped: Sequence[Sequence[str]]) -> None:
    """Raise ValueError unless zipped keys are varied, each once, with equally many values."""
    lengths = {each.key: len(each.values) for each in axes}
    seen: set[str] = set()
    for group in zipped:
        shown = ", ".join(group)
        if len(group) < 2:
            raise ValueError(f"{shown or 'nothing'}: allowed: two varied keys or more")
        for key in group:
            if key not in lengths:
                raise ValueError(f"{shown}: {key} is not varied; varied are {', '.join(lengths)}")
            if key in seen:
                raise ValueError(f"{shown}: {key} occurs twice")
            seen.add(key)
        if len({lengths[key] for key in group}) > 1:
            text = ", ".join(f"{key} has {lengths[key]}" for key in group)
            raise ValueError(f"{shown}: must have as many values each; {text}")


def is_range(given: object) -> bool:
    """Return whether a table is a range, not a table of varied keys.

    Examples
    --------
    >>> is_range({"from": 1, "to": 2, "steps": 2}), is_range({"from": ["a", "b"]})
    (True, False)
    """
    return (
        isinstance(given, Mapping)
        and any(key in given for key in RANGE_KEYS)
        and not any(isinstance(value, (list, Mapping)) for value in given.values())
    )


def _of_range(scenario: Scenario, key: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    shown = _shown(given)
    for name in given:
        if name not in RANGE_KEYS:
            raise ValueError(f"{shown}: no such key {name}; allowed: {', '.join(RANGE_KEYS)}")
    for name in ("from", "to", "steps"):
        if name not in given:
            raise ValueError(f"{shown}: {name} is missing; allowed: {RANGE}")
    steps, scale = builtin_value(given["steps"]), given.get("scale", "linear")
    if isinstance(steps, bool) or not isinstance(steps, int) or not 2 <= steps <= MAX_STEPS:
        allowed = f"a whole number from 2 to {MAX_STEPS}"
        raise ValueError(f"{shown}: steps = {steps!r}: allowed: {allowed}")
    if scale not in SCALES:
        allowed = ", ".join(map(repr, SCALES))
        raise ValueError(f"{shown}: scale = {scale!r}: allowed: {allowed}")
    ends = [toml_value(given["from"]), toml_value(given["to"])]
    taken = [NUMBER.fullmatch(end) for end in ends]
    units = [match[2] if match else None for match in taken]
    low, high = (float(match[1]) if match else None for match in taken)
    if low is None or high is None:
        raise ValueError(f"{shown}: from and to must begin with numbers")
    if units[0] != units[1]:
        # The first end determines the unit.
        bases = [number(scenario.with_({key: end}), key, end) for end in ends]
        if None in bases or not bases[0] or not low:
            raise ValueError(f"{shown}: from and to must have the same unit here")
        high = float(bases[1] or 0) / (bases[0] / low)
    if scale == "log" and (low <= 0 or high <= 0):
        raise ValueError(f'{shown}: scale = "log": from and to must be greater than zero')
    whole = all(match and re.fullmatch(r"[+-]?\d+", match[1]) for match in taken) and not units[0]
    values = []
    for step in range(steps):
        share = step / (steps - 1)
        at = low * (high / low) ** share if scale == "log" else low + (high - low) * share
        exact = low if step == 0 else high if step == steps - 1 else at
        text = f"{exact:.6g}" if not whole or exact % 1 else f"{exact:.0f}"
        values.append(f"{text} {units[0]}" if units[0] else text)
    return tuple(values)


def _within(found: Any, part: str) -> Any:
    """Return a table's entry: a key, a named table, or a link's direction."""
    if isinstance(found, list):
        return next(
            (each for each in found if isinstance(each, Mapping) and each.get("name") == part),
            None,
        )
    if not isinstance(found, Mapping):
        return None
    if part in found:
        return found[part]
    forward = found.get("forward")
    if isinstance(forward, Mapping):
        return forward.get(part)
    return None


def _shown(given: object) -> str:
    try:
        value: Value = builtin_value(given) if not isinstance(given, tuple) else list(given)
        return toml_value(value) if not isinstance(given, str) else f'"{given}"'
    except ValueError:
        return short_repr(given)
