"""Writes docs/reproductions.md with its pictures, and docs/coverage.md.

Without arguments all items are made; with arguments (paper, item) only this one. Results are kept
in results/reproductions. The page of the coverage is written if this folder has all items.
"""

import re
import sys
import time
from pathlib import Path

from ropewalk.analysis.coverage import Coverage, farthest
from ropewalk.output import plot, storage
from ropewalk.output.tables import coverage as coverage_table
from ropewalk.output.tables.reproduce import (
    cells,
    choice_rows,
    group_alike,
    quantities,
    reasons,
    simulated,
)
from ropewalk.papers import Item, Reproduction, items, reproduce
from ropewalk.papers.api import find
from ropewalk.papers.coverage import coverage, is_other_reading, stored

PAGE = Path(__file__).with_name("reproductions.md")
COVERAGE = Path(__file__).with_name("coverage.md")
RESULTS = Path(__file__).parents[1] / "results" / "reproductions"
PICTURES = Path(__file__).with_name("images") / "reproductions"

INTRO = """\
# Reproductions

Reproduced tables and figures of papers: the paper's values, ours, and reasons of differences.
`ropewalk reproduce PAPER ITEM` prints one. The papers' numbers are in
[published.toml](../python/ropewalk/papers/published.toml), each with its section.
`make reproductions` repeats all of them and writes this page, the numbers in the reasons
included. A row is met if our value is within the band of the paper's statement, by default 10 %
either way, and at least 5 points for a percentage. [Coverage](coverage.md) lists every statement
of the papers with its state.
"""
COVERAGE_INTRO = """\
# Coverage

Every statement of the five papers, in our words: mechanisms, equations, experiments, figures and
claims. `ropewalk reproduce --coverage` prints this list from new runs, and
`ropewalk reproduce --coverage --from DIR` from stored ones. The list is
[statements.toml](../python/ropewalk/papers/statements.toml).

| state | meaning |
| --- | --- |
| met | all rows of the statement in [Reproductions](reproductions.md) are within their bands |
| not met | a row is not; the reason is that of the row farthest from its band |
| shown | the paper states no number, or only a drawn curve |
| tested | a test shows it, as no item can |
| not here | Ropewalk cannot show it |
| no result | the item was not made for this page |
"""


def block(made: Reproduction) -> str:
    """Return the page's section on an item."""
    lines = [f"## {made.title}", "", f"    ropewalk reproduce {made.paper} {made.item}", ""]
    if made.runs is not None:
        lines += [f"{simulated(made).capitalize()}.", ""]
    lines += [
        "| | published | ours | difference | | met | why |",
        "| --- | --: | --: | --: | --- | --- | --: |",
        *(f"| {' | '.join(row)} |" for row in cells(made.comparisons)),
        "",
        *(f"{number}. {why}" for number, why in enumerate(reasons(made.comparisons), start=1)),
        "",
    ]
    if made.choices:
        lines += ["Open choices of the paper, with their results; * marks the chosen one:", ""]
    for group in group_alike(made.choices):
        names = quantities(group)
        lines += [f"| | {' | '.join(names)} |", f"| --- |{' --: |' * len(names)}"]
        for question, name, chosen, numbers in choice_rows(group):
            if question:
                lines.append(f"| **{question}** |{' |' * len(names)}")
            lines.append(f"| {name}{' *' if chosen else ''} | {' | '.join(numbers)} |")
        lines.append("")
    lines += [f"![{made.title}](images/reproductions/{made.paper}-{made.item}.png)", ""]
    lines.append(f"Made by `ropewalk reproduce {made.paper} {made.item} --plot FILE`.")
    return "\n".join(lines)


def page(blocks: dict[str, str]) -> str:
    """Return the whole page, its sections in the order of the items."""
    parts = [
        f"<!-- {name} -->\n{blocks[name]}\n<!-- end -->\n"
        for name in map(named, items())
        if name in blocks
    ]
    return "\n".join([INTRO, *parts])


def on_the_page() -> dict[str, str]:
    """Return the sections of the page."""
    text = PAGE.read_text() if PAGE.exists() else ""
    return dict(re.findall(r"^<!-- (\S+ \S+) -->\n(.*?)\n<!-- end -->", text, re.DOTALL | re.M))


def named(item: Item) -> str:
    """Return an item's name as the command takes it."""
    return f"{item.paper} {item.name}"


def coverage_page(found: Coverage) -> str:
    """Return the page of all statements and their states."""
    heading, *rows = coverage_table.summary_rows(found)
    lines = [COVERAGE_INTRO, f"| {' | '.join(heading)} |", f"| --- |{' --: |' * len(heading[1:])}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    for paper in found.papers:
        mine = found.of(paper)
        lines += ["", f"## {paper}", "", f"| {' | '.join(coverage_table.HEADINGS)} |"]
        lines.append("| --: | --- | --- | --- | --: | --: | --- | --: |")
        lines += [f"| {' | '.join(row)} |" for row in coverage_table.cells(mine)]
        lines.append("")
        reasons_of = coverage_table.reasons(mine)
        lines += [f"{number}. {why}" for number, why in enumerate(reasons_of, start=1)]
    return "\n".join(lines).rstrip() + "\n"


def report(seconds: float, made: int) -> None:
    """Print the time, the number of rows and of those within their bands, and the farthest.

    Rows of readings that were not chosen are left out.
    """
    results = stored(RESULTS)
    rows = [
        (f"{each.paper} {each.item}", row)
        for each in results
        for row in each.comparisons
        if not is_other_reading(each.paper, each.item, row.quantity)
    ]
    judged = [row.met for _, row in rows if row.met is not None]
    print(f"{made} items in {seconds / 60:.1f} min")
    print(
        f"{len(rows)} rows of {len(results)} items, other readings left out; "
        f"{len(judged)} have a band, "
        f"{sum(judged)} of them within it"
    )
    print("farthest outside their bands, in half widths of the band:")
    for name, row, far in farthest(rows):
        print(f"{far:8.1f}  {name}: {row.quantity}: {row.ours:.{row.digits}f} {row.unit}, "
              f"published {row.published}. {row.reason or ''}")  # fmt: skip


def main() -> None:
    """Make the items, keep their results, and write the pages."""
    wanted = [find(*sys.argv[1:])] if sys.argv[1:] else items()
    blocks = on_the_page()
    PICTURES.mkdir(exist_ok=True)
    began = time.monotonic()
    for item in wanted:
        started = time.monotonic()
        made = reproduce(item.paper, item.name)
        storage.keep(made, RESULTS / item.paper / item.name)
        blocks[named(item)] = block(made)
        plot.save(made.figure, PICTURES / f"{made.paper}-{made.item}.png")
        PAGE.write_text(page(blocks))
        print(f"made {named(item)} again in {time.monotonic() - started:.0f} s", flush=True)
    found = coverage(folder=RESULTS)
    if not found.counts()["no result"]:
        COVERAGE.write_text(coverage_page(found))
    report(time.monotonic() - began, len(wanted))
    for warning in coverage_table.warnings(found):
        print(f"warning: {warning}")


if __name__ == "__main__":
    main()
