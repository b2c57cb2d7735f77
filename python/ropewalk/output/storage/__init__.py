"""Storage of any verb's results in folders."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ...results.folders import RESULT, open_result_folder
from ...support.arguments import argument_error, path
from .contents import write

if TYPE_CHECKING:
    from ...analysis.advise import AdviceResults
    from ...analysis.compare import Comparison
    from ...analysis.mesh import Census
    from ...analysis.reproduction import Reproduction
    from ...analysis.study import StudyResults
    from ...engines.predict import Predictions
    from ...results import Results

    Storable: TypeAlias = (
        Results | Predictions | Comparison | AdviceResults | Census | Reproduction
    )
    Loaded: TypeAlias = Storable | StudyResults

__all__ = ["keep", "load"]

# Engine in the JSON object: module with `contents` (files to write) and `restore` (results from
# files). A study writes its runs as they finish; its engine has the verb's old name.
STUDIES = "sweep"
STORAGE_MODULES = {
    "simulate": "runs",
    "testbed": "runs",
    "predict": "predict",
    "compare": "compare",
    "advise": "advise",
    "mesh": "mesh",
    "reproduce": "reproduce",
    STUDIES: "study",
}


def keep(made: Storable, folder: str | os.PathLike[str]) -> list[Path]:
    """Write results: Parquet tables, pictures, scenario with traces, and JSON object.

    Parameters
    ----------
    made : Results, Predictions, Comparison, AdviceResults, Census or Reproduction
        Results of any verb but study, which writes its own folder.
    folder : path
        New, empty, or with earlier results, which are replaced.

    Returns
    -------
    list of Path
        The pictures, the main one first.

    Raises
    ------
    OSError
        The folder holds something else, or cannot be written.
    ValueError
        The object cannot be stored.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.simulate("start/two-links")
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     pictures = keep(results, Path(temporary) / "two-links")
    ...     sorted(file.name for file in (Path(temporary) / "two-links").iterdir())
    ['pictures', 'result.json', 'scenario.toml', 'tables']
    """
    if not callable(getattr(made, "json", None)):
        raise argument_error("made", made, "the result of a verb, such as Results")
    result = made.json()
    engine = result.get("engine")
    if engine == STUDIES or engine not in STORAGE_MODULES:
        raise ValueError(
            f"{type(made).__name__} cannot be stored by keep; a study writes its own folder: out="
        )
    return write(Path(path("folder", folder)), result, _storage_module(engine).contents(made))


def load(folder: str | os.PathLike[str]) -> Loaded:
    """Read results of any verb from a folder written by ``--out``.

    Parameters
    ----------
    folder : path
        Folder with a ``result.json``.

    Returns
    -------
    Results, Predictions, Comparison, AdviceResults, Census, Reproduction or StudyResults
        The verb's Python result with its origin: for ``simulate`` and ``testbed``, ``predict``,
        ``compare``, ``advise``, ``mesh``, ``reproduce`` and ``study``. The picture of a
        reproduction is the stored one; other pictures are redrawn from the numbers.

    Raises
    ------
    OSError
        The folder does not exist, or a file in it cannot be read.
    ValueError
        The folder has no results, or results that this version does not know.
    ScenarioError
        The scenario in it is invalid in this version.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.simulate("start/two-links", runs=2)
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     pictures = keep(results, f"{temporary}/two-links")
    ...     again = load(f"{temporary}/two-links")
    >>> again.summary.equals(results.summary), again.origin == results.origin
    (True, True)
    """
    stored = open_result_folder(Path(path("folder", folder)))
    engine = stored.result["engine"]
    if engine not in STORAGE_MODULES:
        known = ", ".join(STORAGE_MODULES)
        raise ValueError(
            f"{stored.folder / RESULT}: engine is {engine!r}: only {known} can be read back"
        )
    try:
        made: Loaded = _storage_module(engine).restore(stored)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{stored.folder / RESULT}: not as this version writes it: {error}"
        ) from None
    return made


def _storage_module(engine: str) -> Any:
    return import_module(f"{__name__}.{STORAGE_MODULES[engine]}")
