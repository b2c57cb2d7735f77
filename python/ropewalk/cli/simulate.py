"""``ropewalk simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import simulation
from ..simulation import SNAPLEN_MAX
from .failures import failures, wrong_input
from .options import Changes, Json, ScenarioFile, Seed, check_outputs, check_pictures, load
from .output import answer, captured, keep_results, results_table
from .progress import progress

STEP = "100 ms"


def simulate(
    scenario: ScenarioFile,
    as_json: Json = False,
    seed: Seed = 1,
    runs: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="How many runs; each has the seed after the one before."
        ),
    ] = 1,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep tables (Parquet), plots, the scenario used and the JSON object.",
            show_default=False,
        ),
    ] = None,
    pictures: Annotated[
        list[Path] | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw all plots of the first run on one page: .png, .svg or .pdf.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help=f"Step of the timeline that --out keeps and plots show; default: {STEP}.",
            show_default=False,
        ),
    ] = None,
    reordering: Annotated[
        bool, typer.Option("--reordering", help="Measure reordering by RFC 4737 and RFC 5236.")
    ] = False,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the packets of the first run, for Wireshark: .pcapng or .pcap.",
            show_default=False,
        ),
    ] = None,
    capture_at: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Where --capture sees them: sender, receiver, or a link's name; default: sender.",
            show_default=False,
        ),
    ] = None,
    snaplen: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=SNAPLEN_MAX,
            metavar="BYTES",
            help="How much of each packet --capture keeps; default: all.",
            show_default=False,
        ),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write windows, round-trip times and losses of the first run, as qlog: .sqlog.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="How many runs at a time; default: all cores.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a scenario packet by packet, in virtual time.

    Example: ropewalk simulate scenarios/start/two-links.toml
    --set link.dsl.delay=50ms --runs 20
    """
    pictures = pictures or []
    with wrong_input():
        loaded = load(scenario, changes)
        check_outputs(out, [*pictures, *(path for path in (capture, qlog) if path)])
        check_pictures(pictures)
        for option, value in (("--capture-at", capture_at), ("--snaplen", snaplen)):
            if value is not None and capture is None:
                raise ValueError(f"{option} {value}: only with --capture")
        if step is not None and not (out or pictures):
            raise ValueError(f"--step {step}: only with --out or --plot")
    with failures(), progress("simulating", runs) as finished:
        results = simulation.simulate(
            loaded,
            seed=seed,
            runs=runs,
            step=(step or STEP) if out or pictures else None,
            reordering=reordering,
            threads=threads,
            progress=finished,
            capture=capture,
            capture_at=capture_at or "sender",
            snaplen=snaplen,
            qlog=qlog,
        )
    with failures():
        written = keep_results(results, out, pictures)
        if capture is not None:
            written.append(captured(results, capture, capture_at))
        if qlog is not None:
            written.append(f"qlog:    {qlog}")
    answer(results, results_table, written, as_json=as_json)
