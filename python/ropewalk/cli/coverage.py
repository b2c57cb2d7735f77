"""``ropewalk reproduce --coverage``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..papers.coverage import covered, items_of, make, statements, stored
from ..support.escape import strip_controls
from .failures import failures, wrong_input
from .options import check_needed, check_outputs
from .output import print_result, store_results
from .progress import progress
from .statuses import FAILED

if TYPE_CHECKING:
    from ..analysis.reproduction import Reproduction


def print_coverage(
    paper: str | None,
    *,
    as_json: bool,
    seed: int | None,
    runs: int | None,
    out: Path | None,
    folder: Path | None,
) -> None:
    """Print the statements of a paper, or of all papers, with their states.

    Exit status 1 if the item or the rows of a statement do not exist.
    """
    with wrong_input():
        wanted = items_of(paper)
        if folder is not None:
            for option, value in {"--seed": seed, "--runs": runs, "--out": out}.items():
                if value is not None:
                    raise ValueError(f"{option} {value}: not with --from")
        check_outputs(out, [])
    made: list[Reproduction] = []
    written = []
    if folder is not None:
        with wrong_input():
            made = stored(folder)
    else:
        for item in wanted:
            name = f"{item.paper} {item.name}"
            print(f"{name}: {item.title}", file=sys.stderr, flush=True)
            with failures(), progress(f"reproducing {name}") as finished:
                made.append(make(item, seed=seed, runs=runs, progress=finished))
                if out is not None:
                    store_results(made[-1], out / item.paper / item.name, [])
    if out is not None:
        written = [f"results: {out}; read them with --from {out}"]
    with failures():
        found = covered(statements(paper), made)
    print_result(found, written, as_json=as_json)
    if as_json:
        from ..output.tables.coverage import warnings

        for warning in warnings(found):
            print(f"warning: {strip_controls(warning)}", file=sys.stderr)
    if found.faults:
        raise typer.Exit(FAILED)


def check_options(
    coverage: bool, folder: Path | None, wanted: list[str] | None, pictures: list[Path]
) -> None:
    """Raise ValueError for options and items that do not fit ``--coverage``."""
    check_needed("--from", folder, "--coverage", coverage)
    if coverage and pictures:
        raise ValueError(f"--plot {pictures[0]}: not with --coverage")
    if coverage and wanted:
        raise ValueError(f"--coverage: takes a paper, not its items ({' '.join(wanted)})")
