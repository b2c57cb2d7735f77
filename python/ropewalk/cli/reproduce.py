"""``ropewalk reproduce``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..papers import api
from ..papers.api import Item, find, items
from ..papers.gomez2014.deployments import read_deployments
from .coverage import check_options, print_coverage
from .failures import fail, failures, wrong_input
from .options import (
    Json,
    check_needed,
    check_outputs,
    out_option,
    plot_option,
    runs_option,
    seed_option,
)
from .output import print_json, print_result, store_results
from .progress import progress
from .statuses import WRONG_INPUT


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(help="Paper to reproduce, such as song-2018.", show_default=False),
    ] = None,
    wanted: Annotated[
        list[str] | None,
        typer.Argument(
            help="Tables or figures of the paper, such as fig9.",
            show_default=False,
            metavar="item",
        ),
    ] = None,
    as_json: Json = False,
    seed: Annotated[
        int | None,
        seed_option("Seed of the first run of each simulated scenario. Default: 1."),
    ] = None,
    runs: Annotated[
        int | None,
        runs_option(
            "Runs of each simulated scenario. Default: the number of the table or figure."
        ),
    ] = None,
    traces: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of recorded links for song-2018 fig8: NAME.down, NAME.rtt.",
            show_default=False,
        ),
    ] = None,
    deployments: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of deployments for gomez-2014 fig10: nodes.csv, routes.csv.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, out_option("tables (Parquet), picture, scenarios simulated")
    ] = None,
    pictures: Annotated[
        list[Path] | None, plot_option("the picture", ". Repeat for several files")
    ] = None,
    coverage: Annotated[
        bool,
        typer.Option(
            "--coverage",
            help="Print every statement of the paper, or of all papers, with its state: met, not "
            "met, shown, tested, not here. Makes all items, which takes long.",
        ),
    ] = False,
    stored: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="Read the results that --out stored in this folder and its subfolders. Only with "
            "--coverage, which then makes no item.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Reproduce published tables or figures, and explain each difference.

    Without names, it lists the papers and their items. For several items, --json prints an object
    per line, and --out makes a folder for each. --coverage prints the statements of the papers.

    Example: ropewalk reproduce song-2018 fig9 --plot fig9.png
    """
    pictures = pictures or []
    with wrong_input():
        check_options(coverage, stored, wanted, pictures)
    if coverage:
        print_coverage(paper, as_json=as_json, seed=seed, runs=runs, out=out, folder=stored)
        return
    if paper is None or not wanted:
        options: dict[str, object] = {"--seed": seed, "--runs": runs, "--out": out}
        options |= {"--traces": traces, "--deployments": deployments}
        options["--plot"] = pictures[0] if pictures else None
        with wrong_input():
            for option, value in options.items():
                check_needed(option, value, "a paper and an item")
        _list(paper, as_json)
        return
    try:
        for item in wanted:
            find(paper, item)
    except ValueError as error:
        fail(f"{error}\n\n{_items(items())}", WRONG_INPUT)
    if pictures and len(wanted) > 1:
        fail("--plot: only with one item; --out stores the pictures of several", WRONG_INPUT)
    with wrong_input():
        check_outputs(out, pictures)
        if deployments is not None:
            read_deployments(deployments)
    for item in wanted:
        folder = out / item if out and len(wanted) > 1 else out
        with failures(), progress("reproducing") as finished:
            made = api.reproduce(
                paper,
                item,
                seed=seed,
                runs=runs,
                traces=traces,
                deployments=deployments,
                progress=finished,
            )
        with failures():
            written = store_results(made, folder, pictures)
        if not written:
            written = ["picture and tables: --out DIR, picture alone: --plot FILE"]
        print_result(made, written, as_json=as_json)


def _list(paper: str | None, as_json: bool) -> None:
    """Print the items of one paper or of all."""
    listed = [each for each in items() if paper in (None, each.paper)]
    if not listed:
        with wrong_input():
            find(str(paper), "")
    if as_json:
        entries = [
            {"paper": each.paper, "item": each.name, "title": each.title} for each in listed
        ]
        print_json({"engine": "reproduce", "items": entries})
    else:
        print(_items(listed))
        sys.stdout.flush()


def _items(listed: Sequence[Item]) -> str:
    width = max(len(f"{each.paper} {each.name}") for each in listed)
    lines = []
    for each in listed:
        runs = "one run" if each.runs == 1 else f"{each.runs} runs"
        simulated = "" if each.runs is None else f" (simulated, {runs} each)"
        lines.append(f"  {f'{each.paper} {each.name}':{width}}  {each.title}{simulated}")
    return "\n".join(["Reproducible items: ropewalk reproduce PAPER ITEM", "", *lines])
