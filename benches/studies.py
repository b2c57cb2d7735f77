"""Studies of many short runs: their overhead, and resumption after kills.

    python benches/studies.py [--points 10000] [--workers 2] [--dask]

A study of one-second runs over eight links is run undisturbed, on threads and on processes; then
with a killed worker, killed as a whole, and resumed. ``--dask`` uses a Dask cluster of this
machine and kills one of its workers. The rows must be equal. On a shared machine processor time is
the fairer figure: it counts all processes of the study, next to the runs' own, measured in one
thread.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import ropewalk

SCENARIO = Path(__file__).parents[1] / "scenarios/trains/eight-links.toml"
NOT_THE_SAME = ("wall_s",)  # differ between two runs of a point
SAMPLE = 300  # runs in sequence, to measure the cost of a run


def main() -> int:
    """Print each study's time; exit with 1 if results differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--dask", action="store_true")
    requested = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        study = _study(folder, requested.points)
        run_s = _one_after_the_other(study)
        print(f"a run: {1e3 * run_s:.2f} ms of a processor, in the mean of {SAMPLE}")
        whole = requested.points * run_s
        expected = _timed(study, folder / "threads", [], whole, requested.workers, "threads")
        on = ["--on", str(requested.workers)]
        same = [
            _same(
                expected, _timed(study, folder / "pool", on, whole, requested.workers, "processes")
            ),
            _same(expected, _killed(study, folder / "killed", on, requested.points)),
        ]
        if requested.dask:
            same.append(_same(expected, _killed_of_dask(study, folder / "dask", requested.points)))
        shutil.rmtree(folder / "threads")
    return 0 if all(same) else 1


def _study(folder: Path, points: int) -> Path:
    """Write the study: rates by delays, with the given number of points."""
    rates = max(points // 100, 1)
    file = folder / "study.toml"
    shutil.copy(SCENARIO, folder / "eight-links.toml")
    file.write_text(
        'scenario = "eight-links.toml"\n\n[vary]\nduration = ["1 s"]\n'
        f'"link.telecom-1.rate" = {{ from = "5 Mbit/s", to = "50 Mbit/s", steps = {rates} }}\n'
        f'"link.mobile-2.delay" = {{ from = "10 ms", to = "100 ms", steps = {points // rates} }}\n'
    )
    return file


def _one_after_the_other(study: Path) -> float:
    """Return the mean processor seconds of a run, over some of the study's."""
    from ropewalk.analysis.study import definition

    defined = definition.load(study)
    combinations = list(defined.combinations)
    chosen = combinations[:: max(len(combinations) // SAMPLE, 1)][:SAMPLE]
    began = time.process_time()
    for changes in chosen:
        ropewalk.simulate(defined.scenario.with_(dict(changes)), threads=1)
    return (time.process_time() - began) / len(chosen)


def _timed(
    study: Path, out: Path, on: list[str], whole: float, workers: int, what: str
) -> pl.DataFrame:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(_command(study, out, on), check=True, stdout=subprocess.DEVNULL)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows = ropewalk.load(out).points
    summed = float(rows["wall_s"].sum())
    print(
        f"{what}: {rows.height} points in {wall:.1f} s, {processor:.1f} s of processors;"
        f" the runs' own clocks add up to {summed:.1f} s, their processor time to {whole:.1f} s\n"
        f"  wall over the runs' clocks / {workers}: {workers * wall / summed:.3f};"
        f" processor time over the runs': {processor / whole:.3f};"
        f" wall over the runs' processor time / {workers}: {workers * wall / whole:.3f}",
        flush=True,
    )
    return rows


def _killed(study: Path, out: Path, on: list[str], points: int) -> pl.DataFrame:
    """Kill a worker, then all, then resume."""
    running = subprocess.Popen(_command(study, out, on), stdout=subprocess.DEVNULL)
    _wait_for_rows(out, points // 10)
    victim = next(_workers(running.pid, "spawn_main"))
    os.kill(victim, signal.SIGKILL)
    _wait_for_rows(out, points // 3)
    assert running.poll() is None, "it goes on without that worker"
    running.send_signal(signal.SIGKILL)
    running.wait()
    left = ropewalk.load(out)
    print(
        f"killed: worker {victim}, and then all; {left.points.height} points are there,"
        f" {left.missing} missing"
    )
    began = time.monotonic()
    subprocess.run(_command(study, out, on), check=True, stdout=subprocess.DEVNULL)
    made = ropewalk.load(out)
    print(f"  again: {made.points.height} points, {time.monotonic() - began:.1f} s")
    return made.points


def _killed_of_dask(study: Path, out: Path, points: int) -> pl.DataFrame:
    """Run on a Dask cluster of two workers, and kill one of them."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        command = _command(study, out, ["--on", cluster.scheduler_address])
        began = time.monotonic()
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _wait_for_rows(out, points // 10)
        victim = next(iter(cluster.workers.values())).pid
        os.kill(victim, signal.SIGKILL)
        if running.wait() != 0:
            raise RuntimeError("the study failed")
    made = ropewalk.load(out)
    print(
        f"Dask: worker {victim} killed; {made.points.height} points in"
        f" {time.monotonic() - began:.1f} s, cluster and all"
    )
    return made.points


def _command(study: Path, out: Path, on: list[str]) -> list[str]:
    return [sys.executable, "-m", "ropewalk", "study", str(study), "--out", str(out), *on]


def _wait_for_rows(out: Path, count: int) -> None:
    from ropewalk.analysis.study.rows import read

    while not out.exists() or read(out / "points").height < count:
        time.sleep(0.2)


def _workers(parent: int, called: str) -> Iterator[int]:
    """Yield the child processes whose command line has a word."""
    children = Path(f"/proc/{parent}/task").glob("*/children")
    for child in (int(pid) for file in children for pid in file.read_text().split()):
        if called in Path(f"/proc/{child}/cmdline").read_text():
            yield child


def _same(expected: pl.DataFrame, made: pl.DataFrame) -> bool:
    once = made["point"].n_unique() == made.height
    same = expected.drop(NOT_THE_SAME).equals(
        made.drop(NOT_THE_SAME).select(
            name for name in expected.columns if name not in NOT_THE_SAME
        )
    )
    print(f"  each point once: {once}; equal to the undisturbed one: {same}", flush=True)
    return once and same


if __name__ == "__main__":
    sys.exit(main())
