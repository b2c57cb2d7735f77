"""Scheduling of points on backends in packs, with reruns after a worker's death."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TypeAlias

from .backends import Backend, is_worker_death
from .jobs import Point, Row, failed

Pack: TypeAlias = tuple[Point, ...]

MAX_IN_A_PACK = 256
MAX_DEATHS = 3  # worker deaths by a point running alone, after which it counts as failed
MAX_EARLY_DEATHS = 10  # worker deaths before the first finished point, after which the study ends
WAIT_S = 1.0  # interval of checks for an interrupt


class Driver:
    """Runs points on backends, as many at a time as they accept.

    `keep` is called with finished points and their rows, in any order.
    """

    def __init__(
        self, backends: Sequence[Backend], keep: Callable[[Sequence[Point], Sequence[Row]], object]
    ) -> None:
        self._backends = backends
        self._keep = keep
        self._finished: SimpleQueue[Future[list[Row]]] = SimpleQueue()
        self._flying: dict[Future[list[Row]], tuple[Backend, Pack, float]] = {}
        self._busy = {id(backend): 0 for backend in backends}
        self._again: deque[Pack] = deque()
        self._deaths: dict[str, int] = {}
        self._dead = 0
        self._point_s: float | None = None  # duration of a point

    def run(self, points: Iterable[Point]) -> None:
        """Run points until all have a row; BrokenExecutor if an executor cannot restart."""
        coming = iter(points)
        try:
            while self._fill(coming) or self._flying:
                try:
                    future = self._finished.get(timeout=WAIT_S)
                except Empty:
                    continue
                self._take(future)
        finally:
            for future in self._flying:
                future.cancel()

    def _fill(self, coming: Iterator[Point]) -> bool:
        """Submit packs to the backends; return whether points may be left."""
        for backend in self._backends:
            while self._busy[id(backend)] < backend.width:
                pack = self._again.popleft() if self._again else self._pack(coming, backend.pack_s)
                if not pack:
                    return False
                future = self._submit(backend, pack)
                self._flying[future] = (backend, pack, time.monotonic())
                self._busy[id(backend)] += 1
                future.add_done_callback(self._finished.put)
        return bool(self._again)

    def _submit(self, backend: Backend, pack: Pack) -> Future[list[Row]]:
        try:
            return backend.submit(pack)
        except Exception as error:
            if not is_worker_death(error):
                raise
        # It died while idle.
        backend.renew()
        return backend.submit(pack)

    def _pack(self, coming: Iterator[Point], pack_s: float) -> Pack:
        of = 1 if self._point_s is None else int(pack_s / max(self._point_s, 1e-6))
        return tuple(islice(coming, min(max(of, 1), MAX_IN_A_PACK)))

    def _take(self, future: Future[list[Row]]) -> None:
        backend, pack, began = self._flying.pop(future)
        self._busy[id(backend)] -= 1
        try:
            rows = future.result()
        except CancelledError:
            self._again.extend((point,) for point in pack)
            return
        except Exception as error:
            if not is_worker_death(error):
                raise
            backend.renew()
            self._rerun_alone(pack, error)
            return
        took = (time.monotonic() - began) / len(pack)
        # The first pack includes the process start, so accept a shorter time at once.
        before = took if self._point_s is None else self._point_s
        self._point_s = took if took < before else 0.7 * before + 0.3 * took
        self._keep(pack, rows)

    def _rerun_alone(self, pack: Pack, error: BaseException) -> None:
        """Rerun a dead worker's points one by one, to find the point that kills workers."""
        if len(pack) > 1:
            self._again.extend((point,) for point in pack)
            return
        self._dead += 1
        if self._point_s is None and self._dead >= MAX_EARLY_DEATHS:
            raise RuntimeError(f"workers die before they have run anything: {error}") from error
        (point,) = pack
        self._deaths[point.key] = self._deaths.get(point.key, 0) + 1
        if self._deaths[point.key] < MAX_DEATHS:
            self._again.append(pack)
        else:
            text = f"{type(error).__name__}: {MAX_DEATHS} workers died that ran this point alone"
            self._keep(pack, [failed(text)])
