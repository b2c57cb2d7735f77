"""What verbs that run a scenario do with its results: keep, draw, print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..results import Results


def keep_results(results: Results, out: Path | None, pictures: list[Path]) -> list[str]:
    """Write what was asked for; say what is where."""
    written = []
    if pictures:
        from .. import plot

        page = plot.overview(results)
        written += [f"picture: {plot.save(page, picture)}" for picture in pictures]
    if out is not None:
        from ..store import keep

        first, *others = keep(results, out)
        also = ", ".join(path.name for path in others)
        written.append(f"picture: {first}" + (f" (beside it: {also})" if also else ""))
        written.append(f"tables:  {out}")
    return written


def captured(results: Results, capture: Path, place: str | None) -> str:
    """Say what the capture has, and where it was taken."""
    count = f"{results.captured_packets:,}".replace(",", " ")
    return f"packets: {capture} ({count}, at {place or 'the sender'})"


def print_results(results: Results, written: list[str]) -> None:
    """Print the table, and what was written."""
    from rich.console import Console

    from ..table import table

    console = Console(highlight=False)
    console.print(table(results))
    for line in written:
        console.print(line, soft_wrap=True, markup=False)
