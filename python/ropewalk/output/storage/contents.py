"""Files of a results folder, and their writer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...results.folders import (
    PICTURES,
    SCENARIO,
    SCENARIOS,
    TABLES,
    replacing_folder,
    write_result,
    write_scenario,
    write_table,
)
from ...scenario import Scenario
from .. import plot

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FolderContents:
    """Files of a results folder other than the JSON object.

    Empty tables are omitted. `pictures` are drawing functions by name, the main picture first.
    `more` writes further files.
    """

    scenario: Scenario | Mapping[str, Scenario]
    tables: Mapping[str, pl.DataFrame]
    pictures: Mapping[str, Callable[[], Figure]]
    more: Callable[[Path], object] | None = None


def write(folder: Path, result: Mapping[str, Any], contents: FolderContents) -> list[Path]:
    """Write results to a folder, and return the pictures.

    The folder is written under another name and then renamed, so that it is never incomplete.
    Raises OSError if it belongs to something else or is not writable.
    """
    with replacing_folder(folder) as made:
        write_result(made, result)
        if isinstance(contents.scenario, Scenario):
            write_scenario(made / SCENARIO, contents.scenario)
        else:
            _write_several(made / SCENARIOS, contents.scenario)
        (made / TABLES).mkdir()
        for name, frame in contents.tables.items():
            if not frame.is_empty():
                write_table(frame, made / TABLES / f"{name}.parquet")
        if contents.pictures:
            (made / PICTURES).mkdir()
        for name, draw in contents.pictures.items():
            plot.save(draw(), made / PICTURES / f"{name}.png")
        if contents.more is not None:
            contents.more(made)
    return [folder / PICTURES / f"{name}.png" for name in contents.pictures]


def _write_several(folder: Path, scenarios: Mapping[str, Scenario]) -> None:
    """Write scenarios by name, each one with further files in its own folder."""
    if scenarios:
        folder.mkdir()
    for name, scenario in scenarios.items():
        if scenario.files or scenario.setup.mesh is not None:
            (folder / name).mkdir()
            write_scenario(folder / name / SCENARIO, scenario)
        else:
            write_scenario(folder / f"{name}.toml", scenario)
