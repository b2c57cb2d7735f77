"""The gateway's verbs: their arguments go to the gateway as they are, ``--help`` included."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

import typer

from .. import _core

VERBS = {
    "proxy": "Carry this machine's connections over several links to a relay.",
    "relay": "Run the far end: connect to the targets that proxies ask for.",
    "exec": "Run a program whose connections go over several links.",
    "tunnel": "Stripe packets of a virtual device over several links.",
    "keygen": "Create a key pair for a relay or a client.",
    "setup": "Write keys and configuration files of a relay or a client.",
    "measure": "Measure links towards a relay; write them as a scenario file.",
    "status": "Show the links and streams of a running gateway.",
}


def run(arguments: Sequence[str]) -> NoReturn:
    """Run a verb of the gateway in this process, and exit with its status.

    While it runs, Python's handlers of signals would not: the system's own end the process,
    or the gateway's where it has work to finish first.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.exit(_core.gateway(["ropewalk", *arguments]))


def add_to(app: typer.Typer) -> None:
    """Register the verbs, so that the command's help lists them."""
    for verb, meaning in VERBS.items():
        app.command(
            verb,
            help=meaning,
            add_help_option=False,
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(_passed_on)


def _passed_on(context: typer.Context) -> None:
    run([context.info_name or "", *context.args])
