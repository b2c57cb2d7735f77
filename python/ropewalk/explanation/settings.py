"""Every setting in force, and whence: the file, ``--set``, a profile, a default."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..scenario import Scenario, schema, spelled

Table: TypeAlias = Mapping[str, Any]

OF_PROFILE = "for profile"  # what the schema's descriptions say of such a default


@dataclass(frozen=True)
class Setting:
    """A key of a scenario, and the value that it has.

    Attributes
    ----------
    table : str
        Where it stands, such as ``"transport"`` or ``"link.dsl"``; empty at the top.
    key : str
        Its name there.
    value : str
        As a scenario file spells it.
    source : str
        ``"file"``, ``"--set"``, ``"profile linux"``, ``"default"``, or, for the way back of a
        link, ``"as forward"``.
    meaning : str
        What the key means, and what its default is.
    """

    table: str
    key: str
    value: str
    source: str
    meaning: str

    def json(self) -> dict[str, str]:
        """Return it for ``--json``."""
        name = f"{self.table}.{self.key}" if self.table else self.key
        known = {"key": name, "value": self.value, "source": self.source, "meaning": self.meaning}
        return {key: value for key, value in known.items() if value}


def settings(scenario: Scenario) -> list[Setting]:
    """Return all settings of a scenario, in the order of its tables.

    Parameters
    ----------
    scenario : Scenario
        Of which.

    Examples
    --------
    >>> found = settings(Scenario.load("scenarios/start/two-links.toml"))
    >>> next(each for each in found if each.key == "min_rto").source
    'profile linux'
    """
    written = tomllib.loads(scenario.effective())
    resolved = tomllib.loads(scenario.resolved())
    changed = {key for key, _ in scenario.overrides}
    return list(_of_table("", resolved, written, schema(), changed))


def _of_table(
    name: str, resolved: Table, written: Table, shape: Table, changed: set[str]
) -> Iterator[Setting]:
    described = shape.get("properties", {})
    for key, value in resolved.items():
        of_key = described.get(key, {})
        path = f"{name}.{key}" if name else key
        given = written.get(key)
        if _is_list_of_tables(value):
            for index, each in enumerate(value):
                yield from _of_table(
                    f"{key}.{each['name']}",
                    each,
                    _same(each["name"], index, given),
                    of_key.get("items", {}),
                    changed,
                )
        elif isinstance(value, Mapping) and "properties" in of_key:
            inner = given if isinstance(given, Mapping) else {}
            yield from _of_table(path, value, inner, of_key, changed)
        else:
            meaning = of_key.get("description", "")
            source = "default"
            if any(path == each or each.startswith(f"{path}.") for each in changed):
                source = "--set"
            elif given is not None:
                source = "file"
            elif name.endswith(".reverse"):
                source = "as forward"
            elif "profile" in resolved and OF_PROFILE in meaning:
                source = f"profile {resolved['profile']}"
            yield Setting(name, key, spelled(value), source, meaning)


def _is_list_of_tables(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, Mapping) and "name" in each for each in value)
    )


def _same(name: str, index: int, given: object) -> Table:
    """Return the file's table of that name, or in that place if it has no name."""
    tables: list[Table] = given if isinstance(given, list) else []
    for each in tables:
        if each.get("name") == name:
            return each
    if index < len(tables) and "name" not in tables[index]:
        return tables[index]
    return {}
