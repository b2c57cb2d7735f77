"""The command ``ropewalk``: one file a verb."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from .._core import __version__
from . import advise, compare, predict, reproduce, schema, simulate
from .failures import FAILED

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line and exit: 0 done, 1 the run failed, 2 the input is wrong."""
    try:
        app()
    except OSError as error:
        # Nothing more can be said on standard output, not even at exit. If whoever read it
        # has left, nothing is to be said at all.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"standard output: {error.strerror or error}".lower(), file=sys.stderr)
        sys.exit(FAILED)


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
app.command("compare")(compare.compare)
app.command("advise")(advise.advise)
app.command("schema")(schema.schema)
