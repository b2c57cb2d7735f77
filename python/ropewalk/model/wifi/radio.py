"""Durations of frames and interframe spaces, by standard, rate and preamble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, NamedTuple, TypeAlias

from ..arguments import choice, number, whole

Standard: TypeAlias = Literal["802.11b", "802.11a", "802.11g"]
Preamble: TypeAlias = Literal["long", "short"]

MAC_BYTES = 36  # 24 bytes of MAC header, 8 of LLC and SNAP, 4 of checksum
ACK_BYTES = 14  # same as a CTS
RTS_BYTES = 20

LONG_PREAMBLE_US = 192  # PLCP preamble and header at 1 Mbit/s, clause 15.2.2
SHORT_PREAMBLE_US = 96  # header at 2 Mbit/s, clause 16.2.2.3
OFDM_PREAMBLE_US = 20  # training and SIGNAL, clause 17.3.2.4
OFDM_SYMBOL_US = 4
OFDM_EXTRA_BITS = 22  # 16 of SERVICE, 6 of tail
SIGNAL_EXTENSION_US = 6  # clause 18.3.2.4

DATA_BITS_PER_SYMBOL: Mapping[float, int] = {
    6.0: 24,
    9.0: 36,
    12.0: 48,
    18.0: 72,
    24.0: 96,
    36.0: 144,
    48.0: 192,
    54.0: 216,
}


DSSS = (1.0, 2.0, 5.5, 11.0)
OFDM = tuple(DATA_BITS_PER_SYMBOL)
MANDATORY = (*DSSS, 6.0, 12.0, 24.0)


class Constants(NamedTuple):
    """Constants of a standard: tables 15-6, 16-4, 17-21 and 18-5."""

    rates_mbps: tuple[float, ...]
    basic_rates_mbps: tuple[float, ...]
    lowest_mbps: float
    sifs_us: int
    slot_us: int
    cw_min: int
    cw_max: int


STANDARDS: Mapping[str, Constants] = {
    "802.11b": Constants(DSSS, (1.0, 2.0), 1.0, 10, 20, 31, 1023),
    "802.11a": Constants(OFDM, (6.0, 12.0, 24.0), 6.0, 16, 9, 15, 1023),
    "802.11g": Constants((*DSSS, *OFDM), (6.0, 12.0, 24.0), 6.0, 10, 20, 15, 1023),
}


@dataclass(frozen=True)
class PhyTiming:
    """Transmission parameters of a radio, made by `radio`, and the times that follow.

    Attributes
    ----------
    standard : {"802.11b", "802.11a", "802.11g"}
        802.11g has the rates of the other two.
    rate_mbps : float
        Rate of data frames.
    basic_rates_mbps : tuple of float
        Basic rates, which ACK and CTS use, slowest first.
    preamble : {"long", "short"}
        For DSSS and CCK; frames at 1 Mbit/s always have the long one.
    slot_us : int
    eifs_rate_mbps : float
        Rate of the ACK within EIFS.
    tries : int
        Transmissions of a frame before it is dropped.
    rts : bool
        Whether data frames use RTS/CTS.
    """

    standard: Standard
    rate_mbps: float
    basic_rates_mbps: tuple[float, ...]
    preamble: Preamble
    slot_us: int
    eifs_rate_mbps: float
    tries: int
    rts: bool

    @property
    def sifs_us(self) -> int:
        """Short interframe space."""
        return STANDARDS[self.standard].sifs_us

    @property
    def difs_us(self) -> int:
        """Distributed interframe space: SIFS and two slots, clause 10.3.7."""
        return self.sifs_us + 2 * self.slot_us

    @property
    def eifs_us(self) -> int:
        """Extended interframe space: SIFS, an ACK at the lowest rate, and DIFS."""
        ack = self.time_us(ACK_BYTES, self.eifs_rate_mbps)
        return self.sifs_us + ack + self.difs_us

    @property
    def timeout_us(self) -> int:
        """Timeout for a response after the end of a frame, clause 10.3.2.11.

        SIFS, a slot, and aRxPHYStartDelay, in DSSS that of the long preamble.
        """
        known = OFDM_PREAMBLE_US if self.rate_mbps in OFDM else LONG_PREAMBLE_US
        return self.sifs_us + self.slot_us + known

    @property
    def ack_mbps(self) -> float:
        """Rate of ACKs, clause 10.6.6.5.2.

        The fastest basic rate of the data's class that does not exceed the data's rate; otherwise
        the fastest mandatory rate of the class.
        """
        return self._not_above(self.rate_mbps)

    @property
    def ack_us(self) -> int:
        """Duration of an ACK."""
        return self.time_us(ACK_BYTES, self.ack_mbps)

    @property
    def rts_us(self) -> int:
        """Duration of an RTS, at the lowest basic rate."""
        return self.time_us(RTS_BYTES, self._lowest_basic)

    @property
    def cts_us(self) -> int:
        """Duration of a CTS, at the rate of the RTS."""
        return self.time_us(ACK_BYTES, self._not_above(self._lowest_basic))

    def frame_us(self, mpdu_bytes: int) -> int:
        """Return the duration of a data frame.

        Parameters
        ----------
        mpdu_bytes : int
            Length from MAC header to checksum.
        """
        return self.time_us(mpdu_bytes, self.rate_mbps)

    def time_us(self, mpdu_bytes: int, rate_mbps: float) -> int:
        """Return the duration of a frame at any rate: clauses 16.3.4 and 17.4.3 (TXTIME).

        Parameters
        ----------
        mpdu_bytes : int
            Length from MAC header to checksum.
        rate_mbps : float
            One of the standard's rates.

        Examples
        --------
        >>> radio("802.11a").time_us(1536, 54), radio("802.11g").time_us(14, 6)
        (248, 50)
        """
        bits = 8 * whole("mpdu_bytes", mpdu_bytes)
        rate = _rate(self.standard, "rate_mbps", rate_mbps)
        if rate in DSSS:
            return self.preamble_us(rate) + ceil(bits / rate)
        symbols = ceil((OFDM_EXTRA_BITS + bits) / DATA_BITS_PER_SYMBOL[rate])
        extension = SIGNAL_EXTENSION_US if self.standard == "802.11g" else 0
        return OFDM_PREAMBLE_US + symbols * OFDM_SYMBOL_US + extension

    def preamble_us(self, rate_mbps: float) -> int:
        """Return the duration of a frame's preamble and PHY header."""
        if rate_mbps in OFDM:
            return OFDM_PREAMBLE_US
        short = self.preamble == "short" and rate_mbps > 1.0
        return SHORT_PREAMBLE_US if short else LONG_PREAMBLE_US

    def contention_window(self, failures: int) -> int:
        """Return the largest backoff in slots, CW, after a number of failures.

        Examples
        --------
        >>> [radio("802.11b").contention_window(i) for i in range(7)]
        [31, 63, 127, 255, 511, 1023, 1023]
        """
        fixed = STANDARDS[self.standard]
        doubled: int = (fixed.cw_min + 1) * 2 ** whole("failures", failures, least=0) - 1
        return min(doubled, fixed.cw_max)

    @property
    def _lowest_basic(self) -> float:
        return self.basic_rates_mbps[0]

    def _not_above(self, rate_mbps: float) -> float:
        own = DSSS if rate_mbps in DSSS else OFDM
        slow = [rate for rate in own if rate <= rate_mbps]
        basic = [rate for rate in slow if rate in self.basic_rates_mbps]
        return max(basic or [rate for rate in slow if rate in MANDATORY])


