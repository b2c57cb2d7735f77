"""A report of folders: a section for each, by the verb that kept it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ...results.folders import REPORT, RESULT, Kept, open_kept
from ...support.atomic_write import replace
from . import advised, compared, counted, predicted, reproduced, runs, swept
from .page import check_installed, page
from .section import Section

SECTIONS: dict[str, Callable[[Kept], Section]] = {
    "simulate": runs.section,
    "testbed": runs.section,
    "predict": predicted.section,
    "compare": compared.section,
    "advise": advised.section,
    "reproduce": reproduced.section,
    "mesh": counted.section,
    "sweep": swept.section,
}


def write(
    folders: Sequence[str | os.PathLike[str]], file: str | os.PathLike[str] | None = None
) -> Path:
    """Write a report of folders of results, a section for each.

    Parameters
    ----------
    folders : sequence of path
        Folders that a verb's ``--out`` has made, one or several.
    file : path, optional
        Where to; ``report.html`` in the first folder if not given.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        A folder has no results, or some that cannot be understood, or there is no folder.
    MissingLibraryError
        What pages are made with is not installed: ``pip install "ropewalk[report]"`` does.
    OSError
        A folder cannot be read or the file not be written.
    """
    check_installed()
    path = Path(folders[0]) / REPORT if file is None and folders else Path(file or REPORT)
    write_sections(sections(folders), path)
    return path


def sections(folders: Sequence[str | os.PathLike[str]]) -> list[Section]:
    """Return the section of each folder.

    Raises
    ------
    ValueError, OSError
        As `write`.
    """
    if not folders:
        raise ValueError("no folder to report of")
    return [_section(open_kept(Path(folder))) for folder in folders]


def write_sections(made: Sequence[Section], path: Path) -> None:
    """Write a page of sections.

    Raises
    ------
    MissingLibraryError, OSError
        As `write`.
    """
    title = made[0].title if len(made) == 1 else f"{made[0].title}, and {len(made) - 1} more"
    replace(path, page(title, made).encode())


def _section(kept: Kept) -> Section:
    make = SECTIONS.get(kept.engine)
    if make is None:
        raise ValueError(
            f"{kept.folder}: results of {kept.engine!r}; there are reports of"
            f" {', '.join(SECTIONS)}"
        )
    try:
        command = "" if kept.origin is None else kept.origin.command
        return dataclasses.replace(make(kept), command=command)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{kept.folder / RESULT}: not as this version of ropewalk writes it"
            f" ({type(error).__name__}: {error})"
        ) from error
