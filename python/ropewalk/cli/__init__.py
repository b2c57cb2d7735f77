"""The command ``ropewalk``: one file a verb."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

from .._core import __version__
from . import advise, compare, gateway, predict, reproduce, schema, simulate, testbed
from .failures import FAILED

TWO_WORDS = ["testbed", "doctor"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line and exit: 0 done, 1 the run failed, 2 the input is wrong.

    Whoever ends it with SIGTERM lets it tidy up, as with an interrupt.
    """
    if sys.argv[1:2] and sys.argv[1] in gateway.VERBS:
        gateway.run(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        app(_verb_first(sys.argv[1:]))
    except OSError as error:
        # Nothing more can be said on standard output, not even at exit. If whoever read it
        # has left, nothing is to be said at all.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"standard output: {error.strerror or error}".lower(), file=sys.stderr)
        sys.exit(FAILED)


def _verb_first(arguments: list[str]) -> list[str]:
    """Make one word of the verb that has two."""
    if arguments[:2] == TWO_WORDS:
        return [" ".join(TWO_WORDS), *arguments[2:]]
    return arguments


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ropewalk {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which this is."),
    ] = False,
) -> None:
    """What several unequal network links give together."""


app.command("simulate")(simulate.simulate)
app.command("reproduce")(reproduce.reproduce)
app.command("predict")(predict.predict)
app.command("testbed")(testbed.testbed)
app.command(" ".join(TWO_WORDS))(testbed.doctor)
app.command("compare")(compare.compare)
app.command("advise")(advise.advise)
app.command("schema")(schema.schema)
gateway.add_to(app)
