"""End-to-end delay of MPTCP: its elements, bounds on it, and the split that evens it.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014,
sections 2 and 3; `park2014.splitting` has section 4. Rates are packets per second, windows
packets, times seconds. Arguments of one entry for each of n subflows may be scalars, which then
stand for all.
"""

from .delay import (
    delay_bound,
    delay_of_elements,
    equal_delay_rates,
    loss_delay,
    network_delay,
    paths,
    reordering_delay,
    round_trip,
    send_delay,
    window_rate,
)

__all__ = [
    "delay_bound",
    "delay_of_elements",
    "equal_delay_rates",
    "loss_delay",
    "network_delay",
    "paths",
    "reordering_delay",
    "round_trip",
    "send_delay",
    "window_rate",
]
