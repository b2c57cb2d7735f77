"""Elahi et al. 2011, table 1: transmission rates of six systems."""

from __future__ import annotations

from typing import get_args

from ..model.elahi2011 import goodput
from .elahi2011_rates import compared, draw, rates
from .elahi2011_rows import Capacity, SendBuffers, queue, rows
from .published import printed_digits, published
from .reproduction import Alternative, Choice, Reproduction


def reproduce() -> Reproduction:
    """Make table 1 again."""
    table = rates()
    return Reproduction(
        paper="elahi-2011",
        item="table1",
        title="Elahi et al. 2011, table 1: transmission rates of six systems",
        source=published("elahi-2011")["citation"],
        comparisons=compared(table),
        draw=lambda: draw(table),
        choices=(
            Choice(
                "How many packets fit into the system, N?",
                "300 in each row",
                tuple(Alternative(name, _agreement(capacity=name)) for name in get_args(Capacity)),
            ),
            Choice(
                "How many fit into the send buffers, S?",
                "50 a connection",
                tuple(
                    Alternative(name, _agreement(send_buffers=name))
                    for name in get_args(SendBuffers)
                ),
            ),
        ),
        tables={"rates": table},
    )


def _agreement(
    *, capacity: Capacity = "300 in each row", send_buffers: SendBuffers = "50 a connection"
) -> dict[str, float]:
    """How near the analytic column comes."""
    ours = [goodput(queue(row, capacity, send_buffers)) for row in rows()]
    alike = sum(
        round(value, printed_digits(row.analytic)) == row.analytic
        for value, row in zip(ours, rows(), strict=True)
    )
    off = max(abs(value - row.analytic) for value, row in zip(ours, rows(), strict=True))
    return {"rows alike to the digit": alike, "most off, packets/s": off}
