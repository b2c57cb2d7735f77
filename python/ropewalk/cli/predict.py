"""``ropewalk predict``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from .. import folders, prediction
from ..prediction.store import keep
from .failures import failures, wrong_input
from .options import (
    Changes,
    Json,
    ScenarioFile,
    check_outputs,
    load,
    out_option,
)
from .output import answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..prediction import Predictions


def predict(
    scenario: ScenarioFile,
    as_json: Json = False,
    changes: Changes = None,
    out: Annotated[
        Path | None, out_option("the models' table (Parquet), the scenario used")
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
        written = []
        if out is not None:
            keep(predictions, loaded, out)
            written.append(f"tables:  {out / folders.TABLES}")
    answer(predictions, _table, written, as_json=as_json)


def _table(predictions: Predictions) -> RenderableType:
    from ..prediction.table import table

    return table(predictions)
