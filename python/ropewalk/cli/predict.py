"""``ropewalk predict``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..engines import predict as api
from .failures import failures, wrong_input
from .options import (
    Changes,
    Json,
    ScenarioFile,
    check_outputs,
    load,
    out_option,
    plot_option,
)
from .output import store_and_print


def predict(
    scenario: ScenarioFile,
    as_json: Json = False,
    changes: Changes = None,
    out: Annotated[
        Path | None, out_option("the models' table (Parquet), the picture, the scenario used")
    ] = None,
    pictures: Annotated[
        list[Path] | None,
        plot_option("the results of each model, and of each link alone"),
    ] = None,
) -> None:
    """Predict the results of a scenario by formulas, in milliseconds.

    Example: ropewalk predict scenarios/start/two-links.toml --set transport.receive_buffer=256KiB
    """
    pictures = pictures or []
    with wrong_input():
        loaded = load(scenario, changes)
        check_outputs(out, pictures)
    with failures():
        predictions = api.predict(loaded)
    store_and_print(predictions, out, pictures, as_json=as_json)
