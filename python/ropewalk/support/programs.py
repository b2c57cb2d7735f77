"""Programs of their own beside the compiled half of the package: gateway and testbed.

They use the Linux kernel, and the rest of the package does not. A wheel installs them among the
scripts of its environment. A clone builds them when one is first used, or by ``make programs``.
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
FOLDER = "ROPEWALK_PROGRAMS"  # environment variable: a folder that has them, built otherwise
GATEWAY = "ropewalk-gateway"
TESTBED = "ropewalk-testbed"
PROFILE = "setup"
# The library is preloaded by `exec`, which looks for it beside the gateway.
CRATES = (GATEWAY, TESTBED, "ropewalk-preload")


class UnavailableError(RuntimeError):
    """The machine lacks a feature, or this user a permission; the text says which."""


def find(name: str) -> Path:
    """Return the path of a program; a clone builds it if it is not there.

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
    """Return the folder of programs that are built, not installed."""
    target = CLONE / os.environ.get("CARGO_TARGET_DIR", "target")
    return Path(os.environ.get(FOLDER, target / PROFILE)).absolute()


def _installed() -> Iterator[Path]:
    """Yield folders where pip puts programs: of an environment, a user, or ``--target``."""
    yield Path(sysconfig.get_path("scripts"))
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    yield PACKAGE.parent / "bin"


def _build() -> Path:
    """Build all programs of a clone; return their folder."""
    cargo = os.environ.get("CARGO", "cargo")
    if shutil.which(cargo) is None:
        raise UnavailableError(f"{cargo} is missing, which builds the programs: install Rust")
    crates = [word for crate in CRATES for word in ("--package", crate)]
    command = [cargo, "build", "--locked", "--profile", PROFILE, *crates]
    said = "ropewalk: builds gateway and testbed, once, in a minute or two"
    print(said, file=sys.stderr, flush=True)
    # Standard output is for results.
    if subprocess.run(command, cwd=CLONE, stdout=sys.stderr.fileno(), check=False).returncode:
        raise UnavailableError(f"gateway and testbed are not built: {' '.join(command)} failed")
    return _built()
