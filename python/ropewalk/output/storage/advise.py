"""Storage of advice."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...analysis.advise.result import Advice, AdviceResults, Check, Evidence, Subset
from ...results import folders
from ...scenario.toml_syntax import toml_value
from ..plot.advise import draw
from .contents import FolderContents

PICTURE = "advise"
EVIDENCE = "evidence"
SUBSETS = "subsets"


def contents(results: AdviceResults) -> FolderContents:
    """Return the files of advice: evidence, subsets, and the picture."""
    import polars as pl

    evidence: list[dict[str, Any]] = [
        {
            "question": advice.question,
            "what": each.what,
            "remarks": ", ".join(each.remarks),
            "settings": "\n".join(f"{key}={toml_value(to)}" for key, to in each.settings.items()),
            **each.numbers,
        }
        for advice in results.advice
        for each in advice.evidence
    ]
    subsets = {
        "paths": [list(each.paths) for each in results.subsets],
        "links": [len(each.paths) for each in results.subsets],
        "predicted_mbps": [each.predicted_mbps for each in results.subsets],
        "simulated_mbps": [each.simulated_mbps for each in results.subsets],
    }
    schema: dict[str, Any] = {
        "paths": pl.List(pl.String),
        "predicted_mbps": pl.Float64,
        "simulated_mbps": pl.Float64,
    }
    tables = {
        EVIDENCE: pl.DataFrame(evidence, infer_schema_length=None),
        SUBSETS: pl.DataFrame(subsets, schema_overrides=schema),
    }
    return FolderContents(results.scenario, tables, {PICTURE: partial(draw, results)})


def restore(stored: folders.ResultFolder) -> AdviceResults:
    """Return the stored advice; a check has no results of single subsets.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> results = ropewalk.advise("start/two-links")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ropewalk.store.keep(results, folder)
    ...     again = ropewalk.load(folder)
    >>> again.json() == results.json(), again.subsets == results.subsets
    (True, True)
    """
    known = stored.result
    return AdviceResults(
        scenario=stored.scenario,
        seed=known["seed"],
        runs=known["runs"],
        simulated=known["simulated"],
        advice=tuple(_advice(each) for each in known["advice"]),
        subsets=tuple(
            Subset(tuple(row["paths"]), row["predicted_mbps"], row["simulated_mbps"])
            for row in stored.table(SUBSETS).to_dicts()
        ),
        advised=tuple(known["advised"]),
        model=known.get("model"),
        check=_check(known["check"]) if "check" in known else None,
        origin=stored.origin,
    )


def _advice(known: Mapping[str, Any]) -> Advice:
    of_its_own = ("question", "title", "answer", "settings", "evidence", "notes")
    return Advice(
        question=known["question"],
        title=known["title"],
        answer=known["answer"],
        settings=known.get("settings", {}),
        numbers={key: value for key, value in known.items() if key not in of_its_own},
        evidence=tuple(_evidence(each) for each in known["evidence"]),
        notes=tuple(known.get("notes", ())),
    )


def _evidence(known: Mapping[str, Any]) -> Evidence:
    of_its_own = ("what", "settings", "remarks")
    return Evidence(
        what=known["what"],
        numbers={key: value for key, value in known.items() if key not in of_its_own},
        settings=known.get("settings", {}),
        remarks=tuple(known.get("remarks", ())),
    )


def _check(known: Mapping[str, Any]) -> Check:
    return Check(
        subsets=known["subsets"],
        rank=known["rank"],
        ratio=known["ratio"],
        best=_evidence(known["best"]),
        advised=_evidence(known["advised"]),
        model=known.get("model", {}),
    )
