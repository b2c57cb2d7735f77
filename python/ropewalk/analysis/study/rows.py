"""Storage of a study's rows: written as points finish, read again, sorted at the end."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...support.atomic_write import replace
from .jobs import DONE, Row

if TYPE_CHECKING:
    import polars as pl

POINTS = "points"
EARLIER = "earlier"
KEY = "point"
FIRST_S = 2.0  # first interval of writing parts,
LAST_S = 60.0  # largest interval,
SHARE = 0.01  # and interval as a share of the elapsed time
MAX_ROWS = 20_000


class RowWriter:
    """Writer of rows to the ``points`` folder, several rows in each Parquet file.

    Each file is written atomically.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(".part-*"):
            left.unlink()
        self._next = 1 + max((_number(file) for file in folder.glob("part-*.parquet")), default=0)
        self._pending: list[Row] = []
        self._began = self._written = time.monotonic()

    def add(self, rows: Iterable[Row]) -> bool:
        """Add rows; return whether a write is due, which `flush` does."""
        self._pending += rows
        now = time.monotonic()
        every = min(max(FIRST_S, SHARE * (now - self._began)), LAST_S)
        return now - self._written >= every or len(self._pending) >= MAX_ROWS

    def flush(self) -> None:
        """Write all pending rows."""
        if self._pending:
            self.write(frame_of(self._pending))
            self._pending = []
        self._written = time.monotonic()

    def write(self, frame: pl.DataFrame) -> Path:
        """Write a part."""
        content = io.BytesIO()
        frame.write_parquet(content)
        file = self._folder / f"part-{self._next:06}.parquet"
        replace(file, content.getvalue())
        self._next += 1
        return file


def frame_of(rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows as a data frame; missing values are null."""
    import polars as pl

    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(pl.col("seed").cast(pl.UInt64)) if "seed" in frame.columns else frame


def read(folder: Path) -> pl.DataFrame:
    """Return a folder's rows, each point once: its latest success, else its latest row.

    Damaged parts, such as one truncated by a full disk, are skipped.
    """
    import polars as pl

    frames = []
    for file in sorted(folder.glob("part-*.parquet")):
        try:
            frames.append(pl.read_parquet(file))
        except pl.exceptions.PolarsError:
            continue
    if not frames:
        return pl.DataFrame(schema={KEY: pl.String, "status": pl.String})
    rows = pl.concat(frames, how="diagonal_relaxed").with_row_index("_at")
    done_last = rows.sort(pl.col("status") == DONE, "_at", maintain_order=True)
    return done_last.unique(KEY, keep="last", maintain_order=True).sort("_at").drop("_at")


def write_sorted(
    folder: Path,
    order: Mapping[str, int],
    spelled: Mapping[str, Mapping[str, str]],
    first: Sequence[str],
    rows: pl.DataFrame,
) -> pl.DataFrame:
    """Write the points of a study, sorted, to one file, and move all others aside.

    Varied keys get this study's spelling: earlier runs may have ``10ms`` for ``10 ms``.
    """
    import polars as pl

    for key, values in spelled.items():
        if key in rows.columns:
            now = pl.col(KEY).replace_strict(dict(values), default=pl.col(key))
            rows = rows.with_columns(now.alias(key))
    place = pl.col(KEY).replace_strict(dict(order), default=None, return_dtype=pl.Int64)
    placed = rows.with_columns(place.alias("_place"))
    ours = placed.filter(pl.col("_place").is_not_null()).sort("_place").drop("_place")
    others = placed.filter(pl.col("_place").is_null()).drop("_place")
    _replace_all(folder / EARLIER, _without_empty(others))
    ours = order_columns(ours, first)
    _replace_all(folder / POINTS, ours)
    return ours


def order_columns(frame: pl.DataFrame, first: Sequence[str]) -> pl.DataFrame:
    """Return rows with `first` first, then the other columns by name, and the key last."""
    known = _without_empty(frame)
    ours = [name for name in first if name in known.columns]
    others = sorted(set(known.columns) - {*ours, KEY})
    return known.select(*ours, *others, *([KEY] if KEY in known.columns else []))


def _replace_all(folder: Path, frame: pl.DataFrame) -> None:
    """Write one part and remove the earlier ones; an interruption leaves duplicates."""
    before = sorted(folder.glob("part-*.parquet"))
    if frame.is_empty() and not before:
        return
    kept: Collection[Path] = ()
    if not frame.is_empty():
        kept = (RowWriter(folder).write(frame),)
    for file in before:
        if file not in kept:
            os.unlink(file)


def _without_empty(frame: pl.DataFrame) -> pl.DataFrame:
    """Drop the columns that are null in every row."""
    if frame.is_empty():
        return frame
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    return frame.drop(name for name in empty if name != "error")


def _number(file: Path) -> int:
    digits = file.stem.removeprefix("part-")
    return int(digits) if digits.isdecimal() else 0


def finished_points(rows: pl.DataFrame, of: str | None) -> dict[str, Any]:
    """Return the keys of finished points with their values of a column."""
    done = rows.filter(rows["status"] == DONE)
    if of is None or of not in done.columns:
        return dict.fromkeys(done[KEY])
    return dict(zip(done[KEY], done[of], strict=True))
