"""The function `write`: a report with a section for each folder."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ...results.folders import REPORT, RESULT, ResultFolder, open_result_folder
from ...support.atomic_write import replace
from . import advise, compare, mesh, predict, reproduce, runs, study
from .page import check_installed, page
from .section import Section

SECTIONS: dict[str, Callable[[ResultFolder], Section]] = {
    "simulate": runs.section,
    "testbed": runs.section,
    "predict": predict.section,
    "compare": compare.section,
    "advise": advise.section,
    "reproduce": reproduce.section,
    "mesh": mesh.section,
    "sweep": study.section,
}


def write(
    folders: Sequence[str | os.PathLike[str]], file: str | os.PathLike[str] | None = None
) -> Path:
    """Write a report of folders of results, a section for each.

    Parameters
    ----------
    folders : sequence of path
        Folders written by a verb's ``--out``.
    file : path, optional
        File to write. Default: ``report.html`` in the first folder.

    Returns
    -------
    Path
        Path of the report.

    Raises
    ------
    ValueError
        No folder is given, or one has no valid results.
    MissingLibraryError
        The ``report`` extra is missing: ``pip install "ropewalk[report]"``.
    OSError
        A folder is unreadable, or the file not writable.
    """
    check_installed()
    path = Path(folders[0]) / REPORT if file is None and folders else Path(file or REPORT)
    write_sections(sections(folders), path)
    return path


def sections(folders: Sequence[str | os.PathLike[str]]) -> list[Section]:
    """Return the section of each folder; errors as for `write`."""
    if not folders:
        raise ValueError("no folder to report of")
    return [_section(open_result_folder(Path(folder))) for folder in folders]


def write_sections(made: Sequence[Section], path: Path) -> None:
    """Write a page of sections; errors as for `write`."""
    title = made[0].title if len(made) == 1 else f"{made[0].title}, and {len(made) - 1} more"
    replace(path, page(title, made).encode())


def _section(stored: ResultFolder) -> Section:
    make = SECTIONS.get(stored.engine)
    if make is None:
        raise ValueError(
            f"{stored.folder}: results of {stored.engine!r}; there are reports of"
            f" {', '.join(SECTIONS)}"
        )
    try:
        command = "" if stored.origin is None else stored.origin.command
        return dataclasses.replace(make(stored), command=command)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{stored.folder / RESULT}: not as this version of ropewalk writes it"
            f" ({type(error).__name__}: {error})"
        ) from error
