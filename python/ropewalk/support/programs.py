"""The programs of the package, gateway and testbed, which need the Linux kernel.

A wheel installs them among its environment's scripts. A clone builds them on first use, or with
``make programs``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CLONE = PACKAGE.parents[1]
FOLDER = "ROPEWALK_PROGRAMS"  # environment variable: a folder with prebuilt programs
GATEWAY = "ropewalk-gateway"
TESTBED = "ropewalk-testbed"
PROFILE = "setup"
# `exec` loads the preload library from the gateway's folder.
CRATES = (GATEWAY, TESTBED, "ropewalk-preload")


class UnavailableError(RuntimeError):
    """The machine lacks a feature, or the user a permission; the message names it."""


def find(name: str) -> Path:
    """Return the path of a program; in a clone, build it if it is missing.

    Raises
    ------
    UnavailableError
        The system is not Linux, or the program is missing and cannot be built.

    Examples
    --------
    >>> find(TESTBED).name  # doctest: +SKIP
    'ropewalk-testbed'
    """
    if sys.platform != "linux":
        raise UnavailableError(f"{name} needs Linux; this system is {sys.platform}")
    is_clone = (CLONE / "crates").is_dir()
    folders = [_built()] if is_clone or FOLDER in os.environ else list(_installed())
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if found is not None:
        return found
    if is_clone and FOLDER not in os.environ:
        return _build() / name
    looked = ", ".join(map(str, folders))
    raise UnavailableError(f"{name}: no such program in {looked}")


def _built() -> Path:
    """Return the folder of programs built in a clone."""
    target = CLONE / os.environ.get("CARGO_TARGET_DIR", "target")
    return Path(os.environ.get(FOLDER, target / PROFILE)).absolute()


def _installed() -> Iterator[Path]:
    """Yield pip's script folders: of an environment, of a user, of ``--target``."""
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    yield PACKAGE.parent / "bin"


def _build() -> Path:
    """Build all programs of a clone; return their folder."""
    cargo = os.environ.get("CARGO", "cargo")
    if shutil.which(cargo) is None:
        raise UnavailableError(
            f"{cargo} is missing, but needed to build the programs: install Rust"
        )
    crates = [word for crate in CRATES for word in ("--package", crate)]
    command = [cargo, "build", "--locked", "--profile", PROFILE, *crates]
    message = "ropewalk: builds gateway and testbed, once, in a minute or two"
    print(message, file=sys.stderr, flush=True)
    # Standard output carries results only.
    if subprocess.run(command, cwd=CLONE, stdout=sys.stderr.fileno(), check=False).returncode:
        raise UnavailableError(
            f"gateway and testbed could not be built: {' '.join(command)} failed"
        )
    return _built()
