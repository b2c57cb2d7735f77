"""``ropewalk emulate``."""

from __future__ import annotations

import json
import signal
import sys
from typing import Annotated

import typer

from .. import _core
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
    sys.stdout.flush()
    # Python's handlers would not run meanwhile.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    with failures():
        status = _core.testbed_emulate(json.dumps(request))
    raise typer.Exit(status)
