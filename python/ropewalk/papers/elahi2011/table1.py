"""Elahi et al. 2011, table 1: transmission rates of six systems."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from ...analysis.reproduction import Alternative, Choice, Reproduction
from ...model.elahi2011 import goodput
from ..published import printed_digits, published
from .rates import compared, draw, rates, share_of_experiment
from .rows import Capacity, SendBuffers, queue, rows
from .simulated import DELAYS, ETHERNET, HEADER, KINDS, LONG_HEADER, simulated


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Reproduce table 1."""
    links = (*KINDS, *DELAYS, LONG_HEADER)
    runs_of_all, scenarios = simulated(links, seed=seed, runs=runs, progress=progress)
    table = rates(runs_of_all)
    return Reproduction(
        paper="elahi-2011",
        item="table1",
        title="Elahi et al. 2011, table 1: transmission rates of six systems",
        source=published("elahi-2011")["citation"],
        comparisons=compared(table, runs_of_all),
        draw=lambda: draw(table),
        choices=(
            Choice(
                "What is the capacity N of the system in packets?",
                "300 in each row",
                tuple(Alternative(name, _agreement(capacity=name)) for name in get_args(Capacity)),
            ),
            Choice(
                "What is the capacity S of the send buffers?",
                "50 a connection",
                tuple(
                    Alternative(name, _agreement(send_buffers=name))
                    for name in get_args(SendBuffers)
                ),
            ),
            Choice(
                "Which links does the experiment use? (simulated)",
                ETHERNET.name,
                tuple(
                    Alternative(links.name, share_of_experiment(runs_of_all, links))
                    for links in KINDS
                ),
                digits=1,
            ),
            Choice(
                "Which one-way delay do they have? (simulated)",
                f"{ETHERNET.delay_ms:g} ms",
                tuple(
                    Alternative(f"{links.delay_ms:g} ms", share_of_experiment(runs_of_all, links))
                    for links in sorted((ETHERNET, *DELAYS), key=lambda links: links.delay_ms)
                ),
                digits=1,
            ),
            Choice(
                "How long is the header of a packet? (simulated)",
                f"{HEADER} bytes",
                (
                    Alternative(f"{HEADER} bytes", share_of_experiment(runs_of_all, ETHERNET)),
                    Alternative(LONG_HEADER.name, share_of_experiment(runs_of_all, LONG_HEADER)),
                ),
                digits=1,
            ),
        ),
        tables={"rates": table, "simulated": runs_of_all},
        scenarios=scenarios,
        seed=seed,
        runs=runs,
    )


def _agreement(
    *, capacity: Capacity = "300 in each row", send_buffers: SendBuffers = "50 a connection"
) -> dict[str, float]:
    ours = [goodput(queue(row, capacity, send_buffers)) for row in rows()]
    equal = sum(
        round(value, printed_digits(row.analytic)) == row.analytic
        for value, row in zip(ours, rows(), strict=True)
    )
    off = max(abs(value - row.analytic) for value, row in zip(ours, rows(), strict=True))
    return {"rows alike to the digit": equal, "most off, packets/s": off}
