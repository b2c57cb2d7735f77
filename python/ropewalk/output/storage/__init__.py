"""Write the results of any verb to a folder, and read them again."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ...results.folders import RESULT, open_kept
from ...support.arguments import path, refused
from .contents import write

if TYPE_CHECKING:
    from ...analysis.advise import Counsel
    from ...analysis.compare import Comparison
    from ...analysis.mesh import Census
    from ...analysis.reproduction import Reproduction
    from ...analysis.study import StudyResults
    from ...engines.predict import Predictions
    from ...results import Results

    Keepable: TypeAlias = Results | Predictions | Comparison | Counsel | Census | Reproduction
    Loaded: TypeAlias = Keepable | StudyResults

__all__ = ["keep", "load"]

# By the engine that JSON objects name: the module that gives what a folder has (`contents`) and
# makes results of it again (`restore`). A study keeps its runs as they come.
STUDIES = "sweep"
KEEPING = {
    "simulate": "runs",
    "testbed": "runs",
    "predict": "predict",
    "compare": "compare",
    "advise": "advise",
    "mesh": "mesh",
    "reproduce": "reproduce",
    STUDIES: "study",
}


def keep(made: Keepable, folder: str | os.PathLike[str]) -> list[Path]:
    """Write tables (Parquet), pictures, the scenario with its traces, and the JSON object.

    Parameters
    ----------
    made : Results, Predictions, Comparison, Counsel, Census or Reproduction
        What to keep: what any verb returns, but for a study, which is kept as it runs.
    folder : path
        New, empty, or with results of before, which are replaced.

    Returns
    -------
    list of Path
        The pictures, the one to look at first first.

    Raises
    ------
    OSError
        The folder holds something else, or cannot be written.
    ValueError
        There is nothing in it to keep so.

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
        raise refused("made", made, "what a verb returns, such as Results")
    result = made.json()
    engine = result.get("engine")
    if engine == STUDIES or engine not in KEEPING:
        raise ValueError(f"{type(made).__name__} is not kept so; a study is, with its out=")
    return write(Path(path("folder", folder)), result, _keeping(engine).contents(made))


def load(folder: str | os.PathLike[str]) -> Loaded:
    """Read results back from a folder that ``--out`` has made, of any verb.

    Parameters
    ----------
    folder : path
        The folder, with its ``result.json``.

    Returns
    -------
    Results, Predictions, Comparison, Counsel, Census, Reproduction or StudyResults
        What the verb returns in Python, with its origin: of ``simulate`` and ``testbed``,
        ``predict``, ``compare``, ``advise``, ``mesh``, ``reproduce`` and ``sweep``. The picture of
        a reproduction is the kept one; all others are drawn anew from the numbers.

    Raises
    ------
    OSError
        The folder is not there, or a file in it cannot be read.
    ValueError
        It holds no results, or such as this version does not know.
    ScenarioError
        The scenario in it is none for this version.

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
    kept = open_kept(Path(path("folder", folder)))
    engine = kept.result["engine"]
    if engine not in KEEPING:
        known = ", ".join(KEEPING)
        raise ValueError(
            f"{kept.folder / RESULT}: engine is {engine!r}: only {known} can be read back"
        )
    try:
        made: Loaded = _keeping(engine).restore(kept)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{kept.folder / RESULT}: not as this version writes it: {error}"
        ) from None
    return made


def _keeping(engine: str) -> Any:
    return import_module(f"{__name__}.{KEEPING[engine]}")