def radio(
    standard: Standard = "802.11b",
    rate_mbps: float | None = None,
    *,
    basic_rates_mbps: Sequence[float] | None = None,
    preamble: Preamble = "long",
    slot_us: int | None = None,
    eifs_rate_mbps: float | None = None,
    tries: int = 7,
    rts: bool = False,
) -> PhyTiming:
    """Return a radio, with the standard's values as defaults.

    Parameters
    ----------
    standard : {"802.11b", "802.11a", "802.11g"}
        802.11g has the rates of the other two.
    rate_mbps : float, optional
        Rate of data frames; by default the fastest.
    basic_rates_mbps : sequence of float, optional
        Rates of ACK and CTS; by default 1 and 2, or 6, 12 and 24.
    preamble : {"long", "short"}
        For DSSS and CCK; OFDM has its own.
    slot_us : int, optional
        Slot time; by default 20, 9 and 20 for b, a and g. 802.11g may also use 9, if no station
        needs the long one.
    eifs_rate_mbps : float, optional
        Rate of the ACK within EIFS; by default 1, 6 and 6.
    tries : int
        Transmissions of a frame before it is dropped.
    rts : bool
        Whether data frames use RTS/CTS.

    Raises
    ------
    ValueError
        The standard lacks a rate, or another argument is out of bounds.

    Examples
    --------
    >>> b = radio("802.11b", 11)
    >>> b.frame_us(1536), b.ack_us, b.difs_us, b.eifs_us
    (1310, 248, 50, 364)
    >>> radio("802.11a", 11)
    Traceback (most recent call last):
    ValueError: rate_mbps is 11: 802.11a has 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s
    """
    choice("standard", standard, tuple(STANDARDS))
    choice("preamble", preamble, ("long", "short"))
    fixed = STANDARDS[standard]
    basic = fixed.basic_rates_mbps if basic_rates_mbps is None else basic_rates_mbps
    if not basic:
        raise ValueError("basic_rates_mbps is empty: must name at least one rate")
    return PhyTiming(
        standard=standard,
        rate_mbps=_rate(
            standard, "rate_mbps", fixed.rates_mbps[-1] if rate_mbps is None else rate_mbps
        ),
        basic_rates_mbps=tuple(
            sorted(_rate(standard, "basic_rates_mbps", each) for each in basic)
        ),
        preamble=preamble,
        slot_us=fixed.slot_us if slot_us is None else whole("slot_us", slot_us),
        eifs_rate_mbps=_rate(
            standard,
            "eifs_rate_mbps",
            fixed.lowest_mbps if eifs_rate_mbps is None else eifs_rate_mbps,
        ),
        tries=whole("tries", tries),
        rts=rts,
    )


def _rate(standard: str, name: str, rate_mbps: float) -> float:
    rates = STANDARDS[standard].rates_mbps
    if number(name, rate_mbps) not in rates:
        allowed = ", ".join(f"{each:g}" for each in rates)
        raise ValueError(f"{name} is {rate_mbps:g}: {standard} has {allowed} Mbit/s")
    return float(rate_mbps)
