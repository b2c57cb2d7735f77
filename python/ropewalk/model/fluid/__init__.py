"""A fluid model of TCP and MPTCP over links with queues: windows and rates, no packets.

Time goes in some hundred steps. In each, the windows in flight fill the links' queues so far that
what comes in goes out (windows over round trips are rates, and round trips have the queues in
them); a window grows as its congestion control grows, and falls where a queue overflows or where
the random loss of what was sent since the last one comes round. A connection's subflows share its
window as its scheduler lays data on them (`ropewalk.model.fluid.sharing`).

Losses are not drawn: the gaps between them take the quantiles of the exponential distribution,
evenly spread by the golden ratio, so that the same arguments give the same numbers and few losses
already have the mean and the spread that many would have.

Left out: single packets, so bursts and the granularity of small windows; timeouts but those that
small windows under loss, and outages, bring; what acknowledgements do to links that data of the
other direction uses.

References
----------
V. Misra, W.-B. Gong, D. Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP
flows", SIGCOMM 2000, for windows as a fluid. RFC 5681, RFC 6356, RFC 9438 and the papers named at
each law for how they grow.
"""

from .parts import Connection, Link, Path
from .running import Outcome, run

__all__ = ["Connection", "Link", "Outcome", "Path", "run"]
