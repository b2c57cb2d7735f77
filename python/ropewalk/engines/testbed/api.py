"""The testbed's functions: `testbed` and `doctor`."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...provenance import Stopwatch
from ...results import Results
from ...scenario import Given, Scenario
from ...support import arguments
from ..simulate import check_runs
from .child import run_child
from .result import KernelRun

EMULATORS = ("own", "netem")


def testbed(
    scenario: Given,
    *,
    seed: int = 1,
    runs: int = 1,
    step: str | None = None,
    emulator: str = "own",
    kernel_congestion: str | None = None,
    progress: Callable[[int, int], object] | None = None,
    capture: str | os.PathLike[str] | None = None,
    capture_at: str | None = None,
    again: int = 0,
) -> Results:
    """Run a scenario on this machine's kernel, in real time, over emulated links.

    Client and server are network namespaces of a child process; they vanish with it, and nothing
    else on the machine changes. Runs are sequential and take the scenario's duration each. Links
    draw the simulator's losses, but timing is the machine's, so equal seeds give different
    numbers.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        Scenario with protocol ``tcp`` or ``mptcp``.
    seed : int
        Seed of the first run, 0 to 2^64 - 1.
    runs : int
        Number of runs, with consecutive seeds.
    step : str, optional
        Step of a recorded timeline, such as ``"100 ms"``; no timeline by default.
    emulator : str
        ``"own"``, the simulator's links in real time, or ``"netem"``, the kernel's.
    kernel_congestion : str, optional
        Congestion control that replaces the scenario's, by its kernel name, such as ``"bbr"``.
    progress : callable, optional
        Called regularly with the elapsed and the total seconds.
    capture : path, optional
        File for the packets of the first run: pcapng, or classic pcap if its name ends so.
    capture_at : str, optional
        ``"sender"`` (default), ``"receiver"``, or a link's name.
    again : int
        Largest number of repetitions of a run that the machine disturbed
        (``own_error.disturbed``); the least disturbed run is kept.

    Returns
    -------
    Results
        Numbers of all runs, as data frames.

    Raises
    ------
    ScenarioError
        The scenario is wrong, or needs a feature that the kernel lacks.
    ValueError
        Another argument is wrong.
    UnavailableError
        The machine lacks a feature or the user a permission; see `doctor`.
    RuntimeError
        A run failed.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.testbed("start/two-links")  # doctest: +SKIP
    >>> results.links["link"].to_list()  # doctest: +SKIP
    ['dsl', 'cable']
    """
    began = Stopwatch()
    scenario = Scenario.of(scenario)
    seed, runs = check_runs(seed, runs)
    arguments.choice("emulator", emulator, EMULATORS)
    again = arguments.whole("again", again, least=0)
    progress = arguments.function("progress", progress)
    step = None if step is None else arguments.text("step", step, "100 ms")
    if kernel_congestion is not None:
        kernel_congestion = arguments.text("kernel_congestion", kernel_congestion, "cubic")
    if capture is not None:
        capture = arguments.path("capture", capture)
    if capture_at is not None:
        capture_at = arguments.text("capture_at", capture_at, "sender")
    if capture_at is not None and capture is None:
        raise ValueError(f"capture_at = {capture_at!r}: only with a capture")
    request: dict[str, Any] = {
        **_request_of(scenario),
        "histogram": True,
        "emulator": emulator,
        **_without_none(step=step, kernel_congestion=kernel_congestion),
    }
    file = None if capture is None else Path(capture).absolute()
    capture_place = _without_none(capture_at=capture_at)
    each, total = scenario.duration_s, math.ceil(runs * scenario.duration_s)
    finished = []
    for number in range(runs):
        run_request = {**request, "seed": seed + number}
        on_progress = (
            None if progress is None else _run_progress(progress, number * each, each, total)
        )

        def once(
            to: Path | None,
            run_request: dict[str, Any] = run_request,
            on_progress: Callable[[float], object] | None = on_progress,
        ) -> KernelRun:
            capturing = {} if to is None else {"capture": str(to), **capture_place}
            folder = None if to is None else to.resolve().parent
            report = run_child(
                "world", run_request | capturing, seconds=each, progress=on_progress, folder=folder
            )
            return KernelRun(report, scenario)

        finished.append(least_disturbed(once, again, file if number == 0 else None))
    if progress is not None:
        progress(total, total)
    origin = began.origin(scenario, seeds=range(seed, seed + runs))
    return Results(scenario, finished, origin)


def least_disturbed(
    once: Callable[[Path | None], KernelRun], again: int, file: Path | None
) -> KernelRun:
    """Repeat a run until the machine does not disturb it, at most `again` times.

    Return the least disturbed run, whose capture is in `file`. `once` runs with a capture to the
    file that it is given.
    """
    kept, runs = once(file), 1
    while kept.is_disturbed and runs <= again:
        if file is None:
            run = once(None)
        else:
            # In the same folder, to be moved into place; with the same name, which selects the
            # format.
            with TemporaryDirectory(prefix=".ropewalk-", dir=file.parent) as folder:
                run = once(Path(folder) / file.name)
                if run.disturbance < kept.disturbance:
                    (Path(folder) / file.name).replace(file)
        runs += 1
        kept = min(kept, run, key=lambda each: each.disturbance)
    kept.mark_least_disturbed(runs)
    return kept


def doctor(scenario: Given | None = None) -> dict[str, Any]:
    """Return the features of this machine, and obstacles to a scenario's run.

    Parameters
    ----------
    scenario : Scenario, path or mapping, optional

    Returns
    -------
    dict
        Output of ``ropewalk testbed doctor --json``: ``ready``; for the ``machine`` its
        ``kernel``, ``congestion`` controls and ``checks``; for the ``scenario`` why it is
        ``refused``, and obstacles of its ``subflows``.

    Raises
    ------
    ScenarioError
        The scenario is wrong.

    Examples
    --------
    >>> import ropewalk
    >>> sorted(ropewalk.emulation.doctor()["machine"])
    ['checks', 'congestion', 'kernel']
    """
    request = None if scenario is None else {**_request_of(Scenario.of(scenario)), "seed": 1}
    return run_child("examine", request)


def _request_of(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario with its files' contents, for the child process."""
    return {
        "scenario": scenario.text,
        "name": scenario.name,
        "overrides": scenario.overrides,
        "files": scenario.files,
    }


def _without_none(**options: str | None) -> dict[str, str]:
    return {key: value for key, value in options.items() if value is not None}


def _run_progress(
    progress: Callable[[int, int], object], before: float, each: float, total: int
) -> Callable[[float], object]:
    """Return a progress callback for one run, with earlier runs' seconds added."""
    return lambda elapsed: progress(int(before + min(elapsed, each)), total)
