"""The packet simulator: `simulate`."""

from __future__ import annotations

import os
from collections.abc import Callable

from .. import _core
from ..provenance import Stopwatch
from ..results import Results
from ..scenario import Given, Scenario
from ..support import arguments

SEED_MAX = 2**64 - 1
SNAPLEN_MAX = 262_144


def simulate(
    scenario: Given,
    *,
    seed: int = 1,
    runs: int = 1,
    step: str | None = None,
    reordering: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    capture: str | os.PathLike[str] | None = None,
    capture_at: str = "sender",
    snaplen: int | None = None,
    qlog: str | os.PathLike[str] | None = None,
) -> Results:
    """Run a scenario packet by packet, in virtual time.

    The same scenario and seed give bit-identical numbers on any number of threads, except for the
    running time ``stats.wall_s``.

    Parameters
    ----------
    scenario : Scenario, path or mapping
    seed : int
        Seed of the first run, 0 to 2^64 - 1.
    runs : int
        Number of runs, with consecutive seeds.
    step : str, optional
        Step of a recorded timeline, such as ``"100 ms"``; no timeline by default.
    reordering : bool
        Measure reordering by RFC 4737 and RFC 5236.
    threads : int, optional
        Number of parallel runs; by default the number of cores.
    progress : callable, optional
        Called with the number of finished runs after each run.
    capture : path, optional
        File for the packets of the first run: pcapng, or classic pcap if its name ends so.
    capture_at : str
        Capture point: ``"sender"``, ``"receiver"``, a link's name (its end on the sender's side,
        with all flows), or ``"channel/NAME"`` or ``"node/NAME"`` for 802.11 frames.
    snaplen : int, optional
        Bytes to keep of each packet, 1 to 262144; by default all.
    qlog : path, optional
        File for the sender's state in the first run (windows, round-trip times, losses): qlog in
        JSON text sequences, with a name that ends in ``.sqlog``.

    Returns
    -------
    Results
        Numbers of all runs, as data frames.

    Raises
    ------
    ScenarioError
        The scenario is wrong, or needs a feature that the simulator lacks.
    ValueError
        Another argument is wrong.
    OSError
        A file could not be written.
    RuntimeError
        A run failed.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.simulate("start/two-links", runs=3)
    >>> results.summary["seed"].to_list()
    [1, 2, 3]
    """
    began = Stopwatch()
    scenario = Scenario.of(scenario)
    seed, runs = check_runs(seed, runs)
    seeds = range(seed, seed + runs)
    if snaplen is not None:
        snaplen = arguments.whole("snaplen", snaplen, least=1, most=SNAPLEN_MAX)
    finished = _core.simulate(
        scenario._core,
        seeds,
        step=None if step is None else arguments.text("step", step, "100 ms"),
        reordering=arguments.flag("reordering", reordering),
        threads=None if threads is None else arguments.whole("threads", threads, least=1),
        progress=arguments.function("progress", progress),
        capture=None if capture is None else arguments.path("capture", capture),
        capture_at=arguments.text("capture_at", capture_at, "sender"),
        snaplen=snaplen,
        qlog=None if qlog is None else arguments.path("qlog", qlog),
    )
    return Results(scenario, finished, began.origin(scenario, seeds=seeds))


def check_runs(seed: int, runs: int) -> tuple[int, int]:
    """Return the first seed and the number of runs, checked against the range of seeds.

    Examples
    --------
    >>> check_runs(1, 0)
    Traceback (most recent call last):
    ValueError: runs = 0: allowed: a whole number, at least 1
    """
    runs = arguments.whole("runs", runs, least=1)
    seed = arguments.whole("seed", seed, least=0, most=SEED_MAX)
    if seed > SEED_MAX - (runs - 1):
        raise ValueError(
            f"seed = {seed}: with runs = {runs}, all seeds must be from 0 to 2^64 - 1"
        )
    return seed, runs
