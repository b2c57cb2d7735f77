"""Makes the gallery: runs its studies, and writes a report of each and an index page.

Arguments select studies. ``--page`` writes docs/gallery.md and runs nothing.
"""

import argparse
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from ropewalk.output import report
from ropewalk.output.report.section import Link, Part, Section, Text

HERE = Path(__file__).parent
LISTED = HERE / "gallery.toml"
PAGE = HERE / "gallery.md"
INDEX = "index.html"
TITLE = "The gallery of Ropewalk"
KIND = "Bundled studies, each with its commands and its report"

INTRO = """\
# Gallery

The gallery has twelve bundled studies. Each is a scenario, its commands and a [report](report.md).
Copy the scenarios and change them. This page is generated from [gallery.toml](gallery.toml).

`make gallery` runs all of them in a few minutes and writes the reports to
`results/gallery/index.html`. To run some:

    make gallery STUDIES="asymmetry outage"
"""


def studies() -> list[dict[str, Any]]:
    """Return the listed studies."""
    found: list[dict[str, Any]] = tomllib.loads(LISTED.read_text())["study"]
    return found


def page() -> str:
    """Return the text of docs/gallery.md."""
    parts = [INTRO]
    for number, each in enumerate(studies(), start=1):
        commands = "\n".join(f"    ropewalk {command}" for command in each["commands"])
        parts.append(f"## {number}. {each['title']}\n\n{each['shows']}\n\n{commands}\n")
    return "\n".join(parts)


def make(study: dict[str, Any], out: Path) -> Path:
    """Run a study's commands, each into its own folder, and make its report."""
    folders = []
    for number, command in enumerate(study["commands"], start=1):
        folder = out / study["name"] / str(number)
        run = [sys.executable, "-m", "ropewalk", *shlex.split(command), "--out", str(folder)]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        folders.append(folder)
    return report.write(folders, out / f"{study['name']}.html")


def index(made: list[dict[str, Any]], out: Path) -> Path:
    """Write the page that links to the reports."""
    parts = [
        Part(
            each["title"],
            (
                Text(each["shows"]),
                *(Text(f"ropewalk {command}", "code") for command in each["commands"]),
                Link("The report", f"{each['name']}.html"),
            ),
        )
        for each in made
    ]
    report.write_sections([Section(TITLE, KIND, tuple(parts))], out / INDEX)
    return out / INDEX


def main() -> None:
    """Make the selected studies."""
    known = studies()
    names = [each["name"] for each in known]
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("studies", nargs="*", metavar="study", help=f"of {', '.join(names)}")
    parser.add_argument("--out", type=Path, default=Path("results/gallery"), metavar="DIR")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}; run nothing")
    asked = parser.parse_args()
    if asked.page:
        PAGE.write_text(page())
        return
    for name in asked.studies:
        if name not in names:
            parser.error(f"no study {name!r}; there are: {', '.join(names)}")
    report.check_installed()
    asked.out.mkdir(parents=True, exist_ok=True)
    for each in known:
        if each["name"] in (asked.studies or names):
            began = time.monotonic()
            made = make(each, asked.out)
            print(f"{made}  ({time.monotonic() - began:.0f} s)", flush=True)
    there = [each for each in known if (asked.out / f"{each['name']}.html").exists()]
    print(index(there, asked.out))


if __name__ == "__main__":
    main()
