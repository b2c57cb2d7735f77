"""Section of a report on advice: the answers with their evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...analysis.advise.result import Advice
from ...results.folders import ResultFolder
from ..tables.advise import COLUMNS, options
from . import charts, common_parts, credibility
from .section import Chart, Part, Piece, Section, Table, Text
from .tables import cut, joined, number, value

KIND = "Advice: predicted and simulated candidates, the best ones recommended"
ADVISED = "advised"
INTERVALS = "Lines on bars are 95 % intervals."


def section(stored: ResultFolder) -> Section:
    """Return the section on advice."""
    result = stored.result
    runs, seed = result["runs"], result["seed"]
    text = f"{runs} of each candidate, seeds {seed} to {seed + runs - 1}"
    facts = {
        "candidates": f"{result['simulated']:,} simulated",
        "runs": text if runs > 1 else "one of each candidate: nothing is random",
    }
    if "model" in result:
        facts["predicted by"] = result["model"]
    answers = [_answer(each) for each in result["advice"]]
    believed = [Text(f"Warning: {each}.", "warning") for each in result.get("warnings", ())]
    if runs > 1:
        believed.append(Text(credibility.INTERVALS))
    return Section(
        stored.scenario.title,
        KIND,
        (
            common_parts.introduction(stored, facts),
            common_parts.scenario_part(stored.scenario),
            *answers,
            Part("Which links: all candidates", tuple(_subsets(stored))),
            Part(
                credibility.TITLE,
                (*believed, *_checked(result), *credibility.new_predictions(stored.scenario)),
            ),
            common_parts.origin_part(stored),
        ),
    )


def _answer(advice: Mapping[str, Any]) -> Part:
    pieces: list[Piece] = [Text(advice["answer"], "strong")]
    if "settings" in advice:
        pieces.append(Text(options(Advice("", "", "", settings=advice["settings"])), "code"))
    evidence = advice["evidence"]
    if any("goodput_mbps" in each for each in evidence):
        pieces.append(_bars(evidence))
    if evidence:
        pieces.append(_table(evidence))
    pieces += [Text(note, "faint") for note in advice.get("notes", ())]
    return Part(advice.get("title", advice["question"]), tuple(pieces))


def _bars(evidence: list[dict[str, Any]]) -> Chart:
    import polars as pl

    rows = []
    for each in evidence:
        if "goodput_mbps" in each:
            mean, half = each["goodput_mbps"], each.get("ci95_mbps", 0.0)
            rows.append(
                {
                    "of": each["what"],
                    "x": mean,
                    "low": mean - half,
                    "high": mean + half,
                    "strong": ADVISED in each.get("remarks", ()),
                }
            )
    # Candidates measured twice, such as with other buffers, get one bar.
    data = pl.DataFrame(rows).unique("of", keep="first", maintain_order=True)
    spec = charts.bars(data, data["of"].to_list(), "goodput (Mbit/s)", what="candidate")
    drawn = any(row["low"] < row["x"] for row in rows)
    return Chart("Goodput of the candidates", spec, INTERVALS if drawn else "")


def _table(evidence: list[dict[str, Any]]) -> Table:
    shown = [key for key in COLUMNS if any(key in each for each in evidence)]
    rows = [
        (
            value(each["what"]),
            *(value(each.get(key), digits=COLUMNS[key][1]) for key in shown),
            value(", ".join(each.get("remarks", ()))),
        )
        for each in evidence
    ]
    headings = ("looked at", *(joined(COLUMNS[key][0]) for key in shown), "remarks")
    made = cut("Evidence", headings, rows, "tables/evidence.parquet")
    strong = [at for at, each in enumerate(evidence) if ADVISED in each.get("remarks", ())]
    return Table(made.caption, made.headings, made.rows, tuple(strong), made.note)


def _subsets(stored: ResultFolder) -> Iterator[Piece]:
    """Yield a chart of each subset's goodput over its number of links."""
    import polars as pl

    subsets = stored.table("subsets")
    if subsets.height < 4:
        return
    parts = []
    for column in ("predicted_mbps", "simulated_mbps"):
        known = subsets.filter(pl.col(column).is_not_null())
        parts.append(
            known.select(
                pl.col("links").cast(pl.Float64).alias("x"),
                pl.col(column).alias("y"),
                pl.lit(column.removesuffix("_mbps")).alias("of"),
                pl.col("paths").list.join(", ").alias("what"),
            )
        )
    data = pl.concat(parts).head(charts.MAX_POINTS)
    order = data["of"].unique(maintain_order=True).to_list()
    spec = charts.points(data, order, "links", "goodput (Mbit/s)", what="")
    yield Chart("Subsets of the links", spec, charts.CHOOSING)


def _checked(result: Mapping[str, Any]) -> Iterator[Piece]:
    """Return the rank of the recommended links among all subsets, if computed."""
    if "check" not in result:
        return
    check = result["check"]
    best = check["best"]
    yield Text(
        f"The advised links are number {check['rank']} of all {check['subsets']} subsets, with"
        f" {check['ratio']:.2%} of the goodput of the best, {best['what']}"
        f" ({number(best['goodput_mbps'], 2)} Mbit/s)."
    )
    if "model" in check:
        model = check["model"]
        yield Text(
            f"By itself the model's first choice would be number {model['rank']:.0f}, with"
            f" {model['ratio']:.2%}."
        )
