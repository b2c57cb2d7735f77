"""Settings of a scenario with their sources: the file, ``--set``, a profile or a default."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ...scenario import Scenario, schema
from ...scenario.toml_syntax import toml_value

Table: TypeAlias = Mapping[str, Any]

OF_PROFILE = "for profile"  # marks a profile's default in the schema's descriptions
# Keys of a file that replace resolved keys.
INSTEAD = {"paths": ("path", "from", "to"), "hops": ("nodes", "channel"), "traffic": ("size",)}


@dataclass(frozen=True)
class Setting:
    """A key of a scenario with its value and source.

    Attributes
    ----------
    table : str
        Table of the key, such as ``"transport"`` or ``"link.dsl"``; empty at the top level.
    key : str
        Name in the table.
    value : str
        Value as in a scenario file.
    source : str
        ``"file"``, ``"--set"``, ``"profile linux"`` or ``"default"``. A radio without own value
        has ``"file, [wifi]"``; the reverse direction of a link has ``"as forward"``; a key
        disabled by another setting has ``"protocol aggregation"`` or ``"traffic cbr"``.
    meaning : str
        Meaning and default of the key.
    """

    table: str
    key: str
    value: str
    source: str
    meaning: str

    def json(self) -> dict[str, str]:
        """Return the JSON form."""
        name = f"{self.table}.{self.key}" if self.table else self.key
        known = {"key": name, "value": self.value, "source": self.source, "meaning": self.meaning}
        return {key: value for key, value in known.items() if value}


def settings(scenario: Scenario) -> list[Setting]:
    """Return all settings of a scenario, ordered by table.

    Examples
    --------
    >>> found = settings(Scenario.load("start/two-links"))
    >>> next(each for each in found if each.key == "min_rto").source
    'profile linux'
    """
    written = tomllib.loads(scenario.effective())
    resolved = tomllib.loads(scenario.resolved())
    changed = {key for key, _ in scenario.overrides}
    off = _disabled_keys(resolved)
    every = _Sources(changed, written.get("wifi", {})).of("", resolved, written, schema())
    return [
        replace(each, value="false", source=off[each.table, each.key])
        if each.value == "true" and (each.table, each.key) in off
        else each
        for each in every
    ]


def _disabled_keys(resolved: Table) -> dict[tuple[str, str], str]:
    """Return the reasons why keys have no effect, by table and key."""
    flows = [("transport", resolved.get("transport", {}), resolved.get("traffic", {}))]
    flows += [(f"flow.{flow['name']}", flow, flow["traffic"]) for flow in resolved.get("flow", [])]
    off = {}
    for table, flow, traffic in flows:
        kind = traffic.get("kind", "bulk")
        if kind != "bulk":
            off[table, "nagle"] = f"traffic {kind}"
        if flow.get("protocol") == "aggregation":
            off[table, "nagle"] = off[table, "send_buffer_autotuning"] = "protocol aggregation"
    return off


@dataclass(frozen=True)
class _Sources:
    """Possible sources of settings: overrides, and keys common to all radios."""

    changed: Set[str]
    wifi: Table

    def of(self, name: str, resolved: Table, written: Table, shape: Table) -> Iterator[Setting]:
        """Yield the settings of a table and its subtables."""
        described = shape.get("properties", {})
        for key, value in resolved.items():
            described_key = described.get(key, {})
            path = f"{name}.{key}" if name else key
            given = _given(key, written)
            within = _object(described_key)
            if _is_list_of_tables(value):
                entry = _object(described_key.get("items", {}))
                for index, each in enumerate(value):
                    title = _title(each)
                    own = _matching_table(title, index, given)
                    yield from self.of(f"{path}.{title}", each, own, entry)
            elif isinstance(value, Mapping) and within and "name" not in value:
                yield from self.of(path, value, _full_table(given, within.get("x-short")), within)
            else:
                meaning = described_key.get("description", "")
                # Resolved scenarios name any profile with the same subflow scheme.
                profile = written.get("profile", described.get("profile", {}).get("default"))
                source = self._source(name, key, given, meaning, profile)
                shown = profile if key == "profile" else value
                yield Setting(name, key, toml_value(shown), source, meaning)

    def _source(
        self, name: str, key: str, given: object, meaning: str, profile: str | None
    ) -> str:
        path = f"{name}.{key}" if name else key
        of_radio = ".radios." in name
        if given is not None:
            return "--set" if any(_sets(each, path) for each in self.changed) else "file"
        if ".reverse." in f"{name}.":
            return "as forward"
        if of_radio and key in self.wifi:
            return "--set" if f"wifi.{key}" in self.changed else "file, [wifi]"
        if of_radio or name.startswith("channel."):
            of_all = self.wifi.get("profile", "standard")
            return f"profile {of_all}" if f"{of_all}:" in meaning else "default"
        return f"profile {profile}" if profile and OF_PROFILE in meaning else "default"


def _object(shape: Table) -> Table:
    """Return a schema's full form of a table that also has a short form."""
    every: Sequence[Table] = [shape, *shape.get("anyOf", ()), *shape.get("oneOf", ())]
    return next((each for each in every if "properties" in each), {})


def _is_list_of_tables(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(each, Mapping) and ("name" in each or "channel" in each) for each in value
        )
    )


def _title(table: Table) -> str:
    """Return a table's identification in a list: its name, or a radio's channel."""
    title: str = table.get("name") or table["channel"]
    return title


def _given(key: str, written: Table) -> object:
    """Return the file's value of a key or of its replacement."""
    if key in written:
        return written[key]
    instead = {each: written[each] for each in INSTEAD.get(key, ()) if each in written}
    return instead or None


def _sets(override: str, path: str) -> bool:
    """Return whether an override sets a key: directly, by its table, or by part of its value.

    Examples
    --------
    >>> _sets("link.*.delay", "link.wifi.delay"), _sets("link.wifi.jitter", "link.wifi.delay")
    (True, False)
    >>> _sets("link.wifi.jitter", "link.wifi.jitter.amount"), _sets("link.wifi", "link.wifi2")
    (True, False)
    """
    pairs = zip(override.split("."), path.split("."), strict=False)
    return all(one in (other, "*") for one, other in pairs)


def _full_table(given: object, short: str | None) -> Table:
    """Return a table's full form if the file gives one key's value for it."""
    if isinstance(given, Mapping):
        return given
    return {} if given is None or short is None else {short: given}


def _matching_table(title: str, index: int, given: object) -> Table:
    """Return the file's table of that name, or at that index if it has no name."""
    entries = given if isinstance(given, list) else []
    tables = [_full_table(each, "channel") for each in entries]
    for each in tables:
        if title in (each.get("name"), each.get("channel") if "name" not in each else None):
            return each
        if "count" in each and title.rpartition("-")[0] == each.get("name"):
            return each
    if index < len(tables) and "name" not in tables[index]:
        return tables[index]
    return {}
