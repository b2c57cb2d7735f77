"""``ropewalk mesh``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..scenario import Scenario
from .failures import wrong_input
from .options import (
    Changes,
    Json,
    check_outputs,
    load,
    out_option,
    override,
    plot_option,
    seed_option,
)
from .output import store_and_print
from .progress import progress


def mesh(
    scenario: Annotated[
        Path | None,
        typer.Argument(
            help="Scenario file with [mesh]. Default: 100 m x 100 m, links up to 20 m.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    nodes: Annotated[
        str | None,
        typer.Option(
            metavar="N,N,...",
            help="Numbers of nodes, separated by commas. Default: the mesh's own number.",
            show_default=False,
        ),
    ] = None,
    graphs: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Number of deployments for each number of nodes."),
    ] = 1000,
    changes: Changes = None,
    seed: Annotated[
        int | None, seed_option("Seed of all deployments. Default: the mesh's own seed.")
    ] = None,
    optimal: Annotated[
        bool, typer.Option(help="Find optimal pairs of routes in addition to greedy ones.")
    ] = True,
    deployments: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Number of deployments that --out stores as files."),
    ] = 0,
    out: Annotated[
        Path | None, out_option("a table with a row for each deployment (Parquet), the picture")
    ] = None,
    pictures: Annotated[
        list[Path] | None, plot_option("the picture", ". Repeat for several files")
    ] = None,
) -> None:
    """Count random meshes with several disjoint routes, for each routing.

    Example: ropewalk mesh --nodes 16,24,32,48,64 --graphs 1000 --plot mesh.png
    """
    # Loading numpy takes longer than most other verbs.
    from ..analysis import mesh as meshes

    pictures = pictures or []
    with wrong_input():
        if scenario is None:
            overrides = [override(change) for change in changes or []]
            loaded = Scenario(meshes.DEFAULT, name="mesh.toml", overrides=overrides)
        else:
            loaded = load(scenario, changes)
        wanted = None if nodes is None else _numbers(nodes)
        if deployments and out is None:
            raise ValueError("--deployments: only with --out, which keeps them")
        check_outputs(out, pictures)
    with wrong_input(), progress("drawing") as finished:
        counted = meshes.census(
            loaded,
            nodes=wanted,
            graphs=graphs,
            seed=seed,
            optimal=optimal,
            keep=deployments,
            progress=finished,
        )
    store_and_print(counted, out, pictures, as_json=as_json)


def _numbers(text: str) -> list[int]:
    numbers = []
    for word in text.split(","):
        if not word.strip().isdecimal() or not 2 <= int(word) <= 1000:
            raise ValueError(f"--nodes {text}: {word.strip()!r} is no whole number from 2 to 1000")
        numbers.append(int(word))
    return numbers
