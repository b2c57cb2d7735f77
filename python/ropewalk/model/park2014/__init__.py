"""End-to-end delay of MPTCP: its parts, bounds, and the split that equalizes it.

Park, Joo, Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014,
sections 2 and 3; `park2014.splitting` has section 4. Rates are packets per second, windows
packets, times seconds. Arguments with one entry per subflow may be scalars. Functions raise
`ValueError` for arguments out of bounds.
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
