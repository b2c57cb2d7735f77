"""Model of a report page: sections of texts, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Cell:
    """A table cell.

    Rows are sorted by `value`, or by `text` if None.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True)
class Table:
    """A table that can be sorted by each column.

    `caption` is the meaning of the rows, such as "links". The first column names the row. `strong`
    has the indices of emphasised rows, `note` the omitted rows and their file.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    strong: tuple[int, ...] = ()
    note: str = ""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns are numeric and so aligned right."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.headings)
        return tuple(any(cell.value is not None for cell in column) for column in columns)


@dataclass(frozen=True)
class Chart:
    """An interactive chart in the Vega-Lite language."""

    title: str
    spec: Mapping[str, Any]
    caption: str = ""


@dataclass(frozen=True)
class Drawing:
    """A drawing: an ``<svg>`` element with escaped texts."""

    title: str
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Image:
    """A PNG picture from a results folder."""

    title: str
    png: bytes


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Text:
    """A paragraph.

    `weight` is ``"plain"``, ``"strong"``, ``"faint"``, ``"warning"``, or ``"code"`` for a command.
    """

    text: str
    weight: str = "plain"


@dataclass(frozen=True)
class Source:
    """A file's text, shown on demand."""

    name: str
    text: str


@dataclass(frozen=True)
class Link:
    """A link to another file, relative to the page."""

    text: str
    to: str


Piece: TypeAlias = Table | Chart | Drawing | Image | Facts | Text | Source | Link


@dataclass(frozen=True)
class Part:
    """A part of a section, with a heading."""

    title: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Section:
    """The section of one folder of results.

    `kind` is the verb in words. Empty parts are omitted. `command` distinguishes equal titles, and
    may be empty.
    """

    title: str
    kind: str
    parts: tuple[Part, ...]
    command: str = ""
