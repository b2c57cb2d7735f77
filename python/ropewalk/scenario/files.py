"""Files that a scenario file names: traces, losses, error tables, positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def named_files(text: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each key of a scenario file that names a file, with the file."""
    of_links = ("trace", "jitter.trace", "reverse.trace", "reverse.jitter.trace")
    of_channels = ("propagation.file", "error_model.table")
    of_flows = ("traffic.trace",)
    of_tables = {
        "link": of_links,
        "channel": of_channels,
        "flow": of_flows,
        "competitor": of_flows,
    }
    for tables, keys in of_tables.items():
        for number, table in enumerate(text.get(tables, []), 1):
            name = table.get("name", f"{tables}-{number}")
            for key in keys:
                *within, last = key.split(".")
                inner = table
                for step in within:
                    inner = inner.get(step, {}) if isinstance(inner, dict) else {}
                if isinstance(inner, dict) and last in inner:
                    yield f"{tables}.{name}.{key}", inner[last]
    if "trace" in text.get("traffic", {}):
        yield "traffic.trace", text["traffic"]["trace"]
    placement = text.get("mesh", {}).get("placement")
    if isinstance(placement, dict) and "file" in placement:
        yield "mesh.placement.file", placement["file"]
