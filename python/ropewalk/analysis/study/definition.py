"""Definition of a study: scenario, varied keys, verb and number of runs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from ..._core import ScenarioError
from ...engines.simulate import check_runs
from ...scenario import Scenario, bundled
from ...support.arguments import argument_error, builtin_value, choice, entries_of, mapping, whole
from ...support.suggestion import closest_match
from .axes import Axis, Changes, axes_of, check_zipped, combinations, count, is_range, values_of

VERBS = ("simulate", "predict", "compare", "testbed", "advise")
KEYS = ("scenario", "verb", "runs", "seed", "vary", "zip", "until")
UNTIL_KEYS = ("ci95", "at_most", "of")
FIRST_RUNS = 5  # default number of first runs with a stopping rule
Vary: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class StoppingRule:
    """Stopping rule for the runs of a combination.

    Stop when half the 95 % interval of the column `of` is at most `ci95` of its mean, or after
    `at_most` runs.
    """

    ci95: float
    at_most: int
    of: str = "goodput_mbps"

    def json(self) -> dict[str, Any]:
        """Return the rule as in a study file."""
        return {"ci95": self.ci95, "at_most": self.at_most, "of": self.of}


@dataclass(frozen=True)
class Definition:
    """A checked definition of a study.

    The last of `axes` varies fastest; keys in a group of `zipped` step together. `runs` is the
    number of seeds of each combination, with `until` the smallest number.
    """

    scenario: Scenario
    axes: tuple[Axis, ...]
    zipped: tuple[tuple[str, ...], ...] = ()
    verb: str = "simulate"
    runs: int = 1
    seed: int = 1
    until: StoppingRule | None = None

    @property
    def combinations(self) -> Iterator[Changes]:
        """All combinations, the last key varying fastest."""
        return combinations(self.axes, self.zipped)

    @property
    def count(self) -> int:
        """Number of combinations."""
        return count(self.axes, self.zipped)

    @property
    def keys(self) -> list[str]:
        """The varied keys."""
        return [each.key for each in self.axes]

    @property
    def columns(self) -> list[str]:
        """Leading columns of the table of runs."""
        return [*self.keys, *(f"{key}_value" for key in self.keys), "seed", "status", "error"]

    def numbers(self, changes: Changes) -> dict[str, float | None]:
        """Return the ``_value`` columns of a combination: numbers in base units."""
        numbers = self._numbers
        return {f"{key}_value": numbers[key][at] for key, at in changes if key in numbers}

    @cached_property
    def _numbers(self) -> dict[str, dict[str, float | None]]:
        """Numbers by value, for numeric keys."""
        return {
            each.key: dict(zip(each.values, each.numbers, strict=True))
            for each in self.axes
            if any(number is not None for number in each.numbers)
        }

    def json(self) -> dict[str, Any]:
        """Return the definition as in a study file."""
        known: dict[str, Any] = {"verb": self.verb, "runs": self.runs, "seed": self.seed}
        if self.until is not None:
            known["until"] = self.until.json()
        if self.zipped:
            known["zip"] = [list(group) for group in self.zipped]
        return known | {"vary": {each.key: list(each.values) for each in self.axes}}


def define(
    scenario: Scenario,
    vary: Vary,
    *,
    zipped: Sequence[Sequence[str]] = (),
    verb: str = "simulate",
    runs: int | None = None,
    seed: int = 1,
    until: Mapping[str, Any] | None = None,
) -> Definition:
    """Return a checked study.

    Raises ScenarioError for an unknown varied key or an invalid value, ValueError for another
    argument; the message begins with its name.

    Examples
    --------
    >>> scenario = Scenario.load("start/two-links")
    >>> define(scenario, {"link.dsl.delay": ["10 ms", "20 ms"]}, runs=3).count
    2
    """
    choice("verb", verb, VERBS)
    zipped = _groups(zipped)
    given = {}
    for key, values in mapping("vary", vary, "keys to their values").items():
        try:
            given[key] = values_of(scenario, key, values)
        except ScenarioError as error:
            raise _name_varied_key(error) from None
        except ValueError as error:
            raise ValueError(f"vary: {key} = {error}") from None
    try:
        axes = axes_of(scenario, given, _zipped_of_one_length(given, zipped))
    except ScenarioError as error:
        raise _name_varied_key(error) from None
    groups = tuple(tuple(group) for group in zipped)
    try:
        check_zipped(axes, groups)
    except ValueError as error:
        raise ValueError(f"zip: {error}") from None
    enough = None if until is None else _until(until)
    if runs is None:
        runs = 1 if enough is None else min(FIRST_RUNS, enough.at_most)
    runs = whole("runs", runs, least=1)
    seed, _ = check_runs(seed, runs if enough is None else max(runs, enough.at_most))
    if enough is not None and not 2 <= runs <= enough.at_most:
        raise ValueError(f"runs = {runs}: allowed with until or ci95: 2 to {enough.at_most}")
    if verb == "predict" and (runs > 1 or enough is not None):
        raise ValueError(f"runs = {runs}: predict is deterministic: allowed: 1")
    return Definition(scenario, axes, groups, verb, runs, seed, enough)


def load(path: Path, overrides: Sequence[tuple[str, str]] = (), **others: Any) -> Definition:
    """Read a study file.

    The scenario it names is searched next to the file, then among the bundled ones. `overrides`
    set keys of the scenario; `others` are arguments of `define` that replace the file's unless
    None. Raises ScenarioError for the scenario or a varied value, ValueError for the study (with
    file, line, key, value and allowed values), OSError for an unreadable file.
    """
    text = path.read_bytes()
    try:
        lines = text.decode()
        known = tomllib.loads(lines)
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    for key in known:
        if key not in KEYS:
            raise ValueError(
                f"{path}:{_line(lines, key)}: {key}: no such key of a study{_near(key)}"
            )
    at = known.get("scenario")
    if not isinstance(at, str):
        note = "is missing" if at is None else f"= {at!r}"
        raise ValueError(f"{path}: scenario {note}: allowed: the name of a scenario file")
    comparison = path.parent / at
    try:
        file = comparison if comparison.is_file() else bundled.file(at)
    except ValueError:
        note = f'scenario = "{at}": no such file, and no bundled scenario: {comparison}'
        raise ValueError(f"{path}:{_line(lines, 'scenario')}: {note}") from None
    scenario = Scenario.load(file, overrides)
    if not isinstance(known.get("vary", {}), dict):
        raise ValueError(f"{path}:{_line(lines, 'vary')}: vary: allowed: a table of keys: [vary]")
    arguments = {
        "verb": known.get("verb", "simulate"),
        "runs": known.get("runs"),
        "seed": known.get("seed", 1),
        "until": known.get("until"),
        "zipped": known.get("zip", []),
        "vary": dict(_flat(known.get("vary", {}))),
    }
    given = {key: value for key, value in others.items() if value is not None}
    arguments |= given
    try:
        return define(scenario, arguments.pop("vary"), **arguments)
    except ValueError as error:
        raise type(error)(_with_place(str(error), path, lines, given)) from None


def is_study(path: Path) -> bool:
    """Return whether a file is a study: it names a scenario.

    Unreadable files count as scenarios, whose reader has the better error.
    """
    try:
        known = tomllib.loads(path.read_bytes().decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    return "scenario" in known or "vary" in known


def share(value: object) -> float | None:
    """Return a fraction from ``"2 %"`` or ``0.02``; None unless above 0.

    Examples
    --------
    >>> share("2 %"), share(0.02), share("two")
    (0.02, 0.02, None)
    """
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", value)
        return float(match[1]) / 100 if match and float(match[1]) > 0 else None
    value = builtin_value(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        return None
    return float(value)


def _until(given: Mapping[str, Any]) -> StoppingRule:
    allowed = '{ ci95 = "2 %", at_most = 200 }'
    if not isinstance(given, Mapping):
        raise ValueError(f"until = {given!r}: allowed: {allowed}")
    for key in given:
        if key not in UNTIL_KEYS:
            raise ValueError(f"until: no such key {key}; allowed: {', '.join(UNTIL_KEYS)}")
    wanted = share(given.get("ci95"))
    if wanted is None:
        text = given.get("ci95")
        raise ValueError(f'until: ci95 = {text!r}: allowed: a share such as "2 %" or 0.02')
    most = given.get("at_most")
    most = whole("until: at_most", most, least=2)
    of = given.get("of", "goodput_mbps")
    if not isinstance(of, str):
        raise ValueError(f'until: of = {of!r}: allowed: a column, such as "goodput_mbps"')
    return StoppingRule(wanted, most, of)


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield keys with their values; ``link.dsl.delay`` is a table in a table in a table."""
    for key, value in table.items():
        if isinstance(value, Mapping) and not is_range(value):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _groups(zipped: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the checked groups of keys that step together."""
    groups = entries_of(zipped)
    keys = None if groups is None else [entries_of(group) for group in groups]
    if keys is None or not all(
        group is not None and all(isinstance(key, str) for key in group) for group in keys
    ):
        raise argument_error(
            "zip", zipped, 'lists of keys, such as [["link.a.rate", "link.b.rate"]]'
        )
    return tuple(tuple(group or ()) for group in keys)


def _zipped_of_one_length(
    given: Mapping[str, Sequence[str]], zipped: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return the groups of equal length; `check_zipped` reports the others."""
    return [
        tuple(group)
        for group in zipped
        if all(key in given for key in group) and len({len(given[key]) for key in group}) == 1
    ]


def _name_varied_key(error: ScenarioError) -> ScenarioError:
    """Name the varied key in an error that the scenario reports for ``with_``."""
    return ScenarioError(str(error).replace("with_: ", "vary: "))


def _with_place(message: str, path: Path, lines: str, others: Container[str]) -> str:
    """Prefix an error with file and line, unless it is about another argument."""
    match = re.match(r"vary: ([^\s:]+)(?: =|:)|(verb|runs|seed|until|zip)\b", message)
    if match is None:
        return message
    key = match[2] or "vary"
    if {"zip": "zipped"}.get(key, key) in others:
        return message
    where = _line(lines, *(match[1].split(".") if match[1] else [match[2]]))
    return f"{path}:{where}: {message}"


def _line(lines: str, *parts: str) -> int:
    """Return the line of a key, which may be dotted, quoted, or in a table."""
    last = parts[-1]
    spelled = (".".join(parts), last)
    for number, line in enumerate(lines.splitlines(), 1):
        name = line.partition("=")[0].strip().strip("[]").replace('"', "").replace("'", "").strip()
        if name in spelled:
            return number
    return 1


def _near(key: str) -> str:
    near = closest_match(key, KEYS)
    return f"; did you mean {near}?" if near else f"; there are {', '.join(KEYS)}"
