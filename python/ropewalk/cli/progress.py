"""How far long work is: a bar on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(doing: str, total: int | None = None) -> Iterator[Callable[..., object] | None]:
    """Show on a terminal how much of the work is done; stay silent elsewhere.

    Parameters
    ----------
    doing : str
        What is being done, such as ``"simulating"``.
    total : int, optional
        Of how many parts the work is, if that is known before.

    Yields
    ------
    callable or None
        To be called with the number of finished parts, and of how many if `total` did not
        tell; None where nobody looks.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(doing, total=total)
        yield lambda finished, of=total: shown.update(task, completed=finished, total=of)
