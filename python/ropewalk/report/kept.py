"""A folder of results, as a verb's ``--out`` left it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import store
from ..prediction import Prediction, Predictions
from ..scenario import Scenario

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Kept:
    """A folder of results.

    Attributes
    ----------
    folder : Path
        Where it is.
    result : mapping
        The JSON object, as ``--json`` prints it.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(results, Path(folder) / "two-links")
    ...     kept = Kept.read(Path(folder) / "two-links")
    >>> kept.engine
    'simulate'
    """

    folder: Path
    result: Mapping[str, Any] = field(repr=False)

    @classmethod
    def read(cls, folder: Path) -> Kept:
        """Read what says of what kind a folder is.

        Raises
        ------
        ValueError
            There are no results in it, or they cannot be understood.
        OSError
            It cannot be read.
        """
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: no such folder")
        file = folder / store.RESULT
        if not file.exists():
            raise ValueError(
                f"{folder}: holds no {store.RESULT}; name a folder that --out has made"
            )
        try:
            result = json.loads(file.read_text())
        except json.JSONDecodeError as error:
            raise ValueError(f"{file}: line {error.lineno}: {error.msg.lower()}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{file}: not UTF-8 text") from None
        if not isinstance(result, dict) or not isinstance(result.get("engine"), str):
            raise ValueError(f"{file}: has no key engine; name a folder that --out has made")
        return cls(folder, result)

    @property
    def engine(self) -> str:
        """What made the results, such as ``"simulate"``."""
        engine: str = self.result["engine"]
        return engine

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario that was run.

        Raises
        ------
        ScenarioError
            It is wrong for this version of Ropewalk.
        OSError
            It cannot be read.
        """
        return Scenario.load(self.folder / store.SCENARIO)

    def table(self, name: str) -> pl.DataFrame:
        """Return one of the tables; an empty one where there is none.

        Parameters
        ----------
        name : str
            Of the file, without its ending; such as ``"timeline"`` or ``"tables/evidence"``.

        Raises
        ------
        ValueError
            It is no Parquet.
        """
        import polars as pl

        file = self.folder / f"{name}.parquet"
        if not file.exists():
            return pl.DataFrame()
        try:
            return pl.read_parquet(file)
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"{file}: {str(error).partition(chr(10))[0].lower()}") from None


@dataclass(frozen=True)
class KeptRuns:
    """Runs of one scenario, from a folder: what tables and comparisons ask of `Results`.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    runs : list of dict
        Each run's JSON object.
    mean, ci95 : dict
        Over the runs: means, and half the widths of their 95 % intervals.
    """

    scenario: Scenario
    runs: list[dict[str, Any]]
    mean: dict[str, Any]
    ci95: dict[str, Any]

    @classmethod
    def of(cls, result: Mapping[str, Any], scenario: Scenario) -> KeptRuns:
        """Take runs from what ``--json`` prints of one or several."""
        if "runs" in result and isinstance(result["runs"], list):
            return cls(scenario, result["runs"], result["mean"], result["ci95"])
        return cls(scenario, [dict(result)], dict(result), {})


def predictions_of(result: Mapping[str, Any]) -> Predictions:
    """Take predictions from what ``--json`` prints of them.

    Examples
    --------
    >>> import ropewalk
    >>> made = ropewalk.predict("scenarios/start/two-links.toml")
    >>> predictions_of(made.json()).json() == made.json()
    True
    """
    models = tuple(_model(each) for each in result["models"])
    believed = result.get("best")
    own = next((each.warnings for each in models if each.name == believed), ())
    warnings = result.get("warnings", [])
    return Predictions(
        result["scenario"],
        models,
        result.get("asymmetry", {}),
        believed,
        result.get("reason"),
        # The object ends with the believed model's own.
        tuple(warnings[: len(warnings) - len(own)]),
    )


def _model(known: Mapping[str, Any]) -> Prediction:
    return Prediction(**{**known, "warnings": tuple(known.get("warnings", ()))})
