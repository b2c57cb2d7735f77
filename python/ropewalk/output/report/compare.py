"""Section of a report on a comparison: one scenario, run in several ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...analysis.compare import Comparison
from ...analysis.compare.numbers import entry_names
from ...results.folders import ResultFolder
from ...support.numerals import format_mean
from ..storage.compare import restore
from ..tables.compare import FLOW, LINK, SUBFLOW, SUMMARY
from . import charts, common_parts, credibility, over_time
from .section import Cell, Chart, Part, Piece, Section, Table, Text
from .tables import cut, value

KIND = "Comparison: one scenario, run in several ways"
EACH = (("subflows", "Subflows", SUBFLOW), ("links", "Links", LINK), ("flows", "Flows", FLOW))


def section(stored: ResultFolder) -> Section:
    """Return the section on a comparison."""
    compared = restore(stored)
    return Section(
        stored.scenario.title,
        KIND,
        (
            common_parts.introduction(stored, {"ways": ", ".join(compared.ways)}),
            Part("In short", (_summary(compared), *credibility.agreement_facts(compared))),
            common_parts.scenario_part(stored.scenario),
            Part("Pictures", tuple(_pictures(compared))),
            Part("Numbers", tuple(_tables(compared))),
            Part(credibility.TITLE, tuple(_credibility_pieces(compared))),
            common_parts.origin_part(stored),
        ),
    )


def _credibility_pieces(compared: Comparison) -> Iterator[Piece]:
    for way, reason in compared.left_out.items():
        yield Text(f"Left out: {way}: {reason}.")
    for way, results in compared.ran.items():
        yield from credibility.run_facts(results, way)
    if compared.predictions is not None:
        yield from credibility.models(compared.predictions)


def _summary(compared: Comparison) -> Table:
    rows = []
    for label, (key, scale, digits) in SUMMARY.items():
        cells = [_cell(compared, way, key, scale, digits) for way in compared.ways]
        if any(cell.text for cell in cells):
            # Terminals group delays under one heading; here rows can be sorted.
            name = (
                f"delay (ms): {label}" if key.startswith("delay") and ":" not in label else label
            )
            rows.append((Cell(name), *cells))
    return cut("Ways compared", ("", *compared.ways), rows, "result.json")


def _tables(compared: Comparison) -> Iterator[Table]:
    for kind, caption, columns in EACH:
        names = dict.fromkeys(
            name for way in compared.ways for name in entry_names(compared.means[way], kind)
        )
        headings, filled = [kind.removesuffix("s")], [[Cell(name) for name in names]]
        for title, (key, scale, digits) in columns.items():
            for way in compared.ways:
                cells = [
                    _cell(compared, way, f"{kind}.{name}.{key}", scale, digits) for name in names
                ]
                if any(cell.text for cell in cells):
                    headings.append(f"{title}, {way}")
                    filled.append(cells)
        if len(headings) > 1:
            yield cut(caption, tuple(headings), [*zip(*filled, strict=True)], "result.json")


def _pictures(compared: Comparison) -> Iterator[Chart]:
    yield _goodputs(compared)
    if over := {way: ran for way, ran in compared.ran.items() if ran.connection.height}:
        yield over_time.delivered(over)
    if delays := {way: ran for way, ran in compared.ran.items() if ran.delays.height}:
        yield over_time.delays(delays)


def _goodputs(compared: Comparison) -> Chart:
    """Return bars of total and subflow goodput, one for each way."""
    import polars as pl

    rows: list[dict[str, Any]] = []
    for way in compared.ways:
        known, half = compared.means[way], compared.ci95[way]
        keys = {"all": "goodput_mbps"}
        keys |= {name: f"subflows.{name}.goodput_mbps" for name in entry_names(known, "subflows")}
        for name, key in keys.items():
            if key in known:
                by = half.get(key, 0.0)
                mean = known[key]
                rows.append(
                    {"group": name, "of": way, "x": mean, "low": mean - by, "high": mean + by}
                )
    spec = charts.bars(pl.DataFrame(rows), compared.ways, "goodput (Mbit/s)", what="way")
    text = "Lines on bars are 95 % intervals." if any(compared.ci95.values()) else ""
    return Chart("Goodput, by way", spec, text)


def _cell(compared: Comparison, way: str, key: str, scale: float, digits: str) -> Cell:
    known = compared.means[way].get(key)
    if known is None:
        return value(None)
    half = compared.ci95[way].get(key)
    return Cell(format_mean(scale * known, half and scale * half, digits), scale * known)
