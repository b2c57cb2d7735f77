"""Storage of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...engines.predict.result import Prediction, Predictions
from ...results import folders
from ..plot.predict import drawable
from .contents import FolderContents

if TYPE_CHECKING:
    from ...provenance import Origin

MODELS = "models"
PICTURE = "models"


def contents(predictions: Predictions) -> FolderContents:
    """Return the files of predictions: the models' table, and the picture."""
    import polars as pl

    rows = []
    for model in predictions.models:
        row = {key: value for key, value in model.json().items() if key != "quantities"}
        delay = row.pop("delay_ms", {})
        row["warnings"] = "\n".join(row.get("warnings", []))
        rows.append(row | {f"delay_{part}_ms": value for part, value in delay.items()})
    tables = {MODELS: pl.DataFrame(rows, infer_schema_length=None)}
    pictures = {PICTURE: predictions.plot} if drawable(predictions) else {}
    requested = {} if predictions.origin is None else predictions.origin.scenarios
    scenario = next(iter(requested.values()), None)
    return FolderContents(requested if scenario is None else scenario, tables, pictures)


def restore(stored: folders.ResultFolder) -> Predictions:
    """Return the stored predictions.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> predictions = ropewalk.predict("start/two-links")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(predictions, folder)
    ...     ropewalk.load(folder) == predictions
    True
    """
    return of_json(stored.result, stored.origin)


def of_json(known: Mapping[str, Any], origin: Origin | None = None) -> Predictions:
    """Return predictions from their JSON form."""
    models = tuple(
        Prediction(**{**each, "warnings": tuple(each.get("warnings", ()))})
        for each in known["models"]
    )
    best = [each for each in models if each.name == known.get("best")]
    # The JSON object's list ends with the warnings of the preferred model.
    warnings = tuple(known.get("warnings", ()))
    of_best = len(best[0].warnings) if best else 0
    return Predictions(
        scenario=known["scenario"],
        models=models,
        asymmetry=known.get("asymmetry", {}),
        believed=known.get("best"),
        reason=known.get("reason"),
        warnings=warnings[: len(warnings) - of_best],
        origin=origin,
    )
