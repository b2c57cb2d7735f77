"""Progress of long work: a bar on a terminal, otherwise occasional lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_S = 10.0  # interval of lines


@contextmanager
def progress(
    doing: str, total: int | None = None, *, every_s: float = EVERY_S, rate: bool = False
) -> Iterator[Callable[..., object]]:
    """Show the progress of the work, and yield a callback for it.

    A terminal shows a bar. Elsewhere, such as in a pipe, lines appear on standard error every
    `every_s` seconds, so short work prints none. The callback takes the number of finished parts,
    and the total if `total` is None. `rate` adds the parts per second.
    """
    if sys.stderr.isatty():
        shown = _bar(doing, total, rate)
    else:
        shown = _lines(doing, total, every_s, rate)
    with shown as update:
        yield update


@contextmanager
def _bar(doing: str, total: int | None, rate: bool) -> Iterator[Callable[..., object]]:
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
    rates = [TextColumn("{task.fields[rate]}")] if rate else []
    columns = TextColumn(doing), BarColumn(), MofNCompleteColumn(), *rates, *times
    began = time.monotonic()

    def update(finished: float, of: float | None = total) -> None:
        text = _rate(finished, time.monotonic() - began)
        shown.update(task, completed=finished, total=of, rate=text)

    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(doing, total=total, rate="")
        yield update


@contextmanager
def _lines(
    doing: str, total: int | None, every_s: float, rate: bool
) -> Iterator[Callable[..., object]]:
    known: list[tuple[float, float | None]] = [(0, total)]
    ended = threading.Event()
    began = time.monotonic()

    def say() -> None:
        while not ended.wait(every_s):
            finished, of = known[0]
            of_all = "" if of is None else f" of {of:,.0f}"
            elapsed = time.monotonic() - began
            line = f"{doing}: {finished:,.0f}{of_all} after {elapsed:,.0f} s"
            if rate and finished > 0:
                line += f", {_rate(finished, elapsed)}"
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


def _rate(finished: float, elapsed_s: float) -> str:
    per_s = finished / max(elapsed_s, 1e-9)
    return f"{per_s:,.0f} a second" if per_s >= 10 else f"{60 * per_s:,.1f} a minute"
