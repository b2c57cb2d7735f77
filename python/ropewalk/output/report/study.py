"""Section of a report on a study: a scenario with keys varied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...analysis.study import StudyResults
from ...analysis.study.folder import COMBINATIONS, restore
from ...provenance import KEY as ORIGIN
from ...results.folders import TABLES, ResultFolder
from ...units import heading
from ..tables.study import MAX_WARNINGS
from . import common_parts, credibility
from .common_parts import date, duration_text
from .section import Part, Piece, Section, Source, Text
from .study_charts import Axis, StudyTable, pictures, table
from .tables import cut, value

KIND = "Study: a scenario with varied keys"
UNFINISHED = "The study is incomplete: the same command resumes it."
ONE_RUN = "One run of each combination: there are no intervals; --runs 10 gives them."
NOTHING = "No combination has a finished run."


def section(stored: ResultFolder) -> Section:
    """Return the section on a study."""
    vary: Mapping[str, list[str]] = stored.result["vary"]
    axes = tuple(Axis(key, tuple(values)) for key, values in vary.items())
    restored = restore(stored)
    study = StudyTable(axes, restored.combinations)
    # Keys that step together form one axis.
    following = {key for keys in stored.result.get("zip", ()) for key in keys[1:]}
    apart = StudyTable(tuple(each for each in axes if each.key not in following), study.rows)
    has_rows = study.rows.height > 0
    return Section(
        stored.scenario.title,
        KIND,
        (
            common_parts.introduction(stored, dict(_definition_facts(stored.result))),
            Part("Pictures", tuple(pictures(apart)) if has_rows else ()),
            Part(
                "Numbers", (table(study, f"{TABLES}/{COMBINATIONS}.parquet"),) if has_rows else ()
            ),
            common_parts.scenario_part(stored.scenario),
            Part(credibility.TITLE, tuple(_credibility_pieces(stored, restored, study))),
            common_parts.origin_part(stored, *_commands(restored)),
        ),
    )


def _definition_facts(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, values in result["vary"].items():
        yield key, ", ".join(values)
    for keys in result.get("zip", ()):
        yield "together", ", ".join(keys)
    runs = f"{result['runs']} of each combination, from seed {result['seed']}"
    if "until" in result:
        until = result["until"]
        runs += (
            f", then on until {until['of']} is known to ± {until['ci95']:.1%},"
            f" at most {until['at_most']}"
        )
    yield "verb", result["verb"]
    yield "runs", runs


def _credibility_pieces(
    stored: ResultFolder, restored: StudyResults, study: StudyTable
) -> Iterator[Piece]:
    result = stored.result
    for warning in dict.fromkeys((*stored.scenario.warnings, *restored.warnings[:MAX_WARNINGS])):
        yield Text(f"Warning: {warning}.", "warning")
    failed = restored.failed
    yield Text(f"{restored.points.height - failed.height:,} runs are done.")
    if "points" not in result:
        yield Text(UNFINISHED, "warning")
    elif restored.missing:
        yield Text(f"{restored.missing:,} are missing. {UNFINISHED}", "warning")
    if failed.height:
        yield Text(f"{failed.height:,} failed, and are in no mean:", "warning")
        yield Source(
            "Errors of failed runs", "\n".join(failed["error"].unique(maintain_order=True))
        )
    if not study.rows.height:
        yield Text(NOTHING, "warning")
    elif study.has_intervals:
        yield Text(credibility.INTERVALS)
        yield from _widest(study)
    elif result["verb"] != "predict":
        yield Text(ONE_RUN)
    yield from credibility.new_predictions(stored.scenario)


def _commands(study: StudyResults) -> Iterator[Piece]:
    """Yield a table of the commands that made the runs, if several."""
    import polars as pl

    if len(study.origins) < 2:
        return
    counts = {}
    if ORIGIN in study.points.columns:
        counts = dict(study.points.group_by(ORIGIN).agg(pl.len()).iter_rows())
    rows = [
        tuple(
            value(cell)
            for cell in (
                date(each),
                each.command,
                counts.get(at, 0),
                duration_text(each),
            )
        )
        for at, each in enumerate(study.origins)
    ]
    if None in counts:
        rows.append(tuple(value(cell) for cell in (None, "not kept", counts[None], None)))
    caption = "Commands that made the runs"
    headings = ("date", "command", "runs in this study", "took")
    yield cut(caption, headings, rows, "result.json")


def _widest(study: StudyTable) -> Iterator[Piece]:
    """Return the largest relative interval of the first quantity."""
    import polars as pl

    if not study.metrics:
        return
    name = "goodput_mbps" if "goodput_mbps" in study.metrics else study.metrics[0]
    # Only combinations with several runs have an interval.
    wide = study.rows.filter(pl.col(name) > 0, pl.col("runs") > 1).select(
        *(axis.key for axis in study.axes), share=study.half(name) / pl.col(name)
    )
    if wide.height:
        worst = wide.sort("share", descending=True).row(0, named=True)
        within = int((wide["share"] <= 0.05).sum())
        named = heading(name).partition(" (")[0]
        where = ", ".join(f"{axis.key} {worst[axis.key]}" for axis in study.axes)
        yield Text(
            f"The interval of {named} is within ± 5 % in {within:,} of {wide.height:,}"
            f" combinations; the widest is ± {worst['share']:.1%}, at {where}."
        )
