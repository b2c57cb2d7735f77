"""``ropewalk simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..engines import simulate as api
from ..engines.simulate import SNAPLEN_MAX
from .failures import failures, wrong_input
from .options import (
    Capture,
    CaptureAt,
    Changes,
    Json,
    RunsFolder,
    RunsPage,
    ScenarioFile,
    Seed,
    Step,
    check_needed,
    check_outputs,
    check_step,
    effective_step,
    load,
    runs_option,
)
from .output import captured_line, store_and_print
from .progress import progress


def simulate(
    scenario: ScenarioFile,
    as_json: Json = False,
    seed: Seed = 1,
    runs: Annotated[int, runs_option("Number of runs, each with the next seed.")] = 1,
    changes: Changes = None,
    out: RunsFolder = None,
    pictures: RunsPage = None,
    step: Step = None,
    reordering: Annotated[
        bool,
        typer.Option(
            "--reordering", help="Measure reordering with the metrics of RFC 4737 and RFC 5236."
        ),
    ] = False,
    capture: Capture = None,
    capture_at: CaptureAt = None,
    snaplen: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=SNAPLEN_MAX,
            metavar="BYTES",
            help="Largest part of each packet that --capture stores, in bytes. Default: all.",
            show_default=False,
        ),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write windows, RTTs and losses of the first run to a qlog file: .sqlog.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of concurrent runs. Default: number of cores.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a scenario packet by packet, in virtual time.

    Example: ropewalk simulate scenarios/start/two-links.toml --set link.dsl.delay=50ms --runs 20
    """
    pictures = pictures or []
    with wrong_input():
        loaded = load(scenario, changes)
        check_outputs(out, pictures, capture, qlog)
        check_needed("--capture-at", capture_at, "--capture", capture)
        check_needed("--snaplen", snaplen, "--capture", capture)
        check_step(step, out, pictures)
    with failures(), progress("simulating", runs) as finished:
        results = api.simulate(
            loaded,
            seed=seed,
            runs=runs,
            step=effective_step(step, out, pictures),
            reordering=reordering,
            threads=threads,
            progress=finished,
            capture=capture,
            capture_at=capture_at or "sender",
            snaplen=snaplen,
            qlog=qlog,
        )
    more = captured_line(results, capture, capture_at)
    if qlog is not None:
        more.append(f"qlog:    {qlog}")
    store_and_print(results, out, pictures, *more, as_json=as_json)
