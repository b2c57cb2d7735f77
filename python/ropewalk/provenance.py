"""Provenance of a result: version, command, time and machine."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._core import __version__

if TYPE_CHECKING:
    from .scenario import Scenario

KEY = "origin"
SEVERAL = "origins"
# Written by a build, since an installed package has no repository.
COMMIT_FILE = Path(__file__).with_name("commit.txt")
GIT_WAITS_S = 5.0


@dataclass(frozen=True)
class Origin:
    """Version, command, time, machine and scenarios of a result.

    Attributes
    ----------
    version : str
    commit : str or None
        Git commit of the package, with ``+changes`` if files differ from it; None if unknown.
    date : str
        Start of the work: ISO 8601, in UTC.
    command : str
        Command line in shell syntax.
    machine : str
        Processor, memory, system and Python, in words.
    wall_s : float
        Duration of the work, s.
    seeds : tuple of int
        Seed of each run; empty if nothing was drawn.
    scenarios : mapping of str to Scenario
        Scenarios by title; for a reproduction, every simulated one.

    Examples
    --------
    >>> import ropewalk
    >>> origin = ropewalk.simulate("start/two-links", seed=3).origin
    >>> origin.version == ropewalk.__version__, origin.seeds
    (True, (3,))
    >>> "Two unequal links" in origin.scenario
    True
    """

    version: str
    date: str
    command: str
    machine: str
    wall_s: float
    commit: str | None = None
    seeds: tuple[int, ...] = ()
    scenarios: Mapping[str, Scenario] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def scenario(self) -> str | None:
        """Text of the only scenario, with overrides applied; None unless there is exactly one."""
        if len(self.scenarios) != 1:
            return None
        (only,) = self.scenarios.values()
        return only.effective()

    def json(self) -> dict[str, Any]:
        """Return the object ``origin`` of ``--json``, without unknown entries."""
        known: dict[str, Any] = self.without_scenarios()
        if self.scenario is not None:
            known["scenario"] = self.scenario
        elif self.scenarios:
            known["scenarios"] = {
                name: scenario.effective() for name, scenario in self.scenarios.items()
            }
        return known

    def without_scenarios(self) -> dict[str, Any]:
        """Return the object of `json` without the scenarios' texts."""
        known = {
            "version": self.version,
            "commit": self.commit,
            "date": self.date,
            "command": self.command,
            "machine": self.machine,
            "wall_s": self.wall_s,
            "seeds": list(self.seeds) or None,
        }
        return {key: value for key, value in known.items() if value is not None}


class Stopwatch:
    """Stopwatch that starts when it is made; `origin` reads it.

    Examples
    --------
    >>> began = Stopwatch()
    >>> began.origin().wall_s >= 0
    True
    """

    def __init__(self) -> None:
        self._date = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._began = time.perf_counter()

    def origin(self, *scenarios: Scenario, seeds: Sequence[int] = ()) -> Origin:
        """Return the origin of a result that was made of these scenarios until now."""
        return self.of_several({each.title: each for each in scenarios}, seeds)

    def of_several(self, scenarios: Mapping[str, Scenario], seeds: Sequence[int] = ()) -> Origin:
        """Return the origin of a result made until now, with scenarios by name."""
        return Origin(
            version=__version__,
            commit=commit(),
            date=self._date,
            command=command(),
            machine=machine(),
            wall_s=time.perf_counter() - self._began,
            seeds=tuple(seeds),
            scenarios=scenarios,
        )


def with_origin(known: dict[str, Any], origin: Origin | None) -> dict[str, Any]:
    """Return the ``--json`` object with the origin at its end, if known."""
    return known if origin is None else known | {KEY: origin.json()}


def without_origin(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the object of a part without its origin; the whole result has one."""
    return {key: value for key, value in known.items() if key != KEY}


def restored(known: Mapping[str, Any], scenarios: Mapping[str, Scenario]) -> Origin | None:
    """Return the origin in a ``--json`` object; None in files of versions without origins."""
    # An unfinished study has only the origins of the commands that ran it.
    kept = known.get(KEY) or next(reversed(known.get(SEVERAL, [])), None)
    return None if kept is None else origin_from_json(kept, scenarios)


def origin_from_json(kept: Mapping[str, Any], scenarios: Mapping[str, Scenario]) -> Origin:
    """Return the origin that `Origin.json` wrote."""
    return Origin(
        version=kept["version"],
        commit=kept.get("commit"),
        date=kept["date"],
        command=kept["command"],
        machine=kept["machine"],
        wall_s=kept["wall_s"],
        seeds=tuple(kept.get("seeds", ())),
        scenarios=scenarios,
    )


def command() -> str:
    """Return the command line; in a session without one, Python and its script.

    Examples
    --------
    >>> isinstance(command(), str)
    True
    """
    program, *arguments = sys.argv or [""]
    path = Path(program)
    if path.name == "ropewalk" or path.parts[-2:] == ("ropewalk", "__main__.py"):
        return shlex.join(["ropewalk", *arguments])
    if not program:
        return "python"
    if path.name in ("ipykernel_launcher.py", "colab_kernel_launcher.py"):
        return "in a notebook"
    return shlex.join(["python", *sys.orig_argv[1:]])


@cache
def machine() -> str:
    """Return the machine in words: cores, processor, memory, system, Python.

    Examples
    --------
    >>> "Python 3" in machine()
    True
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    system = platform.system()
    parts = [
        f"{cores} core{'' if cores == 1 else 's'} of {_processor()} ({platform.machine()})",
        *_memory(),
        f"{system} {platform.release()}",
        f"Python {platform.python_version()}",
    ]
    return ", ".join(parts)


@cache
def commit() -> str | None:
    """Return the commit of this package; None if neither the build nor git knows it."""
    try:
        return COMMIT_FILE.read_text().strip() or None
    except OSError:
        pass
    root = Path(__file__).parents[2]
    # An installed package may lie within another project's repository.
    if not (root / ".git").exists() or not (root / "crates" / "binding").is_dir():
        return None
    known = _git(root, "rev-parse", "HEAD")
    if not known:
        return None
    sources = ("python", "crates", "Cargo.toml", "Cargo.lock")
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", *sources)
    return f"{known}+changes" if changed else known


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=GIT_WAITS_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Model"):
                return value.strip()
    except OSError:
        pass
    return platform.processor() or "an unknown processor"


def _memory() -> list[str]:
    if sys.platform == "win32":
        return []
    try:
        in_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError):
        return []
    return [f"{in_bytes / 2**30:.0f} GiB"]
