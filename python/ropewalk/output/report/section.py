"""Data classes of a report's page: sections of texts, tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Attributes
    ----------
    text : str
        Text of the cell.
    value : float or None
        What rows are sorted by; None to sort them by the text.
    """

    text: str
    value: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows that can be sorted by each column.

    Attributes
    ----------
    caption : str
        What each row is, such as "links".
    headings : tuple of str
        Of the columns, units included. The first column names the row.
    rows : tuple of tuple of Cell
        Each as long as the headings.
    strong : tuple of int
        Numbers of rows that stand out.
    note : str
        What is left out, and where it is; empty where nothing is.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    strong: tuple[int, ...] = ()
    note: str = ""

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Which columns have numbers, and so stand to the right."""
        columns = zip(*self.rows, strict=True) if self.rows else ((),) * len(self.headings)
        return tuple(any(cell.value is not None for cell in column) for column in columns)


@dataclass(frozen=True)
class Chart:
    """An interactive chart.

    Attributes
    ----------
    title : str
        Title.
    spec : mapping
        In the language of Vega-Lite.
    caption : str
        What to know when looking at it.
    """

    title: str
    spec: Mapping[str, Any]
    caption: str = ""


@dataclass(frozen=True)
class Drawing:
    """A vector drawing, in SVG.

    Attributes
    ----------
    title : str
        Title.
    svg : str
        An ``<svg>`` element whose texts are escaped.
    caption : str
        What to know when looking at it.
    """

    title: str
    svg: str
    caption: str = ""


@dataclass(frozen=True)
class Image:
    """A picture from a results folder.

    Attributes
    ----------
    title : str
        Title.
    png : bytes
        The picture.
    """

    title: str
    png: bytes


@dataclass(frozen=True)
class Facts:
    """Names with their values.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Name and text.
    """

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Text:
    """A paragraph.

    Attributes
    ----------
    text : str
        Text of the paragraph.
    weight : str
        ``"plain"``, ``"strong"``, ``"faint"``, ``"warning"``, or ``"code"`` of a command.
    """

    text: str
    weight: str = "plain"


@dataclass(frozen=True)
class Source:
    """The text of a file, shown on demand.

    Attributes
    ----------
    name : str
        Name of the file.
    text : str
        Content of the file.
    """

    name: str
    text: str


@dataclass(frozen=True)
class Link:
    """A link to another page.

    Attributes
    ----------
    text : str
        Text of the link.
    to : str
        The other file, relative to the page.
    """

    text: str
    to: str


Piece: TypeAlias = Table | Chart | Drawing | Image | Facts | Text | Source | Link


@dataclass(frozen=True)
class Part:
    """A part of a section, with a heading.

    Attributes
    ----------
    title : str
        The heading.
    pieces : tuple of Piece
        What is in it, in its order.
    """

    title: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Section:
    """The section of one folder of results.

    Attributes
    ----------
    title : str
        Title: the scenario or the item.
    kind : str
        The verb, in words.
    parts : tuple of Part
        In the order in which they are read; those without pieces are left out.
    command : str
        What made it, which tells it from others of the same title; empty where nobody knows.
    """

    title: str
    kind: str
    parts: tuple[Part, ...]
    command: str = ""
