"""``ropewalk predict``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import prediction
from .failures import failures, wrong_input
from .options import Changes, Json, ScenarioFile, check_outputs, load


def predict(
    scenario: ScenarioFile,
    as_json: Json = False,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep the models' table (Parquet), the scenario used and the JSON object.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Ask formulas what a scenario gives, in milliseconds.

    Example: ropewalk predict scenarios/start/two-links.toml
    --set transport.receive_buffer=256KiB
    """
    with wrong_input():
        loaded = load(scenario, changes)
        check_outputs(out, [])
    with failures():
        predictions = prediction.predict(loaded)
        if out is not None:
            from ..prediction.store import keep

            keep(predictions, loaded, out)
    if as_json:
        print(json.dumps(predictions.json()))
    else:
        from rich.console import Console

        from ..prediction.table import table

        console = Console(highlight=False)
        console.print(table(predictions))
        if out is not None:
            console.print(f"tables:  {out}", soft_wrap=True, markup=False)
    sys.stdout.flush()
