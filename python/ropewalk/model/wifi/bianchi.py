r"""A saturated cell with a retry limit: every station always has a frame to send.

Bianchi's chain, as a mean over the transmissions of a frame. The i-th occurs with probability
:math:`p^i`, after a mean backoff of :math:`W_i / 2` slots, so a station sends in a slot with

.. math:: \tau = \frac{\sum_{i<R} p^i}{\sum_{i<R} p^i (1 + W_i / 2)},
   \qquad p = 1 - (1 - \tau)^{n - 1},

where :math:`W_i` is the contention window after i failures. Without a limit it is Bianchi's
equation (7).

The model counts a busy period as a slot, while stations of the standard freeze. Its throughput is
within 3 % of a slot-by-slot simulation up to 10 stations, and 6 % up to 50.

References
----------
.. [1] G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination
   function", IEEE JSAC 18(3), 2000, equations (7), (9) to (14).
.. [2] H. Wu, Y. Peng, K. Long, S. Cheng, J. Ma, "Performance of reliable transport
   protocol over IEEE 802.11 wireless LAN: analysis and enhancement", INFOCOM 2002, which has the
   limit of tries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...support.optional_deps import require
from ..arguments import number, whole
from .radio import PhyTiming
from .single_link import counted_bytes, exchange


@dataclass(frozen=True)
class SaturatedCell:
    """Results for the stations of one cell.

    Attributes
    ----------
    goodput_mbps : float
        Delivered payload of all stations, Mbit/s.
    collision : float
        Collision probability of a transmission, p.
    sending : float
        Probability that a station starts to send in a slot, tau.
    dropped : float
        Ratio of frames whose last transmission collides, too.
    """

    goodput_mbps: float
    collision: float
    sending: float
    dropped: float


def saturated_cell(
    radio: PhyTiming,
    stations: int,
    packet_bytes: int,
    payload_bytes: int | None = None,
    *,
    eifs: bool = True,
) -> SaturatedCell:
    """Return the results of equal stations that all hear each other.

    Frames are lost only by collisions. A collision takes the time of the frame, or of the RTS, and
    then EIFS or DIFS.

    Parameters
    ----------
    radio : PhyTiming
        Parameters of each station.
    stations : int
        Number of stations, n.
    packet_bytes, payload_bytes
        As in `link_goodput_mbps`.
    eifs : bool
        Whether stations that hear a collision use EIFS. If not, they use DIFS, as in ns-3, where
        simultaneous frames are not received at all.

    Examples
    --------
    Five stations of 802.11b; a slot-by-slot simulation gives 5.48 Mbit/s and 0.177:

    >>> from ropewalk.model.wifi import radio
    >>> cell = saturated_cell(radio(basic_rates_mbps=[1, 2, 5.5, 11]), 5, 1028, 1000)
    >>> round(cell.goodput_mbps, 2), round(cell.collision, 3)
    (5.52, 0.178)
    """
    times = exchange(radio, packet_bytes)
    payload = counted_bytes(packet_bytes, payload_bytes)
    first = radio.rts_us if radio.rts else times.preamble + times.headers + times.packet
    windows = [radio.contention_window(i) for i in range(radio.tries)]
    sending, collision = attempt_probability(windows, stations)
    share = throughput(
        sending,
        whole("stations", stations),
        slot=radio.slot_us,
        payload=8 * payload,
        success=times.busy_us,
        failure=first + (radio.eifs_us if eifs else radio.difs_us),
    )
    return SaturatedCell(share, collision, sending, collision**radio.tries)


def attempt_probability(windows: Sequence[float], stations: int) -> tuple[float, float]:
    """Return tau and p, a station's probability to send in a slot, and to collide then.

    `windows` has the largest backoff before each transmission, in slots.

    Examples
    --------
    >>> [round(each, 4) for each in attempt_probability([31, 63, 127, 255, 511, 1023], 2)]
    [0.057, 0.057]
    """
    require("Bianchi's fixed point", "scipy")
    from scipy.optimize import brentq

    if not windows:
        raise ValueError("windows is empty: must have one per transmission")
    mean = [number("windows", each, least=0) / 2 for each in windows]
    others = whole("stations", stations) - 1

    def sending(p: float) -> float:
        begun = [p**i for i in range(len(mean))]
        return sum(begun) / sum(
            each * (1 + slots) for each, slots in zip(begun, mean, strict=True)
        )

    def excess(p: float) -> float:
        return 1 - float((1 - sending(p)) ** others) - p

    collision = float(brentq(excess, 0, 1, xtol=1e-14)) if others else 0.0
    return sending(collision), collision


def throughput(
    sending: float,
    stations: int,
    *,
    slot: float,
    payload: float,
    success: float,
    failure: float,
) -> float:
    """Return the mean payload of a slot over its mean length: equation (13) of [1]_.

    `sending` is tau; `slot`, `success` and `failure` are the durations of a slot in which none,
    one or several stations send, in one unit; `payload` is that of a frame.

    Examples
    --------
    >>> round(throughput(0.05, 2, slot=20, payload=8000, success=1229, failure=1330), 2)
    5.5
    """
    idle = (1 - sending) ** stations
    alone = stations * sending * (1 - sending) ** (stations - 1)
    length = idle * slot + alone * success + (1 - idle - alone) * failure
    return alone * payload / length
