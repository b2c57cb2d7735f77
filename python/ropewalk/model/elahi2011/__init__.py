"""Elahi et al. 2011: a bandwidth aggregation system above TCP as a queue M/M/c/N.

Packets come from an application as a Poisson stream and leave over c TCP connections of unequal
exponential rates; N fit into the system, S of them into the connections' send buffers and the
others into a main buffer before these. What finds the system full is lost. `Queue` holds one such
system, and each function is one equation.

All is computed from logarithms of the probabilities relative to the most probable state, so that
neither the number of packets nor the load is bounded: where the paper asks for rho < 1, here rho
may be 1 or more, as a finite queue is always stable.

Besides the paper's equations there are `mean_packets` and `throughput`, what the same queue truly
holds and delivers, since its N_s (7) counts neither the packets that wait in the send buffers nor
the loss, and its GP (11) goes to zero with the load. How long a packet stays is in
`ropewalk.model.elahi2011.sojourn`.

References
----------
E. Elahi, N. Hassan, S. Asghar, A. Qayyum, A. Rafiq, "Performance Modeling of Bandwidth Aggregation
for TCP Connections", 2011. Cited below as Elahi et al. 2011.

Examples
--------
The first row of the paper's table 1, with its GP beside what really leaves:

>>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
>>> round(goodput(row), 2)
572.74
>>> round(throughput(row), 1)
636.7
"""

from .queue import (
    effective_rate,
    goodput,
    lost_rate,
    mean_packets,
    packets_in_system,
    packets_queued,
    throughput,
    time_in_system,
    time_queued,
)
from .states import (
    Queue,
    arrival_rate,
    cumulative_probability,
    departure_rate,
    empty_probability,
    load,
    log_probability,
    probability,
)

__all__ = [
    "Queue",
    "arrival_rate",
    "cumulative_probability",
    "departure_rate",
    "effective_rate",
    "empty_probability",
    "goodput",
    "load",
    "log_probability",
    "lost_rate",
    "mean_packets",
    "packets_in_system",
    "packets_queued",
    "probability",
    "throughput",
    "time_in_system",
    "time_queued",
]
