"""``ropewalk emulate``."""

from __future__ import annotations

import json
from tempfile import NamedTemporaryFile
from typing import Annotated

import typer

from ..support import programs
from .exec_program import exec_program
from .failures import failures, wrong_input
from .options import Changes, ScenarioFile, load, seed_option

SEED = seed_option("Seed of the random losses of the links.")


def emulate(
    scenario: ScenarioFile,
    program: Annotated[
        list[str],
        typer.Argument(help="Program to run, with its arguments, after --.", show_default=False),
    ],
    seed: Annotated[int, SEED] = 1,
    changes: Changes = None,
    far: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Shell command that runs meanwhile at the other end of the links.",
            show_default=False,
        ),
    ] = None,
    mptcp: Annotated[
        bool, typer.Option("--mptcp", help="Give MPTCP connections a subflow on each path.")
    ] = False,
    internet: Annotated[
        bool,
        typer.Option(
            "--internet",
            help="Connect the far side of the links to this machine's network (NAT). Needs root.",
        ),
    ] = False,
) -> None:
    """Run a program behind the links of a scenario, in real time.

    The program has an interface for each path; its default route is the first path. The address of
    the other end is in $ROPEWALK_FAR. The exit status is the program's, and it receives all
    signals.

    Example: ropewalk emulate scenarios/start/two-links.toml --internet -- bash
    """
    with wrong_input():
        loaded = load(scenario, changes)
    request = {
        "scenario": loaded.text,
        "name": loaded.name,
        "overrides": loaded.overrides,
        "files": loaded.files,
        "seed": seed,
        "program": program,
        "far": far,
        "mptcp": mptcp,
        "internet": internet,
    }
    with failures():
        # Without the program, write nothing.
        programs.find(programs.TESTBED)
        with NamedTemporaryFile("w", prefix="ropewalk-", suffix=".json", delete=False) as file:
            json.dump(request, file)
    # The program removes the file.
    exec_program(programs.TESTBED, ["emulate", "--request", file.name])
