"""Write the licences of the binaries' crates, which must accompany them.

python packaging/licences.py FILE
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BUILT = ("ropewalk-binding", "ropewalk-preload", "ropewalk-gateway", "ropewalk-testbed")
STARTS = ("LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
APACHE = (ROOT / "LICENSE-APACHE").read_text().strip()
TERMS = " ".join(APACHE.split()).partition("END OF TERMS")[0]

HEAD = """\
Ropewalk itself is under the MIT licence or the Apache License 2.0, as you like.

Its binaries hold, beside Rust's standard library (MIT or Apache-2.0), the crates below. Each is
named with what its authors allow; the texts that come with the crates follow, each once.
"""


def main(file: Path) -> None:
    """Write the file, whose content depends only on the lock file."""
    crates = sorted(linked(metadata()), key=lambda crate: (crate["name"], crate["version"]))
    lines = [f"  {each['name']} {each['version']}: {each['license']}" for each in crates]
    texts: dict[str, list[str]] = {}
    for crate in crates:
        for text in texts_of(crate):
            texts.setdefault(text, []).append(f"{crate['name']} {crate['version']}")
    parts = [HEAD, *lines]
    for text, users in texts.items():
        parts += ["", "-" * 80, f"Of {', '.join(dict.fromkeys(users))}:", "", text]
    file.write_text("\n".join(parts) + "\n")


def metadata() -> dict[str, Any]:
    """Return cargo's metadata of the workspace and its dependencies, for this machine."""
    cargo = os.environ.get("CARGO", "cargo")
    host = next(
        line.removeprefix("host: ")
        for line in _output("rustc", "-vV").splitlines()
        if line.startswith("host: ")
    )
    arguments = ("metadata", "--locked", "--format-version", "1", "--filter-platform", host)
    found: dict[str, Any] = json.loads(_output(cargo, *arguments))
    return found


def linked(known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each external crate compiled into a binary."""
    packages = {package["id"]: package for package in known["packages"]}
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    left = [package["id"] for package in known["packages"] if package["name"] in BUILT]
    seen = set(left)
    while left:
        at = left.pop()
        if packages[at]["source"] is not None:
            yield packages[at]
        for dependency in nodes[at]["deps"]:
            used = any(each["kind"] is None for each in dependency["dep_kinds"])
            if used and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                left.append(dependency["pkg"])


def texts_of(crate: dict[str, Any]) -> Iterator[str]:
    """Yield a crate's licence texts, one for each licence."""
    folder = Path(crate["manifest_path"]).parent
    found = sorted(each for each in folder.iterdir() if each.name.upper().startswith(STARTS))
    for each in found:
        if each.is_file():
            text = each.read_text(errors="replace").strip()
            words = " ".join(text.split())
            # One text for crates that differ only in line breaks; exceptions stay.
            yield APACHE if words.startswith(TERMS) and "LLVM" not in words else text


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
