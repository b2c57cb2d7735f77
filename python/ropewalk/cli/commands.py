"""The command's verbs and global options.

A verb's module is imported on use; the help imports all.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Annotated

import typer

from .._core import __version__
from . import gateway

# Module of each verb's function, in the order of the help.
VERBS = {
    "simulate": "simulate",
    "reproduce": "reproduce",
    "predict": "predict",
    "testbed": "testbed",
    "testbed doctor": "testbed",
    "emulate": "emulate",
    "compare": "compare",
    "study": "study",
    "advise": "advise",
    "explain": "explain",
    "mesh": "mesh",
    "check": "check",
    "report": "report",
    "scenarios": "scenarios",
    "schema": "schema",
}
TWO_WORDS = ["testbed", "doctor"]
# Old names, which the help does not list.
ALIASES = {"sweep": "study"}


def run(arguments: Sequence[str]) -> None:
    """Run a verb with these arguments."""
    words = _verb_first(list(arguments))
    verb = words[0] if words else ""
    if verb in ALIASES:
        print(f"warning: {verb} is the older name of the verb {ALIASES[verb]}", file=sys.stderr)
    application([verb] if verb in VERBS or verb in ALIASES else (*VERBS, *ALIASES))(words)


def application(verbs: Iterable[str] = (*VERBS, *ALIASES)) -> typer.Typer:
    """Return the command with these verbs or aliases, and the gateway's verbs."""
    app = typer.Typer(
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_common)
    for verb in verbs:
        named = ALIASES.get(verb, verb)
        module = import_module(f".{VERBS[named]}", __package__)
        app.command(verb, hidden=verb in ALIASES)(getattr(module, named.split()[-1]))
    gateway.add_to(app)
    return app


def _verb_first(arguments: list[str]) -> list[str]:
    """Join the two words of a two-word verb."""
    if arguments[:2] == TWO_WORDS:
        return [" ".join(TWO_WORDS), *arguments[2:]]
    return arguments


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ropewalk {__version__}")
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Predict, simulate, emulate and run multipath transport over unequal links."""
