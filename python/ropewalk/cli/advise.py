"""``ropewalk advise``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..analysis import advise as api
from .failures import failures, wrong_input
from .options import (
    Changes,
    Json,
    PictureFolder,
    ScenarioFile,
    Seed,
    check_outputs,
    load,
    plot_option,
    runs_option,
)
from .output import store_and_print
from .progress import progress


def advise(
    scenario: ScenarioFile,
    as_json: Json = False,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Rate to carry at the lowest cost, such as '6 Mbit/s'."
            " Default: the traffic's rate.",
            show_default=False,
        ),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help='Longest acceptable delay of the data, such as "150 ms".',
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Simulate all subsets of up to 10 links, and print the rank of the advised one.",
        ),
    ] = False,
    seed: Seed = 1,
    runs: Annotated[
        int, runs_option("Number of runs of each candidate, if the scenario is random.")
    ] = api.RUNS,
    changes: Changes = None,
    out: PictureFolder = None,
    pictures: Annotated[
        list[Path] | None, plot_option("the goodput of subsets of links by their number of links")
    ] = None,
) -> None:
    """Advise on links, scheduler and buffers for a scenario, and on their cost.

    Example: ropewalk advise scenarios/trains/eight-links.toml --rate "6 Mbit/s" --delay "150 ms"
    --plot subsets.png
    """
    pictures = pictures or []
    with wrong_input():
        loaded = load(scenario, changes)
        api.read_requirement(loaded, rate, delay, "--")
        if check:
            api.require_few_paths(loaded, "--check")
        check_outputs(out, pictures)
    with failures(), progress("advising") as finished:
        results = api.advise(
            loaded,
            rate=rate,
            delay=delay,
            seed=seed,
            runs=runs,
            check=check,
            progress=finished,
        )
    store_and_print(results, out, pictures, as_json=as_json)
