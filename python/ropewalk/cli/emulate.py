"""``ropewalk emulate``."""

from __future__ import annotations

import json
from tempfile import NamedTemporaryFile
from typing import Annotated

import typer

from ..support import programs
from .becoming import become
from .failures import failures, wrong_input
from .options import Changes, ScenarioFile, load, seed_option

SEED = seed_option("Links draw their losses from streams of this seed.")


def emulate(
    scenario: ScenarioFile,
    program: Annotated[
        list[str],
        typer.Argument(help="The program and its arguments, behind --.", show_default=False),
    ],
    seed: Annotated[int, SEED] = 1,
    changes: Changes = None,
    far: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="A shell command that runs at the other end of the links meanwhile.",
            show_default=False,
        ),
    ] = None,
    mptcp: Annotated[
        bool, typer.Option("--mptcp", help="Connections of MPTCP get a subflow for each path.")
    ] = False,
    internet: Annotated[
        bool,
        typer.Option(
            "--internet", help="Put this machine's network behind the links (NAT); needs root."
        ),
    ] = False,
) -> None:
    """Run a program behind the links of a scenario, in real time.

    It has an interface for each path, the first of which is its default route; the other end is at
    $ROPEWALK_FAR. The exit status is the program's, and signals go on to it.

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
        # Nothing is written for a program that is not there.
        programs.find(programs.TESTBED)
        with NamedTemporaryFile("w", prefix="ropewalk-", suffix=".json", delete=False) as file:
            json.dump(request, file)
    # The program removes the file.
    become(programs.TESTBED, ["emulate", "--request", file.name])
