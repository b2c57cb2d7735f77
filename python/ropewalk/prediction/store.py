"""Keep predictions in a folder: all of it, or nothing."""

from __future__ import annotations

from pathlib import Path

from ..scenario import Scenario
from ..store import PREDICTED, in_place_of, write_head, write_table
from .results import Predictions


def keep(predictions: Predictions, scenario: Scenario, folder: Path) -> None:
    """Write the models' table (Parquet), the scenario with its traces, and the JSON object.

    Parameters
    ----------
    predictions : Predictions
        What to keep.
    scenario : Scenario
        What they are of.
    folder : Path
        New, empty, or one that holds results of before, which are replaced.

    Raises
    ------
    OSError
        The folder holds something else, or cannot be written.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> scenario = ropewalk.Scenario.load("scenarios/start/two-links.toml")
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     keep(ropewalk.predict(scenario), scenario, Path(temporary) / "two-links")
    ...     sorted(file.name for file in (Path(temporary) / "two-links").iterdir())
    ['models.parquet', 'result.json', 'scenario.toml']
    """
    import polars as pl

    rows = []
    for model in predictions.models:
        row = {key: value for key, value in model.json().items() if key != "quantities"}
        delay = row.pop("delay_ms", {})
        row["warnings"] = "\n".join(row.get("warnings", []))
        rows.append(row | {f"delay_{part}_ms": value for part, value in delay.items()})
    with in_place_of(folder) as made:
        write_head(made, predictions.json(), scenario)
        write_table(pl.DataFrame(rows, infer_schema_length=None), made / PREDICTED)
