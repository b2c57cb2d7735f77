"""Shell completion of ``--set``: the keys of the scenario that the command line names."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# Lists of tables with named entries.
NAMED = ("link", "path", "channel", "node", "flow", "competitor")


def keys(incomplete: str) -> list[str]:
    """Return the keys with this prefix, each with its equals sign: ``link.wifi.delay=``."""
    before, equals, _ = incomplete.partition("=")
    if equals:
        return []
    from ..scenario import schema

    return [f"{key}=" for key in _keys(schema(), _names()) if key.startswith(before)]


def _keys(schema: Mapping[str, Any], names: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield all dotted keys that have a value, not a table."""
    for key, described in schema["properties"].items():
        if key in NAMED:
            for name in names.get(key, []):
                yield from (f"{key}.{name}.{own}" for own in described["items"]["properties"])
        else:
            within = described.get("properties", {})
            yield from (f"{key}.{own}" for own in within) if within else [key]


def _names() -> Mapping[str, list[str]]:
    """Return the names of links, paths, flows and competitors, if the file can be read.

    The scenario is the first file on the command line: typer cannot classify arguments after an
    incomplete option.
    """
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    file = next((word for word in line.split() if word.endswith(".toml")), "")
    try:
        content = tomllib.loads(Path(file).expanduser().read_text())
    except (OSError, ValueError):
        return {}
    tables = {key: content.get(key, []) for key in NAMED}
    return {
        key: [str(table["name"]) for table in entries if "name" in table]
        for key, entries in tables.items()
        if isinstance(entries, list) and all(isinstance(table, dict) for table in entries)
    }
