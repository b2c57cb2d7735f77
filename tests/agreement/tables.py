"""Tables of reference numbers and ours: read, printed, written into the page."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.table import Table as RichTable

ROOT = Path(__file__).parents[2]
SCENARIOS = Path(__file__).parent / "scenarios"
PAGES = ROOT / "docs/agreement"


@dataclass(frozen=True)
class Table:
    """A data frame with the name of its place in the page, and number formats."""

    name: str
    title: str
    frame: pl.DataFrame
    formats: Mapping[str, str] = field(default_factory=dict)

    def cells(self) -> list[list[str]]:
        return [
            [self._written(column, value) for column, value in row.items()]
            for row in self.frame.iter_rows(named=True)
        ]

    def print(self) -> None:
        table = RichTable(title=self.title, title_justify="left", title_style="bold")
        for column in self.frame.columns:
            numeric = self.frame[column].dtype.is_numeric()
            table.add_column(column, justify="right" if numeric else "left")
        for row in self.cells():
            table.add_row(*row)
        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(table)
        console.print()

    def markdown(self) -> str:
        numeric = [self.frame[column].dtype.is_numeric() for column in self.frame.columns]
        lines = [
            self.frame.columns,
            ["--:" if is_number else "---" for is_number in numeric],
            *self.cells(),
        ]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _written(self, column: str, value: object) -> str:
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return format(value, self.formats.get(column, "g"))
        return str(value)


def reference(name: str) -> pl.DataFrame:
    return pl.read_csv(ROOT / "tests/reference" / name)


def read_from_pages(name: str) -> list[dict[str, str]]:
    """Return the rows of a table in the pages of docs/agreement."""
    for path in sorted(PAGES.glob("*.md")):
        text = path.read_text()
        if found := re.search(rf"<!-- table {name} -->\n(.*?)\n<!-- end -->", text, re.DOTALL):
            lines = [line[2:-2].split(" | ") for line in found[1].splitlines()]
            return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    raise ValueError(f"no table {name} in {PAGES.relative_to(ROOT)}")


def write_into_pages(tables: list[Table], *paths: Path) -> None:
    """Replace the tables in pages, by default those of docs/agreement."""
    before = {path: path.read_text() for path in paths or sorted(PAGES.glob("*.md"))}
    pages = dict(before)
    for table in tables:
        marks = rf"(<!-- table {table.name} -->\n).*?(\n<!-- end -->)"
        places = 0
        for path, text in pages.items():
            pages[path], found = re.subn(
                marks,
                lambda match, t=table: match[1] + t.markdown() + match[2],
                text,
                flags=re.DOTALL,
            )
            places += found
        if places != 1:
            names = ", ".join(str(path.relative_to(ROOT)) for path in pages)
            raise ValueError(f"{places} places for table {table.name} in {names}")
    for path, text in pages.items():
        if text != before[path]:
            path.write_text(text)
