"""Writes docs/reproductions.md and its pictures, the results of `ropewalk reproduce`.

Without arguments all items are made; with arguments (paper, item) only this one.
"""

import re
import sys
from pathlib import Path

from ropewalk.output import plot
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

PAGE = Path(__file__).with_name("reproductions.md")
PICTURES = Path(__file__).with_name("images") / "reproductions"

INTRO = """\
# Reproductions

Reproduced tables and figures of papers: the paper's values, ours, and reasons of differences.
`ropewalk reproduce PAPER ITEM` prints one. The papers' numbers are in
[published.toml](../python/ropewalk/papers/published.toml), each with its section.
`make reproductions` repeats all of them and writes this page, the numbers in the reasons
included. A row is met if our value is within the band of the paper's statement, by default 10 %
either way, and at least 5 points for a percentage.
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


def main() -> None:
    """Make the items and write the page."""
    wanted = [find(*sys.argv[1:])] if sys.argv[1:] else items()
    blocks = on_the_page()
    PICTURES.mkdir(exist_ok=True)
    for item in wanted:
        made = reproduce(item.paper, item.name)
        blocks[named(item)] = block(made)
        plot.save(made.figure, PICTURES / f"{made.paper}-{made.item}.png")
        print(f"made {named(item)} again")
    PAGE.write_text(page(blocks))


if __name__ == "__main__":
    main()
