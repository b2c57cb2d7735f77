"""A saturated link without contenders: exact, IEEE 802.11-2016, clause 10.3."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from operator import mul
from typing import NamedTuple

from ..arguments import number, whole
from .radio import MAC_BYTES, PhyTiming


@dataclass(frozen=True)
class Exchange:
    """Parts of one acknowledged frame's duration, microseconds, in chronological order.

    Attributes
    ----------
    difs, backoff : float
        DIFS, and the mean backoff after a success, half of CWmin slots.
    rts_cts : float
        RTS, CTS, and a SIFS after each; 0 without RTS/CTS.
    preamble : float
        Preamble and PHY header of the data frame.
    headers : float
        MAC header, LLC and SNAP, checksum; with OFDM also the padding of the last symbol.
    packet : float
        The IP packet at the data rate.
    sifs, ack : float
        SIFS and ACK.
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
        """Duration from the first bit to the end of the ACK, plus DIFS."""
        return self.total_us - self.backoff

    @property
    def total_us(self) -> float:
        """Interval between frames without errors."""
        return math.fsum(astuple(self))


def exchange(radio: PhyTiming, packet_bytes: int) -> Exchange:
    """Return the times of a frame that is acknowledged at its first transmission.

    Parameters
    ----------
    radio : PhyTiming
    packet_bytes : int
        Length of the IP packet.

    Examples
    --------
    At 11 Mbit/s a packet of 1500 bytes takes 1091 of 1984 us, its ACK at 1 Mbit/s 304:

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
        ack=radio.ack_us,
    )


def link_goodput_mbps(
    radio: PhyTiming,
    packet_bytes: int,
    payload_bytes: int | None = None,
    *,
    frame_error: float = 0.0,
) -> float:
    r"""Return the goodput of a link with a saturated sender and no contenders, Mbit/s.

    With a frame error ratio f and R transmissions, the i-th follows a mean backoff of :math:`W_i /
    2` slots and occurs with probability :math:`f^i`; a frame is lost with :math:`f^R`. A failed
    transmission takes the ACK's timeout instead of the ACK.

    Parameters
    ----------
    radio : PhyTiming
        The sender, with R transmissions per frame.
    packet_bytes : int
        Length of an IP packet.
    payload_bytes : int, optional
        Payload of a packet, by default all bytes; 28 bytes less for a UDP datagram.
    frame_error : float
        Error ratio of data frames, independent for each transmission, 0 to 1.

    References
    ----------
    For f = 0: J. Jun, P. Peddabachagari, M. Sichitiu, "Theoretical maximum throughput of IEEE
    802.11 and its applications", NCA 2003, section IV.

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
    """Mean duration of a frame over all its transmissions, and its delivery probability.

    `busy_us` has DIFS, frames, and ACKs or timeouts.
    """

    busy_us: float
    backoff_us: float
    delivered: float


def frame_time(radio: PhyTiming, packet_bytes: int, frame_error: float = 0.0) -> FrameTime:
    """Return the mean duration of a frame; its arguments are as in `link_goodput_mbps`.

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
    """Return the number of bytes of a packet that count as payload.

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
