"""Print the version of Ropewalk, or set it.

    python packaging/version.py           # prints it; exit status 1 if a file has another
    python packaging/version.py 0.3.0     # sets it in every file that names it

`Cargo.toml` is the source: crates, the Python package, programs, Debian packages and the site take
their version from its `workspace.package`. The published crates' requirements for each other (in
the same file), `Cargo.lock` and `CITATION.cff` must repeat it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = r"[0-9]+\.[0-9]+\.[0-9]+(?:-[a-z0-9.]+)?"
# Text before the version in each file; the version ends with the quote or the line.
PLACES = {
    "Cargo.toml": (
        r'^\[workspace\.package\]\nversion = "',
        r'^ropewalk-[a-z-]+ = \{ path = "[^"]+", version = "',
    ),
    "Cargo.lock": (r'^name = "ropewalk-[a-z-]+"\nversion = "',),
    "CITATION.cff": (r"^version: ",),
}


def found(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the versions in each file."""
    return {
        name: {
            version
            for place in places
            for version in re.findall(
                f"{place}({VERSION})", (root / name).read_text(), re.MULTILINE
            )
        }
        for name, places in PLACES.items()
    }


def current(root: Path = ROOT) -> str:
    """Return the version of `Cargo.toml`; exit if a file has another."""
    at = re.search(
        f"{PLACES['Cargo.toml'][0]}({VERSION})", (root / "Cargo.toml").read_text(), re.MULTILINE
    )
    if at is None:
        sys.exit("Cargo.toml: no version under [workspace.package]")
    wrong = {name: versions for name, versions in found(root).items() if versions != {at[1]}}
    if wrong:
        text = "; ".join(f"{name}: {', '.join(sorted(each))}" for name, each in wrong.items())
        sys.exit(f"Cargo.toml has version {at[1]}, but {text}. Run: packaging/version.py {at[1]}")
    return at[1]


def set_everywhere(version: str, root: Path = ROOT) -> None:
    """Write a version to each place."""
    for name, places in PLACES.items():
        text = (root / name).read_text()
        for place in places:
            text = re.sub(f"({place}){VERSION}", rf"\g<1>{version}", text, flags=re.MULTILINE)
        (root / name).write_text(text)


def main() -> None:
    """Do as the command line says."""
    if len(sys.argv) > 1:
        if not re.fullmatch(VERSION, sys.argv[1]):
            sys.exit(f"{sys.argv[1]}: must be a version such as 0.3.0")
        set_everywhere(sys.argv[1])
    print(current())


if __name__ == "__main__":
    main()
