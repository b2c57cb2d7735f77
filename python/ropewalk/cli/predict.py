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
    check_pictures,
    load,
    out_option,
    plot_option,
)
from .output import print_result, store_results


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
        check_pictures(pictures)
    with failures():
        predictions = api.predict(loaded)
        written = store_results(predictions, out, pictures)
    print_result(predictions, written, as_json=as_json)
