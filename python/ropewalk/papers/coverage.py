"""Coverage of the papers: each statement, and the rows that show it.

``statements.toml`` lists the statements. A state is computed from the rows of the reproductions.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..analysis.coverage import Coverage, CoveredStatement, State, Statement, matches
from ..results.folders import RESULT, open_result_folder
from ..support.arguments import path as path_of
from .api import Item, find, items, reproduce

if TYPE_CHECKING:
    from ..analysis.reproduction import ComparedValue, Reproduction

OTHER_READINGS = "other-readings"  # of statements.toml: patterns of rows, by paper and item


@cache
def statements(paper: str | None = None) -> tuple[Statement, ...]:
    """Return the statements of a paper, or of all papers.

    Raises
    ------
    ValueError
        The paper is unknown.

    Examples
    --------
    >>> statements("song-2018")[0].where
    'section 1'
    """
    listed = {name: each for name, each in _listed().items() if name != OTHER_READINGS}
    if paper is not None and paper not in listed:
        find(paper, "")
    return tuple(
        _statement(name, number, entry)
        for name, entries in listed.items()
        if paper in (None, name)
        for number, entry in enumerate(entries, start=1)
    )


@cache
def _listed() -> dict[str, Any]:
    text = files(__package__).joinpath("statements.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def coverage(
    paper: str | None = None,
    *,
    folder: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    runs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Coverage:
    """Make all items of a paper, or of all papers, and list its statements with their states.

    Parameters
    ----------
    paper : str, optional
        Such as ``"song-2018"``; all papers by default.
    folder : path, optional
        Folder with results of ``ropewalk reproduce ... --out``, also in its subfolders. They are
        read, and no item is made.
    seed, runs : int, optional
        As in `reproduce`, for the simulated items.
    progress : callable, optional
        Called with the finished and the total number of items.

    Returns
    -------
    Coverage
        Statements with rows, state and reason; missing results; rows without a statement.

    Raises
    ------
    ValueError
        The paper is unknown, a number is out of range, a seed or runs are given with a folder, or
        two folders hold the same item.
    OSError
        The folder does not exist.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> made = ropewalk.reproduce("song-2018", "fig10")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(made, f"{folder}/fig10")
    ...     covered = ropewalk.coverage("song-2018", folder=folder)
    >>> ("song-2018", "fig9") in covered.missing, ("song-2018", "fig10") in covered.missing
    (True, False)
    """
    if folder is not None:
        for name, value in (("seed", seed), ("runs", runs)):
            if value is not None:
                raise ValueError(f"{name} = {value}: only without a folder of results")
        return covered(statements(paper), stored(folder))
    wanted = items_of(paper)
    made = []
    for done, item in enumerate(wanted, start=1):
        made.append(make(item, seed=seed, runs=runs))
        if progress is not None:
            progress(done, len(wanted))
    return covered(statements(paper), made)


def items_of(paper: str | None) -> list[Item]:
    """Return the items of a paper, or all; ValueError if the paper is unknown."""
    listed = [each for each in items() if paper in (None, each.paper)]
    return listed or [find(str(paper), "")]


def make(
    item: Item,
    *,
    seed: int | None = None,
    runs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Reproduction:
    """Reproduce an item; seed and runs are unused if it has no simulations."""
    if item.runs is None:
        return reproduce(item.paper, item.name)
    return reproduce(item.paper, item.name, seed=seed, runs=runs, progress=progress)


def stored(folder: str | os.PathLike[str]) -> list[Reproduction]:
    """Return the reproductions in a folder and its subfolders.

    Raises
    ------
    ValueError
        Two folders hold the same item, or a result cannot be read.
    OSError
        The folder does not exist.
    """
    from ..output.storage import load

    top = Path(path_of("folder", folder))
    if not top.is_dir():
        raise FileNotFoundError(f"{top}: no such folder")
    found: dict[tuple[str, str], Path] = {}
    for file in sorted(top.rglob(RESULT)):
        if any(part.startswith(".") for part in file.relative_to(top).parts):
            continue  # a folder that is being written
        result = open_result_folder(file.parent).result
        if result["engine"] != "reproduce" or "item" not in result:
            continue
        names = result["paper"], result["item"]
        if names in found:
            both = f"{found[names]} and {file.parent}"
            raise ValueError(f"{both}: both hold {' '.join(names)}; name one of the folders")
        found[names] = file.parent
    return [cast("Reproduction", load(each)) for each in found.values()]


def covered(listed: Iterable[Statement], made: Iterable[Reproduction]) -> Coverage:
    """Return statements with the rows of some reproductions."""
    listed = tuple(listed)
    papers = {each.paper for each in listed}
    rows = {(each.paper, each.item): each.comparisons for each in made if each.paper in papers}
    known = {(each.paper, each.name) for each in items()}
    wanted = dict.fromkeys((each.paper, each.item) for each in listed if each.item)
    missing = [(paper, str(item)) for paper, item in wanted if (paper, item) not in rows]
    return Coverage(
        tuple(_covered(each, rows, known) for each in listed),
        tuple(names for names in missing if names in known),
        tuple(
            (paper, item, row.quantity)
            for (paper, item), compared in rows.items()
            for row in compared
            if row.met is not None and not _claimed(listed, paper, item, row)
        ),
    )


def _covered(
    statement: Statement,
    rows: Mapping[tuple[str, str], tuple[ComparedValue, ...]],
    known: set[tuple[str, str]],
) -> CoveredStatement:
    if statement.item is None:
        return CoveredStatement(statement, (), "tested" if statement.test else "not here")
    names = statement.paper, statement.item
    if names not in rows:
        return CoveredStatement(statement, (), "no result" if names in known else "no item")
    mine = tuple(each for each in rows[names] if statement.claims(each.quantity))
    return CoveredStatement(statement, mine, _state(mine))


def _state(rows: tuple[ComparedValue, ...]) -> State:
    if not rows:
        return "no row"
    judged = [each.met for each in rows if each.met is not None]
    if not judged:
        return "shown"
    return "met" if all(judged) else "not met"


def is_other_reading(paper: str, item: str, quantity: str) -> bool:
    """Return whether a row compares another reading than the chosen one with the paper.

    Examples
    --------
    >>> is_other_reading("alheid-2016", "table3", "S1 RFC 8684, FC-CC, wires")
    True
    """
    return matches(_listed()[OTHER_READINGS].get(f"{paper} {item}", ()), quantity)


def _claimed(listed: Iterable[Statement], paper: str, item: str, row: ComparedValue) -> bool:
    """Return whether a row belongs to a statement, or to another reading."""
    if is_other_reading(paper, item, row.quantity):
        return True
    return any(
        (each.paper, each.item) == (paper, item) and each.claims(row.quantity) for each in listed
    )


def _statement(paper: str, number: int, entry: dict[str, object]) -> Statement:
    """Return a statement of the list; ValueError if it is not shown in exactly one way."""
    fields = dict(entry)
    if "rows" in fields:
        rows = fields["rows"]
        fields["rows"] = (rows,) if isinstance(rows, str) else tuple(rows)  # type: ignore[arg-type]
    made = Statement(paper=paper, number=number, **fields)  # type: ignore[arg-type]
    if sum(each is not None for each in (made.item, made.test, made.not_here)) != 1:
        raise ValueError(f"{paper} {number}: must have one of item, test and not_here")
    return made
