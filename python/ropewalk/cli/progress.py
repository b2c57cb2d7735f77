"""How far long work is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_S = 10.0  # between two lines


@contextmanager
def progress(
    doing: str, total: int | None = None, *, every_s: float = EVERY_S
) -> Iterator[Callable[..., object]]:
    """Show how much of the work is done.

    On a terminal as a bar; elsewhere, such as in a pipe, as lines on standard error, the
    first of them after so long that short work has none.

    Parameters
    ----------
    doing : str
        What is being done, such as ``"simulating"``.
    total : int, optional
        Of how many parts the work is, if that is known before.
    every_s : float
        Seconds between two lines.

    Yields
    ------
    callable
        To be called with the number of finished parts, and of how many if `total` did not
        tell.
    """
    shown = _bar(doing, total) if sys.stderr.isatty() else _lines(doing, total, every_s)
    with shown as update:
        yield update


@contextmanager
def _bar(doing: str, total: int | None) -> Iterator[Callable[..., object]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    times = TimeElapsedColumn(), TimeRemainingColumn()
    columns = TextColumn(doing), BarColumn(), MofNCompleteColumn(), *times
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(doing, total=total)
        yield lambda finished, of=total: shown.update(task, completed=finished, total=of)


@contextmanager
def _lines(doing: str, total: int | None, every_s: float) -> Iterator[Callable[..., object]]:
    known: list[tuple[float, float | None]] = [(0, total)]
    ended = threading.Event()
    began = time.monotonic()

    def say() -> None:
        while not ended.wait(every_s):
            finished, of = known[0]
            of_all = "" if of is None else f" of {of:,.0f}"
            elapsed = time.monotonic() - began
            line = f"{doing}: {finished:,.0f}{of_all} after {elapsed:,.0f} s"
            if of is not None and finished > 0:
                line += f", about {elapsed * (of - finished) / finished:,.0f} s left"
            print(line, file=sys.stderr, flush=True)

    def update(finished: float, of: float | None = total) -> None:
        known[0] = (finished, of)

    teller = threading.Thread(target=say, daemon=True)
    teller.start()
    try:
        yield update
    finally:
        ended.set()
        teller.join()
