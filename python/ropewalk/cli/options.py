"""Arguments and options that several verbs have, and the checks of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from ..scenario import Scenario
from ..simulation import SEED_MAX

ScenarioFile: TypeAlias = Annotated[
    Path, typer.Argument(help="The scenario file.", show_default=False)
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
Changes: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a key of the scenario to another value; may be given several times.",
        show_default=False,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(min=0, max=SEED_MAX, metavar="N", help="Seed of the first run.")
]


def load(scenario: Path, changes: list[str] | None) -> Scenario:
    """Read a scenario file and set the keys that ``--set`` names.

    Raises
    ------
    ValueError
        The scenario or a change is wrong.
    OSError
        The file cannot be read.
    """
    return Scenario.load(scenario, [_override(change) for change in changes or []])


def check_outputs(out: Path | None, files: list[Path]) -> None:
    """Find out before the work what would be in the way after it.

    Raises
    ------
    OSError
        A folder or file cannot be written.
    """
    if out is not None:
        from ..store import check_folder

        check_folder(out)
    for file in files:
        if not file.parent.is_dir():
            raise FileNotFoundError(f"{file.parent}: no such folder")
        if file.is_dir():
            raise IsADirectoryError(f"{file}: is a folder")


def check_pictures(pictures: list[Path]) -> None:
    """Make sure that pictures can be written to files of these names.

    Raises
    ------
    ValueError
        A name ends in no format of pictures.
    """
    if pictures:
        from ..plot import check_format

        for picture in pictures:
            check_format(picture)


def _override(change: str) -> tuple[str, str]:
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"--set {change}: expected KEY=VALUE, such as link.wifi.delay=50ms")
    return key.strip(), value.strip()
