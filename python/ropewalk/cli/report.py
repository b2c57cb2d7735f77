"""``ropewalk report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..results.folders import REPORT
from ..support.atomic_write import check_file
from .failures import failures, wrong_input
from .options import Json
from .output import print_json


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="Folders that --out of other verbs wrote.",
            show_default=False,
            metavar="folder",
        ),
    ],
    as_json: Json = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"HTML file to write: .html. Default: {REPORT} in the first folder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a self-contained HTML report of results, with pictures and tables.

    Several folders give one report with a section for each.

    Example: ropewalk simulate scenarios/start/two-links.toml --runs 10 --out results/two-links &&
    ropewalk report results/two-links
    """
    from ..output import report as reporting

    with wrong_input():
        file = folders[0] / REPORT if out is None else out
        if file.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"--out {file}: a report's name ends in .html")
        reporting.check_installed()
        sections = reporting.sections(folders)
        check_file(file)
    with failures():
        reporting.write_sections(sections, file)
    size = file.stat().st_size
    if as_json:
        named = [{"title": each.title, "kind": each.kind} for each in sections]
        print_json({"engine": "report", "report": str(file), "bytes": size, "sections": named})
    else:
        print(f"report:  {file} ({size / 1e6:.1f} MB)")
