"""Backends that run points: threads of this process, processes, or a cluster."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from queue import SimpleQueue
from typing import Any, Protocol, TypeAlias

from ...support.arguments import argument_error, builtin_value
from ...support.optional_deps import require
from .jobs import Job, Point, Row, run_points

On: TypeAlias = "int | str | Executor | None"

LOCAL = "local"
SCHEDULER = re.compile(r"(tcp|tls|wss?|ucx)://\S+:\d+")
# Exceptions that mean a worker's death; Dask's is matched by name to avoid importing Dask.
WORKER_DEATHS = ("KilledWorker",)
PACK_S = 0.1
PACK_OF_CLUSTER_S = 2.0
ASK_S = 2.0  # interval of queries for the number of workers
AHEAD = 2  # packs for each worker of a cluster: one running, one queued


class Backend(Protocol):
    """Executor of packs of points, several at a time."""

    @property
    def width(self) -> int:
        """Number of packs at a time."""

    @property
    def pack_s(self) -> float:
        """Target duration of a pack in s, much longer than its submission."""

    def submit(self, points: Sequence[Point]) -> Future[list[Row]]:
        """Submit a pack."""

    def renew(self) -> None:
        """Restart after a worker's death, or raise BrokenExecutor."""


def cores() -> int:
    """Return the number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_on(on: On) -> On:
    """Return where points run; ValueError if they cannot run there.

    Examples
    --------
    >>> check_on("far away")
    Traceback (most recent call last):
    ValueError: on = 'far away': allowed: a number of processes, 'local', the address of a Dask \
scheduler such as 'tcp://host:8786', an executor of concurrent.futures
    """
    on = builtin_value(on)
    if on is None or isinstance(on, Executor):
        return on
    if isinstance(on, int) and not isinstance(on, bool) and on >= 1:
        return on
    if isinstance(on, str) and (on == LOCAL or SCHEDULER.fullmatch(on)):
        return on
    allowed = (
        f"a number of processes, {LOCAL!r}, the address of a Dask scheduler such as"
        " 'tcp://host:8786', an executor of concurrent.futures"
    )
    raise argument_error("on", on, allowed)


@contextmanager
def backends_on(on: On, job: Job) -> Iterator[list[Backend]]:
    """Yield the backends for a job, and close them afterwards.

    Raises ImportError if the requested Dask is not installed, OSError if a scheduler cannot be
    reached.
    """
    if on is None:
        yield from _in_process(job)
    elif isinstance(on, int):
        yield from _processes(job, on)
    elif isinstance(on, Executor):
        yield [_CallerExecutor(on, job, getattr(on, "_max_workers", None) or cores())]
    else:
        yield from _dask(job, on)


def is_worker_death(error: BaseException) -> bool:
    """Return whether an error means a worker's death, so that its points may be run again."""
    return isinstance(error, BrokenExecutor) or type(error).__name__ in WORKER_DEATHS


def _in_process(job: Job) -> Iterator[list[Backend]]:
    # Testbed runs use the machine's real time: two at once would slow each other down.
    width = 1 if job.verb == "testbed" else cores()
    threads = _Threads(width)
    try:
        yield [_CallerExecutor(threads, job, width)]
    finally:
        threads.shutdown()


def _processes(job: Job, count: int) -> Iterator[list[Backend]]:
    backends = [_Process(job) for _ in range(count)]
    try:
        yield [*backends]
    finally:
        for backend in backends:
            backend.end()


def _dask(job: Job, on: str) -> Iterator[list[Backend]]:
    require("a cluster", "distributed")
    distributed: Any = import_module("distributed")
    if on == LOCAL:
        with (
            distributed.LocalCluster(
                n_workers=cores(), threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield from _while_connected(client, job, cluster.scheduler_address)
    else:
        try:
            client = distributed.Client(on, timeout=10)
        except (OSError, TimeoutError) as error:
            raise OSError(f"{on}: no Dask scheduler answers: {error}") from None
        with client:
            yield from _while_connected(client, job, on)


def _while_connected(client: Any, job: Job, address: str) -> Iterator[list[Backend]]:
    """Yield a cluster; turn errors after the loss of its scheduler into one clear error."""
    try:
        yield [_Dask(client, job)]
    except Exception as error:
        # Each Dask call raises its own exception if the scheduler is lost.
        if client.status != "running":
            raise RuntimeError(f"{address}: the Dask scheduler is gone") from error
        raise


class _Threads(Executor):
    """Daemon threads: unlike with concurrent.futures, an interrupt need not wait for them."""

    def __init__(self, count: int) -> None:
        self._todo: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._count = count
        for _ in range(count):
            threading.Thread(target=self._serve, daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._todo.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = True) -> None:
        for _ in range(self._count):
            self._todo.put(None)

    def _serve(self) -> None:
        while (task := self._todo.get()) is not None:
            future, call = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:
                    future.set_exception(error)


class _CallerExecutor:
    """An executor supplied by the caller."""

    pack_s = PACK_S

    def __init__(self, executor: Executor, job: Job, width: int) -> None:
        self._executor = executor
        self._job = job
        self.width = width

    def submit(self, points: Sequence[Point]) -> Future[list[Row]]:
        return self._executor.submit(run_points, self._job, points)

    def renew(self) -> None:
        raise BrokenExecutor("a worker of the executor died, and it takes nothing more")


class _Process:
    """A process of one worker, so that its death affects no other points."""

    width = 1
    pack_s = PACK_S

    def __init__(self, job: Job) -> None:
        self._job = job
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, points: Sequence[Point]) -> Future[list[Row]]:
        if self._pool is None:
            from multiprocessing import get_context

            # A fork would inherit locks held by other threads.
            self._pool = ProcessPoolExecutor(
                1,
                mp_context=get_context("spawn"),
                initializer=_initialise_worker,
                initargs=(self._job,),
            )
        return self._pool.submit(_work_here, points)

    def renew(self) -> None:
        self.end()

    def end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            workers = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in workers:
                process.kill()


class _Dask:
    """A Dask cluster, which reruns the tasks of dead workers itself."""

    pack_s = PACK_OF_CLUSTER_S

    def __init__(self, client: Any, job: Job) -> None:
        self._client = client
        self._executor = client.get_executor(pure=False)
        self._job = job
        self._width, self._asked = 1, float("-inf")

    @property
    def width(self) -> int:
        """Number of packs at a time, from the present number of workers."""
        now = time.monotonic()
        if now - self._asked > ASK_S:
            self._width = max(AHEAD * sum(self._client.ncores().values()), 1)
            self._asked = now
        return self._width

    def submit(self, points: Sequence[Point]) -> Future[list[Row]]:
        future: Future[list[Row]] = self._executor.submit(run_points, self._job, points)
        return future

    def renew(self) -> None:
        """Do nothing: Dask restarts workers itself."""


_threads: list[_Threads] = []  # executor of this process's points
_jobs: list[Job] = []  # job of this process if it is a worker


def _initialise_worker(job: Job) -> None:
    """Initialise a worker process: it ignores interrupts, and ends with its parent."""
    _jobs.append(job)
    # The requesting thread executes runs that need not check for interrupts.
    _threads.append(_Threads(1))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _work_here(points: Sequence[Point]) -> list[Row]:
    (job,), (thread,) = _jobs, _threads
    rows: list[Row] = thread.submit(run_points, job, points).result()
    return rows
