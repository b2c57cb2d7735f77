"""Section of a report on a reproduction: published numbers and ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...results import folders
from ...results.folders import ResultFolder
from . import charts, common_parts, drawing
from .section import Cell, Chart, Drawing, Facts, Image, Part, Piece, Section, Source, Table, Text
from .tables import cut, of_frame, value

KIND = "Reproduction of a table or figure of a paper"
TITLE = "Confidence in the results"
WITHIN = "Difference between ours and the printed value, in % of it, for numbers."


def section(stored: ResultFolder) -> Section:
    """Return the section on a reproduction."""
    result = stored.result
    compared = result["comparisons"]
    facts = [("paper", result["paper"]), ("item", result["item"]), ("source", result["source"])]
    if "runs" in result:
        seed, runs = result["seed"], result["runs"]
        facts.append(("simulated", f"{runs} of each scenario, seeds {seed} to {seed + runs - 1}"))
    if stored.origin is not None:
        facts.append(("command", stored.origin.command))
    return Section(
        result["title"],
        KIND,
        (
            Part("Input", (Facts(tuple(facts)),)),
            Part("Pictures", tuple(_pictures(stored, compared))),
            Part("Published values and ours", (_table(compared),) if compared else ()),
            Part("Open choices of the paper, and their results", tuple(_choices(result))),
            Part(TITLE, tuple(_credibility_pieces(result, compared))),
            Part("Simulated scenarios", tuple(_scenarios(stored))),
            Part("The data", tuple(_data(stored))),
            common_parts.origin_part(stored),
        ),
    )


def _pictures(stored: ResultFolder, compared: list[dict[str, Any]]) -> Iterator[Piece]:
    picture = stored.folder / folders.PICTURES / f"{stored.result['item']}.png"
    if picture.exists():
        yield Image(str(stored.result["title"]), picture.read_bytes())
    rows = [
        {"of": each["quantity"], "x": 100 * each["difference"] / each["published"]}
        for each in compared
        if each.get("difference") is not None and each["published"]
    ]
    if rows:
        import polars as pl

        data = pl.DataFrame(rows).unique("of", keep="first", maintain_order=True)
        spec = charts.bars(data, data["of"].to_list(), "difference (%)", what="quantity")
        yield Chart("Difference from the printed values", spec, WITHIN)


def _table(compared: list[dict[str, Any]]) -> Table:
    reasons = _reasons(compared)
    rows = []
    for each in compared:
        why = each.get("reason")
        rows.append(
            (
                value(each["quantity"]),
                _format_published(each.get("published")),
                value(each["ours"]),
                value(each.get("difference")),
                value(each.get("unit", "")),
                Cell("" if why is None else f"({reasons.index(why) + 1})"),
            )
        )
    headings = ("quantity", "published", "ours", "difference", "unit", "why")
    return cut("Published, and ours", headings, rows, "result.json")


def _format_published(published: float | str | None) -> Cell:
    """Format a published number with its printed digits."""
    if isinstance(published, (int, float)):
        return Cell(str(published), float(published))
    return value(published)


def _credibility_pieces(
    result: Mapping[str, Any], compared: list[dict[str, Any]]
) -> Iterator[Piece]:
    numbers = [each for each in compared if each.get("difference") is not None]
    near = [
        each
        for each in numbers
        if each["published"] and abs(each["difference"]) <= 0.05 * abs(each["published"])
    ]
    if numbers:
        yield Text(
            f"Of {len(numbers)} numbers that the paper prints, ours is within 5 % of {len(near)}."
        )
    for number, reason in enumerate(_reasons(compared), start=1):
        yield Text(f"({number}) {reason}")
    for warning in result.get("warnings", ()):
        yield Text(f"Warning: {warning}.", "warning")


def _reasons(compared: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(each["reason"] for each in compared if "reason" in each))


def _choices(result: Mapping[str, Any]) -> Iterator[Piece]:
    for choice in result["choices"]:
        alternatives = choice["alternatives"]
        names = list(dict.fromkeys(name for each in alternatives for name in each["numbers"]))
        yield Text(choice["question"], "strong")
        chosen = [at for at, each in enumerate(alternatives) if each["name"] == choice["chosen"]]
        if not chosen:
            yield Text(choice["chosen"])
        rows = tuple(
            (value(each["name"]), *(value(each["numbers"].get(name)) for name in names))
            for each in alternatives
        )
        yield Table(
            "Results of each alternative; the chosen one is emphasised",
            ("", *names),
            rows,
            tuple(chosen),
        )


def _scenarios(stored: ResultFolder) -> Iterator[Piece]:
    """Yield a drawing of the first scenario, and all scenarios as files."""
    for number, (name, scenario) in enumerate(stored.scenarios.items()):
        if number == 0:
            svg, caption = drawing.draw(scenario)
            yield Drawing(f"Links of {name}, and paths of the flows", svg, caption)
        yield Source(f"{name}.toml", scenario.text)


def _data(stored: ResultFolder) -> Iterator[Piece]:
    for name in stored.tables:
        frame = stored.table(name)
        if frame.height and frame.width:
            caption = name.replace("-", " ").capitalize()
            yield of_frame(frame, caption, f"{folders.TABLES}/{name}.parquet")
