"""``ropewalk compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..analysis import compare as api
from .failures import failures, wrong_input
from .options import (
    Again,
    Changes,
    Json,
    PictureFolder,
    ScenarioFile,
    Seed,
    check_outputs,
    effective_step,
    load,
    plot_option,
    runs_option,
)
from .output import store_and_print
from .progress import progress


def compare(
    scenario: ScenarioFile,
    as_json: Json = False,
    ways: Annotated[
        str | None,
        typer.Option(
            metavar="WAY,WAY",
            help=f"Ways to compare: {', '.join(api.WAYS)}. Default: all that apply.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 1,
    runs: Annotated[int, runs_option("Number of runs of each way except predict.")] = 1,
    changes: Changes = None,
    out: PictureFolder = None,
    pictures: Annotated[
        list[Path] | None, plot_option("bars of goodput with intervals, and goodput over time")
    ] = None,
    again: Again = 0,
) -> None:
    """Run a scenario in several ways, and explain the differences of their results.

    Example: ropewalk compare scenarios/start/two-links.toml --runs 10 --plot compared.png
    """
    pictures = pictures or []
    with wrong_input():
        chosen = None if ways is None else _chosen(ways)
        loaded = load(scenario, changes)
        check_outputs(out, pictures)
    with failures(), progress("comparing") as finished:
        made = api.compare(
            loaded,
            ways=chosen,
            seed=seed,
            runs=runs,
            step=effective_step(None, out, pictures),
            progress=finished,
            again=again,
        )
    store_and_print(made, out, pictures, as_json=as_json)


def _chosen(ways: str) -> tuple[str, ...]:
    try:
        return api.ways_to_run([way.strip() for way in ways.split(",") if way.strip()])
    except ValueError as error:
        allowed = str(error).partition(": ")[2]
        raise ValueError(f"--ways {ways}: {allowed}") from None
