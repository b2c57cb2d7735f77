"""Reasons of differences from Alheid et al. 2016 that several rows share."""

from __future__ import annotations

from ..published import published
from .network import COUPLINGS

TWO_NUMBERS = (
    "The paper plots the module's gThroughput, the sum of cwnd x MSS / srtt, which is the rate "
    "allowed by the windows. The comparison uses it, too; goodput is in the table."
)
OF_DOOR = (
    "TCP-DOOR of the module ignores duplicates: both paths stay full, at the slower one's rate, "
    "which gives twice the rate of a single remaining path."
)
OF_DEAF = "F-RTO of the module ignores duplicates, too, and discards acknowledgements at random."
OF_EQUAL = (
    "D-SACK counts duplicates against the path that delays the stream. Between two equal links "
    "neither path does, and both stay full (table III). Between two radios one path does at "
    "times; how often depends on their noise, which the paper does not state."
)
OF_SLOW = "Duplicates halve the faster path's window until only the slower one is left."
OF_FAST = (
    "D-SACK blames the slower path for segments not reported before; the faster one remains, "
    "with its queue full."
)
OF_RANGE = (
    "One number is fitted, the exponent of the path loss (2.2), so that 54 Mbit/s reach 70 m as "
    "in the paper. Nakagami's m falls from 1.5 to 0.75 at 80 m, the default of ns-3."
)
OF_NOISE = (
    "Means of the couplings. How much noise a distance adds depends on the exponent of the path "
    "loss, which the paper does not state."
)
OF_RFC = "RFC 8684 uses both paths for every reordering policy, because no subflow is reordered."
OF_EIFEL = (
    "Eifel of the module restores the windows at each duplicate whose echo is older than the "
    "retransmission; single packets decide which path is left. The reason of a difference is not "
    "known."
)
UNKNOWN = "The reason of the difference is not known."


def published_kb(policy: str, scenario: int, coupling: str) -> float:
    """Return a value of the paper's table IV, in KB of 1024 bytes.

    Examples
    --------
    >>> published_kb("dsack", 1, "fully-coupled")
    76.6
    """
    rows = published("alheid-2016")["table4"][policy]
    value: float = rows[scenario - 1][list(COUPLINGS).index(coupling)]
    return value
