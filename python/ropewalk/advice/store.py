"""Keep advice in a folder: all of it, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .. import plot, store
from ..scenario import spelled
from .picture import draw
from .results import Counsel


def keep(counsel: Counsel, folder: Path) -> Path:
    """Write tables (Parquet), the picture, the scenario with its traces, and the JSON object.

    Parameters
    ----------
    counsel : Counsel
        What to keep.
    folder : Path
        New, empty, or with results of before, which are replaced.

    Returns
    -------
    Path
        The picture.

    Raises
    ------
    OSError
        The folder holds something else, or cannot be written.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> counsel = ropewalk.advise("scenarios/start/two-links.toml")
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     picture = keep(counsel, Path(temporary) / "advice")
    ...     sorted(file.name for file in (Path(temporary) / "advice" / "tables").iterdir())
    ['evidence.parquet', 'subsets.parquet']
    """
    import polars as pl

    evidence: list[dict[str, Any]] = [
        {
            "question": advice.question,
            "what": each.what,
            "remarks": ", ".join(each.remarks),
            "settings": "\n".join(f"{key}={spelled(to)}" for key, to in each.settings.items()),
            **each.numbers,
        }
        for advice in counsel.advice
        for each in advice.evidence
    ]
    subsets = {
        "paths": [", ".join(each.paths) for each in counsel.subsets],
        "links": [len(each.paths) for each in counsel.subsets],
        "predicted_mbps": [each.predicted_mbps for each in counsel.subsets],
        "simulated_mbps": [each.simulated_mbps for each in counsel.subsets],
    }
    schema = {"predicted_mbps": pl.Float64, "simulated_mbps": pl.Float64}
    with store.in_place_of(folder) as made:
        store.write_head(made, counsel.json(), counsel.scenario)
        tables = made / store.TABLES_FOLDER
        tables.mkdir()
        store.write_table(
            pl.DataFrame(evidence, infer_schema_length=None), tables / "evidence.parquet"
        )
        store.write_table(
            pl.DataFrame(subsets, schema_overrides=schema), tables / "subsets.parquet"
        )
        plot.save(draw(counsel), made / store.PICTURE)
    return folder / store.PICTURE
