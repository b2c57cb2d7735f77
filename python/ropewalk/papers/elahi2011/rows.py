"""The six systems of Elahi et al. 2011, the rows of table 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...model.elahi2011 import Queue
from ..published import published

Capacity: TypeAlias = Literal["300 in each row", "150, and 50 a connection"]
SendBuffers: TypeAlias = Literal["50 a connection", "150 in each row", "one a connection"]


@dataclass(frozen=True)
class Row:
    """A row of table 1; rates are in packets per second."""

    number: int
    arrival: float
    departure: tuple[float, ...]
    analytic: float
    experimental: float

    @property
    def name(self) -> str:
        """Arrivals and capacity, such as ``"638 to 320+192+128"``."""
        return f"{self.arrival:g} to {'+'.join(f'{rate:g}' for rate in self.departure)}"


def rows() -> tuple[Row, ...]:
    """Return the rows of table 1.

    Examples
    --------
    >>> [row.name for row in rows()][:2]
    ['638 to 320+192+128', '506 to 320+192']
    """
    table = published("elahi-2011")["table1"]["rows"]
    return tuple(
        Row(number, **(row | {"departure": tuple(row["departure"])}))
        for number, row in enumerate(table, start=1)
    )


def system() -> dict[str, Any]:
    """Return section 5's statements about the system."""
    facts: dict[str, Any] = published("elahi-2011")["system"]
    return facts


def queue(
    row: Row,
    capacity: Capacity = "300 in each row",
    send_buffers: SendBuffers = "50 a connection",
) -> Queue:
    """Return the queue of a row, for the formulas of `ropewalk.model.elahi2011`.

    `capacity` selects N: section 5 states 300 for three connections. `send_buffers` selects S:
    "one a connection" is the textbook's queue.

    Examples
    --------
    >>> queue(rows()[1]).send_buffers, queue(rows()[1], "150, and 50 a connection").capacity
    (100, 250)
    """
    facts = system()
    own, connections = facts["connection_buffer_packets"], len(row.departure)
    fits = {
        "300 in each row": facts["capacity_packets"],
        "150, and 50 a connection": facts["main_buffer_packets"] + own * connections,
    }[capacity]
    held = {
        "50 a connection": own * connections,
        "150 in each row": min(facts["main_buffer_packets"], fits),
        "one a connection": connections,
    }[send_buffers]
    return Queue(row.arrival, row.departure, capacity=fits, send_buffers=held)
