"""What a verb does at its end: draw and keep what it made, say what is where, print."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from .. import folders, plot, store
from ..printable import without_controls

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ..results import Results


class Made(Protocol):
    """What a verb made."""

    def json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""


M = TypeVar("M", bound=Made)


def save_pictures(made: M, pictures: list[Path], draw: Callable[[M], Figure]) -> list[str]:
    """Write the pictures that were asked for; say where they are."""
    if not pictures:
        return []
    figure = draw(made)
    return [f"picture: {plot.save(figure, picture)}" for picture in pictures]


def keep_made(
    made: M,
    out: Path | None,
    pictures: list[Path],
    draw: Callable[[M], Figure],
    keep: Callable[[M, Path], Path],
) -> list[str]:
    """Write what was asked for, of what has one picture; say what is where."""
    written = save_pictures(made, pictures, draw)
    if out is not None:
        written += [f"picture: {keep(made, out)}", f"tables:  {out / folders.TABLES}"]
    return written


def keep_results(results: Results, out: Path | None, pictures: list[Path]) -> list[str]:
    """Write what was asked for, of runs, which have several pictures; say what is where."""
    written = save_pictures(results, pictures, plot.overview)
    if out is not None:
        first, *others = store.keep(results, out)
        also = ", ".join(path.name for path in others)
        written.append(f"picture: {first}" + (f" (beside it: {also})" if also else ""))
        written.append(f"tables:  {out / folders.TABLES}")
    return written


def captured(results: Results, capture: Path, place: str | None) -> str:
    """Say what the capture has, and where it was taken."""
    count = f"{results.captured_packets:,}".replace(",", " ")
    return f"packets: {capture} ({count}, at {place or 'the sender'})"


def answer(
    made: M,
    table: Callable[[M], RenderableType],
    written: Sequence[str],
    *,
    as_json: bool,
) -> None:
    """Print the JSON object alone, or the table and what was written."""
    if as_json:
        print_json(made.json())
    else:
        print_table(table(made), written)


def results_table(results: Results) -> RenderableType:
    """Return the table of runs."""
    from ..table import table

    return table(results)


def print_json(printed: Mapping[str, Any]) -> None:
    """Print one JSON object, on a line."""
    print(json.dumps(printed))
    sys.stdout.flush()


def print_table(table: RenderableType, written: Sequence[str] = ()) -> None:
    """Print a table, and below it what was written."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(_Printable(table))
    for line in written:
        console.print(_Printable(Text(line)), soft_wrap=True)
    sys.stdout.flush()


class _Printable:
    """What is shown without the control characters that titles and names have."""

    def __init__(self, shown: RenderableType) -> None:
        self.shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        for text, style, control in console.render(self.shown, options):
            yield Segment(text if control else without_controls(text), style, control)
