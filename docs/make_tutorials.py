"""Updates the output of commands in docs/tutorials, and their pictures.

    python docs/make_tutorials.py

A page's commands run in sequence in an empty folder with its `NAME.toml` files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGES = Path(__file__).with_name("tutorials")
PICTURES = Path(__file__).with_name("images") / "tutorials"
FILE = re.compile(r"`([\w-]+\.toml)`:\n\n```toml\n(.*?)^```", re.DOTALL | re.MULTILINE)
CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
PROGRESS = re.compile(r"^[\w ,()]+: [\d,]+(?: of [\d,]+)? after [\d,]+ s.*(?:\n|\Z)", re.MULTILINE)
CLOCK = re.compile(r"^(simulated .* in )[\d.]+ s$", re.MULTILINE)


def printed(command: str, folder: Path) -> str:
    """Return the output of a command, without parts that differ between runs."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path, "COLUMNS": "100", "LC_ALL": "C.UTF-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout}")
    text = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    return CLOCK.sub(r"\g<1>... s", PROGRESS.sub("", text).strip("\n")) + "\n"


def renewed(text: str, folder: Path) -> str:
    """Return a page with the current output of its commands, run in the folder."""
    for name, content in FILE.findall(text):
        (folder / name).write_text(content)

    def block(match: re.Match[str]) -> str:
        commands = [line for line in match[1].splitlines() if line.startswith("$ ")]
        parts = [f"{line}\n{printed(line[2:], folder)}" for line in commands]
        return "```console\n" + "\n".join(parts) + "```"

    return CONSOLE.sub(block, text)


def main() -> None:
    """Update all pages and pictures."""
    PICTURES.mkdir(exist_ok=True)
    for page in sorted(PAGES.glob("*.md")):
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(renewed(page.read_text(), Path(folder)))
            for picture in sorted(Path(folder).glob("*.png")):
                (PICTURES / picture.name).write_bytes(picture.read_bytes())
                print(f"docs/images/tutorials/{picture.name}")
        print(f"docs/tutorials/{page.name}")


if __name__ == "__main__":
    main()
