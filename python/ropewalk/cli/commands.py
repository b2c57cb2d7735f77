"""The verbs of the command, and what stands before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from .._core import __version__
from . import (
    advise,
    compare,
    emulate,
    explain,
    gateway,
    mesh,
    predict,
    report,
    reproduce,
    scenarios,
    schema,
    simulate,
    testbed,
)

TWO_WORDS = ["testbed", "doctor"]

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run(arguments: Sequence[str]) -> None:
    """Run a verb with these arguments."""
    app(_verb_first(list(arguments)))


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
app.command("emulate")(emulate.emulate)
app.command("compare")(compare.compare)
app.command("advise")(advise.advise)
app.command("explain")(explain.explain)
app.command("mesh")(mesh.mesh)
app.command("report")(report.report)
app.command("scenarios")(scenarios.scenarios)
app.command("schema")(schema.schema)
gateway.add_to(app)
