"""A fluid model of TCP and MPTCP over links with queues: windows and rates, no packets.

A run has some hundred time steps. In each step the windows in flight fill the links' queues until
input and output rates are equal (rates are windows over round trips, which include the queues).
Windows grow by their congestion control. They fall when a queue overflows, or when a random loss
is due. A connection's scheduler divides its window among the subflows
(`ropewalk.model.fluid.sharing`).

Losses are not random: the gaps between them are evenly spread quantiles (golden ratio) of the
exponential distribution. The same arguments give the same numbers, and few losses already have the
right mean and spread.

The model ignores single packets (bursts, granularity of small windows), timeouts other than by
losses at small windows and by outages, and the load of acknowledgements on data in the other
direction.

References
----------
V. Misra, W.-B. Gong, D. Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP
flows", SIGCOMM 2000, for windows as a fluid. RFC 5681, RFC 6356, RFC 9438 and the papers named at
each law, for growth.
"""

from ...support.deprecation import renamed
from .components import FluidConnection, FluidLink, FluidPath
from .simulation import Outcome, run

__all__ = ["FluidConnection", "FluidLink", "FluidPath", "Outcome", "run"]
__getattr__ = renamed(
    __name__, {"Connection": "FluidConnection", "Link": "FluidLink", "Path": "FluidPath"}
)
