"""Storage of a reproduction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...analysis.reproduction import (
    Alternative,
    Choice,
    ComparedValue,
    Reproduction,
    StoredPicture,
)
from ...results import folders
from .contents import FolderContents


def contents(made: Reproduction) -> FolderContents:
    """Return the files of a reproduction: tables, picture, simulated scenarios."""
    return FolderContents(made.scenarios, made.tables, {made.item: lambda: made.figure})


def restore(stored: folders.ResultFolder) -> Reproduction:
    """Return the stored reproduction with its stored picture.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> made = ropewalk.reproduce("song-2018", "fig10")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(made, folder)
    ...     again = ropewalk.load(folder)
    >>> again.json() == made.json()
    True
    """
    known = stored.result
    picture = stored.folder / folders.PICTURES / f"{known['item']}.png"
    return Reproduction(
        paper=known["paper"],
        item=known["item"],
        title=known["title"],
        source=known["source"],
        comparisons=tuple(_comparison(each) for each in known["comparisons"]),
        draw=StoredPicture(picture.read_bytes()),
        choices=tuple(_choice(each) for each in known["choices"]),
        tables={name: stored.table(name) for name in stored.tables},
        scenarios=stored.scenarios,
        seed=known.get("seed"),
        runs=known.get("runs"),
        origin=stored.origin,
    )


def _comparison(known: Mapping[str, Any]) -> ComparedValue:
    others = ("difference", "met", "at_least", "at_most")
    fields = {key: value for key, value in known.items() if key not in others}
    band = known.get("at_least"), known.get("at_most")
    if band != (None, None):
        fields["band"] = band
    return ComparedValue(**fields)


def _choice(known: Mapping[str, Any]) -> Choice:
    alternatives = tuple(Alternative(**each) for each in known["alternatives"])
    return Choice(known["question"], known["chosen"], alternatives, known["digits"])
