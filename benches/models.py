"""Speed of formulas: a million predictions of song-2018 at once, and single calls of `predict`.

Run it with `make bench`. Times are the best of some runs on this machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import ropewalk
from ropewalk.model.song2018 import throughput
from ropewalk.model.striped_cycle import transfer
from ropewalk.scenario import bundled

MILLION = 1_000_000
MBPS = 125_000.0
RATES = np.array([35.9, 18.4, 33.3, 14.7, 14.8, 4.4, 22.5, 12.5])  # song-2018, section 5.1.3


def best(call: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time of some calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print a line for each formula."""
    random = np.random.default_rng(1)
    for links in (2, 4, 8):
        rates = RATES[:links] * MBPS * random.uniform(0.5, 1.5, (MILLION, links))
        delays = random.uniform(0.01, 0.2, (MILLION, links))
        seconds = best(lambda r=rates, d=delays: throughput(r, d), 3)
        print(f"song-2018, {links} links: a million predictions in {seconds:.2f} s")
    delays = random.uniform(0.01, 0.2, (20, 8))
    seconds = best(lambda: [transfer(RATES * MBPS, each) for each in delays], 3) / len(delays)
    print(f"the cycle of 8 striped links, 1 MB: {seconds * 1e3:.1f} ms each")
    for name in bundled.names():
        scenario = ropewalk.Scenario.load(bundled.file(name))
        seconds = best(lambda s=scenario: ropewalk.predict(s))
        print(f"predict {name}: {seconds * 1e3:.1f} ms")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
