"""Elahi et al. 2011: a bandwidth aggregation system above TCP as a queue M/M/c/N.

Packets arrive from an application as a Poisson stream and leave over c TCP connections with
unequal exponential rates. N packets fit into the system: S into the connections' send buffers, the
others into a main buffer. Packets that find the system full are lost. `Queue` describes a system;
each function is one equation, valid at any rho.

Probabilities are computed as logarithms relative to the most probable state, so neither the number
of packets nor the load is limited. The paper requires rho < 1; a finite queue is also stable at
rho >= 1. Rates are packets per second, times seconds. Functions raise `ValueError` for arguments
out of bounds.

In addition to the paper's equations, `mean_packets` and `throughput` give the queue's true mean
and rate: the paper's N_s (7) ignores packets in send buffers and losses, and its GP (11) vanishes
at low load. `ropewalk.model.elahi2011.sojourn` has the distribution of the delay,
`ropewalk.model.elahi2011.transient` the queue over time, and `ropewalk.model.elahi2011.receiver` a
receiver that reads at its own rate.

References
----------
E. Elahi, N. Hassan, S. Asghar, A. Qayyum, A. Rafiq, "Performance Modeling of Bandwidth Aggregation
for TCP Connections", 2011. Cited below as Elahi et al. 2011.

Examples
--------
The first row of the paper's table 1, with its GP and the true throughput:

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
