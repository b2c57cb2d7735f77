"""Output of a verb: pictures, the folder of ``--out``, the table or JSON on standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..output import plot, storage
from ..output.display import table_of
from ..results import folders
from ..results.displayable import Displayable
from ..support.escape import strip_controls
from .failures import failures

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ..output.storage import Storable
    from ..results import Results

PIPE_WIDTH = 80  # width of a table in a pipe, unless it needs more
WIDEST = 10_000


def save_pictures(made: Displayable, pictures: list[Path]) -> list[str]:
    """Write the requested pictures, and print their names."""
    if not pictures:
        return []
    figure = made.plot()
    return [f"picture: {plot.save(figure, picture)}" for picture in pictures]


def store_results(made: Storable, out: Path | None, pictures: list[Path]) -> list[str]:
    """Write the requested folder and pictures, and print their names."""
    written = save_pictures(made, pictures)
    if out is not None:
        kept = storage.keep(made, out)
        also = ", ".join(path.name for path in kept[1:])
        if kept:
            written.append(f"picture: {kept[0]}" + (f" (next to it: {also})" if also else ""))
        written.append(f"tables:  {out / folders.TABLES}")
    return written


def store_and_print(
    made: Storable, out: Path | None, pictures: list[Path], *more: str, as_json: bool
) -> None:
    """Write the requested folder and pictures; print the result, their names and `more`."""
    with failures():
        written = store_results(made, out, pictures)
    print_result(made, [*written, *more], as_json=as_json)


def captured_line(results: Results, capture: Path | None, place: str | None) -> list[str]:
    """Return a line with the number of captured packets and the observation point, if any."""
    if capture is None:
        return []
    count = f"{results.captured_packets:,}".replace(",", " ")
    return [f"packets: {capture} ({count}, at {place or 'the sender'})"]


def print_result(made: Displayable, written: Sequence[str], *, as_json: bool) -> None:
    """Print the JSON object alone, or the table and the written files."""
    if as_json:
        printed = made.json()
        print_json(printed)
        # Readers of standard output alone, such as programs, could overlook these.
        for warning in printed.get("warnings", ()):
            print(f"warning: {strip_controls(warning)}", file=sys.stderr)
    else:
        print_table(table_of(made), written)


def print_json(printed: Mapping[str, Any]) -> None:
    """Print one JSON object, on a line."""
    print(json.dumps(printed))
    sys.stdout.flush()


def print_table(table: RenderableType, written: Sequence[str] = ()) -> None:
    """Print a table, and the written files below it."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, width=_width(table))
    console.print(_Printable(table))
    for line in written:
        console.print(_Printable(Text(line)), soft_wrap=True)
    sys.stdout.flush()


def _width(table: RenderableType) -> int | None:
    """Return the width of a table for a file or pipe."""
    from rich.console import Console
    from rich.measure import Measurement

    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return None
    console = Console(file=sys.stdout, width=WIDEST)
    return max(PIPE_WIDTH, Measurement.get(console, console.options, table).maximum)


class _Printable:
    """Lines without trailing blanks and control characters, which titles may contain."""

    def __init__(self, shown: RenderableType) -> None:
        self.shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.segment import Segment

        for line in Segment.split_lines(console.render(self.shown, options)):
            parts = [
                Segment(text if control else strip_controls(text), style, control)
                for text, style, control in line
            ]
            while parts and not parts[-1].control and not parts[-1].text.rstrip():
                parts.pop()
            if parts and not parts[-1].control:
                parts[-1] = Segment(parts[-1].text.rstrip(), parts[-1].style)
            yield from parts
            yield Segment.line()
