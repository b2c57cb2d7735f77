"""The build backend (PEP 517): maturin's, with the wheel's other files.

pip calls it for `pip install .`, `pip wheel .` and the output of `make sdist`. As a program it
passes its arguments to maturin, with all files in place:

    python packaging/backend.py build --release --locked --out target/wheels

EXTENSION_RUSTFLAGS are flags for the extension only, if it has a profile.

On Linux a wheel has two programs, gateway and testbed, and the preload library of the gateway's
`exec`. Every wheel has the bundled scenarios, the crates' licences, and the commit as origin of
results. It needs cargo, like the extension.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import licences
import maturin
from maturin import (  # noqa: F401
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "python" / "ropewalk"
PROGRAMS = ("ropewalk-gateway", "ropewalk-testbed")
LIBRARY = "libropewalk_preload.so"
# Folder that maturin packs into a wheel's *.data, if it exists.
DATA = ROOT / "ropewalk._core.data"

COMMIT = PACKAGE / "commit.txt"


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Pack the sources; return the name of the file."""
    with commit():
        return maturin.build_sdist(sdist_directory, config_settings)


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build a complete wheel; return the name of its file."""
    with everything():
        return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


@contextmanager
def everything() -> Iterator[None]:
    """Provide the wheel's files other than the extension during the build."""
    # Equal for all binaries, so that they share compiled crates.
    os.environ.setdefault("CARGO_PROFILE_RELEASE_STRIP", "symbols")
    scenarios = PACKAGE / "scenarios"
    with commit(), removed(scenarios, DATA):
        shutil.copytree(ROOT / "scenarios", scenarios)
        if sys.platform == "linux":
            add_programs()
        text = DATA / "data" / "share" / "doc" / "ropewalk"
        text.mkdir(parents=True)
        licences.main(text / "licences-of-crates.txt")
        yield


@contextmanager
def commit() -> Iterator[None]:
    """Provide the commit in its file, if git knows it; an sdist has its own file."""
    if not (ROOT / ".git").exists():
        yield
        return
    known = git("rev-parse", "HEAD")
    sources = ("python", "crates", "Cargo.toml", "Cargo.lock")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", *sources)
    with removed(COMMIT):
        if known:
            COMMIT.write_text(f"{known}{'+changes' if changed else ''}\n")
        yield


def git(*arguments: str) -> str:
    """Run git; return an empty string if it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@contextmanager
def removed(*paths: Path) -> Iterator[None]:
    """Remove these files before and after."""

    def remove() -> None:
        for path in paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)

    remove()
    try:
        yield
    finally:
        remove()


def add_programs() -> None:
    """Build the programs and the library in the places where pip finds them.

    The gateway searches the library in ``../lib/ropewalk``.
    """
    program = os.environ.get("CARGO", "cargo")
    if shutil.which(program) is None:
        raise SystemExit(f"ropewalk: {program} is missing: install stable Rust (rustup)")
    crates = [word for crate in (*PROGRAMS, "ropewalk-preload") for word in ("--package", crate)]
    command = [program, "build", "--release", "--locked", *crates]
    if subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SystemExit(f"ropewalk: the wheel is not built: {' '.join(command)} has failed")
    built = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release"
    libraries = DATA / "data" / "lib" / "ropewalk"
    libraries.mkdir(parents=True)
    shutil.copy2(built / LIBRARY, libraries)
    (DATA / "scripts").mkdir()
    for each in PROGRAMS:
        shutil.copy2(built / each, DATA / "scripts")


if __name__ == "__main__":
    # Clean up in this case, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with commit() if sys.argv[1:2] == ["sdist"] else everything():
        flags = f"{os.environ.get('RUSTFLAGS', '')} {os.environ.get('EXTENSION_RUSTFLAGS', '')}"
        done = subprocess.run(
            [sys.executable, "-m", "maturin", *sys.argv[1:]],
            cwd=ROOT,
            env=os.environ | {"RUSTFLAGS": flags.strip()},
            check=False,
        )
    sys.exit(done.returncode)
