"""One saturated link without contenders: exact, IEEE 802.11-2016, clause 10.3."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from operator import mul
from typing import NamedTuple

from ..arguments import number, whole
from .radio import MAC_BYTES, Radio


@dataclass(frozen=True)
class Exchange:
    """Parts of the duration of one acknowledged frame, in microseconds, in this order.

    Attributes
    ----------
    difs, backoff : float
        Waiting: DIFS, and the mean of a backoff after a success, half of CWmin slots.
    rts_cts : float
        RTS, CTS, and a SIFS after each; 0 without.
    preamble : float
        Preamble and PHY header of the data frame.
    headers : float
        MAC header, LLC and SNAP, checksum; with OFDM also what fills up the last symbol.
    packet : float
        The IP packet at the rate of data.
    sifs, ack : float
        The answer.
    """

    difs: float
    backoff: float
    rts_cts: float
    preamble: float
    headers: float
    packet: float
    sifs: float
    ack: float

    @property
    def busy_us(self) -> float:
        """From the first bit to the end of the ACK, and the DIFS that all wait before."""
        return self.total_us - self.backoff

    @property
    def total_us(self) -> float:
        """All of it: how far apart frames are that nothing destroys."""
        return math.fsum(astuple(self))


def exchange(radio: Radio, packet_bytes: int) -> Exchange:
    """Return the times of one frame that is acknowledged at its first try.

    Parameters
    ----------
    radio : Radio
        How it is sent.
    packet_bytes : int
        Length of the IP packet.

    Raises
    ------
    ValueError
        The packet is shorter than a byte.

    Examples
    --------
    Of 1984 us, a packet of 1500 bytes has 1091 at 11 Mbit/s, the ACK at 1 Mbit/s 304:

    >>> from ropewalk.model.wifi import radio
    >>> times = exchange(radio("802.11b", 11, basic_rates_mbps=[1]), 1500)
    >>> round(times.packet), times.ack, times.backoff, times.total_us
    (1091, 304, 310.0, 1984.0)
    """
    mpdu = whole("packet_bytes", packet_bytes) + MAC_BYTES
    packet = 8 * packet_bytes / radio.rate_mbps
    preamble = radio.preamble_us(radio.rate_mbps)
    handshake = radio.rts_us + radio.cts_us + 2 * radio.sifs_us if radio.rts else 0
    return Exchange(
        difs=radio.difs_us,
        backoff=radio.contention_window(0) / 2 * radio.slot_us,
        rts_cts=handshake,
        preamble=preamble,
        headers=radio.frame_us(mpdu) - preamble - packet,
        packet=packet,
        sifs=radio.sifs_us,
        ack=radio.answer_us,
    )


def link_goodput_mbps(
    radio: Radio, packet_bytes: int, payload_bytes: int | None = None, *, frame_error: float = 0.0
) -> float:
    r"""Return what one link carries alone: a sender that always has a frame, no rival.

    With a frame error ratio f and R tries, the i-th try follows a backoff of :math:`W_i / 2` slots
    in the mean and comes to pass with :math:`f^i`; a frame is lost with :math:`f^R`. A try that
    fails takes the ACK's timeout instead of the ACK.

    Parameters
    ----------
    radio : Radio
        The sender; its number of tries is R.
    packet_bytes : int
        Length of each IP packet.
    payload_bytes : int, optional
        How many of its bytes count; all if not given. A datagram of UDP has 28 less.
    frame_error : float
        Probability that a data frame is not received, each try by itself, at least 0, at most 1.

    Returns
    -------
    float
        10^6 bit/s.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    References
    ----------
    With f = 0 it is the throughput of one station in section IV of J. Jun, P. Peddabachagari, M.
    Sichitiu, "Theoretical maximum throughput of IEEE 802.11 and its applications", NCA 2003.

    Examples
    --------
    Datagrams of 1000 bytes, with ACKs at 11 and at 1 Mbit/s:

    >>> from ropewalk.model.wifi import radio
    >>> round(link_goodput_mbps(radio(basic_rates_mbps=[1, 2, 5.5, 11]), 1028, 1000), 4)
    5.1982
    >>> round(link_goodput_mbps(radio(basic_rates_mbps=[1]), 1028, 1000), 4)
    4.878
    """
    counted = counted_bytes(packet_bytes, payload_bytes)
    frame = frame_time(radio, packet_bytes, frame_error)
    return 8 * counted * frame.delivered / (frame.busy_us + frame.backoff_us)


class FrameTime(NamedTuple):
    """Mean duration of a frame over all its tries, and the probability that it arrives.

    Attributes
    ----------
    busy_us : float
        DIFS, frames and answers, or the time that an answer is waited for.
    backoff_us : float
        Backoffs.
    delivered : float
        Share of frames that arrive within their tries.
    """

    busy_us: float
    backoff_us: float
    delivered: float


def frame_time(radio: Radio, packet_bytes: int, frame_error: float = 0.0) -> FrameTime:
    """Return what a frame takes in the mean where its tries fail by themselves.

    Parameters
    ----------
    radio : Radio
        The sender.
    packet_bytes : int
        Length of the IP packet.
    frame_error : float
        Probability that the data frame is not received, each try by itself, at least 0, at most 1.

    Examples
    --------
    >>> from ropewalk.model.wifi import radio
    >>> frame_time(radio("802.11b", 11, basic_rates_mbps=[1]), 1500)
    FrameTime(busy_us=1674.0, backoff_us=310.0, delivered=1.0)
    """
    times = exchange(radio, packet_bytes)
    f = number("frame_error", frame_error, least=0, most=1)
    timed_out = times.busy_us - times.sifs - times.ack + radio.timeout_us
    begun = [f**failures for failures in range(radio.tries)]
    slots = [radio.contention_window(failures) / 2 for failures in range(radio.tries)]
    return FrameTime(
        busy_us=sum(begun) * ((1 - f) * times.busy_us + f * timed_out),
        backoff_us=sum(map(mul, begun, slots)) * radio.slot_us,
        delivered=1 - f**radio.tries,
    )


def counted_bytes(packet_bytes: int, payload_bytes: int | None) -> int:
    """Return how many bytes of a packet count: all, or as many as are said.

    Examples
    --------
    >>> counted_bytes(1028, 1000), counted_bytes(1028, None)
    (1000, 1028)
    """
    if payload_bytes is None:
        return packet_bytes
    return whole(
        "payload_bytes", payload_bytes, most=packet_bytes, note="the length of the packet"
    )
