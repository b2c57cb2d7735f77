"""The gateway's verbs, which receive their arguments unchanged, ``--help`` included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import typer

from ..support import programs
from .exec_program import exec_program

VERBS = {
    "client": "Carry all traffic of this machine over several links to a relay.",
    "proxy": "Carry this machine's connections over several links to a relay.",
    "relay": "Run the relay of clients: connect to the targets that they request.",
    "exec": "Run a program whose connections go over several links.",
    "tunnel": "Stripe packets of a virtual device over several links.",
    "keygen": "Create a key pair for a relay or a client.",
    "setup": "Write keys and configuration files of a relay or a client.",
    "measure": "Measure the links to a relay, and write a scenario file.",
    "status": "Show the links and streams of a running gateway.",
}


def run(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by the gateway, with one of its verbs."""
    exec_program(programs.GATEWAY, arguments)


def add_to(app: typer.Typer) -> None:
    """Register the verbs for the command's help."""
    for verb, meaning in VERBS.items():
        app.command(
            verb,
            help=meaning,
            add_help_option=False,
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(_passed_on)


def _passed_on(context: typer.Context) -> None:
    run([context.info_name or "", *context.args])
