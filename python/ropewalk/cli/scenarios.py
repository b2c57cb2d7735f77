"""``ropewalk scenarios``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..scenario import bundled
from .failures import failures, wrong_input
from .options import Json
from .output import print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

COPY_HELP = "Folder to which to copy the scenarios with their traces. No file is overwritten."


def scenarios(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Bundled scenarios to print, or to copy. Default: list all."
        ),
    ] = None,
    as_json: Json = False,
    copy: Annotated[
        Path | None, typer.Option(metavar="DIR", help=COPY_HELP, show_default=False)
    ] = None,
) -> None:
    """List the scenarios that come with Ropewalk; print them, or copy them.

    Every verb takes a name in place of a file: ropewalk simulate start/two-links

    Example: ropewalk scenarios start/two-links --copy mine
    """
    with wrong_input():
        if as_json and (names or copy):
            raise ValueError("--json: lists all; not with names or --copy")
        files = [bundled.file(name) for name in names or ()]
        if copy is not None:
            copy.mkdir(parents=True, exist_ok=True)
    with failures():
        if copy is not None:
            for path in bundled.copy(copy, names or ()):
                print(path)
        elif files:
            print("\n".join(file.read_text() for file in files), end="")
        elif as_json:
            print_json({"folder": str(bundled.FOLDER), "scenarios": bundled.titles()})
        else:
            print_table(_titles())


def _titles() -> Table:
    from rich.table import Table

    table = Table("name", "title", box=None, padding=(0, 2, 0, 0))
    for name, title in bundled.titles().items():
        table.add_row(name, title)
    return table
