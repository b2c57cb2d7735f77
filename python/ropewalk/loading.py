"""Read back what any verb has kept in a folder."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from .folders import RESULT, open_kept

if TYPE_CHECKING:
    from .advice import Counsel
    from .comparison import Comparison
    from .mesh import Census
    from .prediction import Predictions
    from .reproduction import Reproduction
    from .results import Results
    from .studies import StudyResults

    Loaded: TypeAlias = (
        Results | Predictions | Comparison | Counsel | Census | Reproduction | StudyResults
    )

# What restores the results of an engine, as `engine` in their JSON object names it.
RESTORING = {
    "simulate": "store",
    "testbed": "store",
    "predict": "prediction.store",
    "compare": "comparison.store",
    "advise": "advice.store",
    "mesh": "mesh.store",
    "reproduce": "reproduction.keeping",
    "sweep": "studies.folder",
}


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
        ``predict``, ``compare``, ``advise``, ``mesh``, ``reproduce`` and ``sweep``. The picture
        of a reproduction is the kept one; all others are drawn anew from the numbers.

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
    >>> from ropewalk.store import keep
    >>> results = ropewalk.simulate("scenarios/start/two-links.toml", runs=2)
    >>> with tempfile.TemporaryDirectory() as temporary:
    ...     pictures = keep(results, f"{temporary}/two-links")
    ...     again = load(f"{temporary}/two-links")
    >>> again.summary.equals(results.summary), again.origin == results.origin
    (True, True)
    """
    kept = open_kept(Path(folder))
    engine = kept.result["engine"]
    if engine not in RESTORING:
        known = ", ".join(RESTORING)
        raise ValueError(
            f"{kept.folder / RESULT}: engine is {engine!r}: only {known} can be read back"
        )
    try:
        made: Loaded = import_module(f"{__package__}.{RESTORING[engine]}").restore(kept)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{kept.folder / RESULT}: not as this version writes it: {error}"
        ) from None
    return made
