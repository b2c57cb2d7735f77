"""``ropewalk testbed`` and ``ropewalk testbed doctor``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..engines import testbed as api
from .failures import failures, wrong_input
from .options import (
    Again,
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
from .output import captured_line, print_json, print_table, store_and_print
from .progress import progress
from .statuses import FAILED


class Emulator(StrEnum):
    """The emulator of the links."""

    OWN = "own"
    NETEM = "netem"


def testbed(
    scenario: ScenarioFile,
    as_json: Json = False,
    seed: Seed = 1,
    runs: Annotated[int, runs_option("Number of runs, one after the other.")] = 1,
    changes: Changes = None,
    out: RunsFolder = None,
    pictures: RunsPage = None,
    step: Step = None,
    emulator: Annotated[
        Emulator,
        typer.Option(
            help="Emulator of the links: Ropewalk's own in real time, or the kernel's netem."
        ),
    ] = Emulator.OWN,
    kernel_congestion: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Congestion control by its kernel name, such as bbr. Default: the scenario's.",
            show_default=False,
        ),
    ] = None,
    capture: Capture = None,
    capture_at: CaptureAt = None,
    again: Again = 0,
) -> None:
    """Run a scenario on the Linux kernel's own TCP and MPTCP, over emulated links.

    It runs in real time, as root or in a user namespace. To check this machine, run ropewalk
    testbed doctor.

    Example: ropewalk testbed scenarios/start/two-links.toml --capture two.pcapng
    """
    pictures = pictures or []
    with wrong_input():
        loaded = load(scenario, changes)
        check_outputs(out, pictures, capture)
        check_needed("--capture-at", capture_at, "--capture", capture)
        check_step(step, out, pictures)
    with failures(), progress("running, s") as finished:
        results = api.testbed(
            loaded,
            seed=seed,
            runs=runs,
            step=effective_step(step, out, pictures),
            emulator=emulator.value,
            kernel_congestion=kernel_congestion,
            progress=finished,
            capture=capture,
            capture_at=capture_at,
            again=again,
        )
    more = captured_line(results, capture, capture_at)
    store_and_print(results, out, pictures, *more, as_json=as_json)


def doctor(
    scenario: Annotated[
        Path | None,
        typer.Argument(help="Scenario file that the testbed shall run.", show_default=False),
    ] = None,
    as_json: Json = False,
    changes: Changes = None,
) -> None:
    """Check this machine for the testbed, and name obstacles to running a scenario.

    The exit status is 1 if there is an obstacle.

    Example: ropewalk testbed doctor scenarios/start/two-links.toml
    """
    with wrong_input():
        if scenario is None and changes:
            raise ValueError(f"--set {changes[0]}: only with a scenario")
        loaded = None if scenario is None else load(scenario, changes)
    with failures():
        diagnosis = api.doctor(loaded)
    if as_json:
        print_json(diagnosis)
    else:
        from ..output.tables.doctor import table

        print_table(table(diagnosis))
    if not diagnosis["ready"]:
        raise typer.Exit(FAILED)
