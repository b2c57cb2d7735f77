"""Budget of a wireless link: power, margin, airtime, and goodput without other traffic."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, fields, replace
from typing import Any

from ...model.wifi import (
    Exchange,
    bit_success,
    exchange,
    faded_frame_error,
    frame_error,
    link_goodput_mbps,
    snr_needed_db,
)
from ...model.wifi.radio import DSSS, MAC_BYTES, OFDM, PhyTiming
from .layout import ChannelModel, RadioLayout, Station, WirelessLink

MAX_FRAME_ERROR_RATE = 0.1  # frame error ratio that defines the SNR a rate needs
IDEAL_BITS = 8 * 1536  # frame length for which the ideal rate is chosen, bits
IDEAL_ERROR = 0.01  # largest frame error ratio of the ideal rate
MIN_DB = -100.0  # replaces minus infinity


@dataclass(frozen=True)
class Budget:
    """Budget of a wireless link for packets of one size.

    Mean received power and SNR are None where nothing is received. `needed_snr_db` is the mean SNR
    for a frame error ratio of 0.1 without fading, and for the receiver's sensitivity; None where
    errors do not depend on noise, or come from a table. `frame_error_ratio` covers noise, fading
    and configured loss, no collisions. `exchange` has the times of a frame, DIFS to ACK, and
    `most_mbps` is the payload rate of the link alone.
    """

    link: WirelessLink
    distance_m: float
    power_dbm: float | None
    snr_db: float | None
    rate_mbps: float
    needed_snr_db: float | None
    frame_error_ratio: float
    exchange: Exchange
    packet_bytes: int
    payload_bytes: int
    most_mbps: float

    @property
    def margin_db(self) -> float | None:
        """Mean SNR minus the SNR that the rate needs, dB."""
        if self.snr_db is None or self.needed_snr_db is None:
            return None
        return self.snr_db - self.needed_snr_db

    def json(self) -> dict[str, Any]:
        """Return the entry for ``--json``, without unknown values."""
        hop = self.link.hop
        known: dict[str, Any] = {
            "name": self.link.name,
            "channel": hop.channel,
            "from": hop.sender,
            "to": hop.receiver,
            "distance_m": self.distance_m,
            "power_dbm": self.power_dbm,
            "snr_db": self.snr_db,
            "needed_snr_db": self.needed_snr_db,
            "margin_db": self.margin_db,
            "rate_mbps": self.rate_mbps,
            "frame_error_ratio": self.frame_error_ratio,
            "packet_bytes": self.packet_bytes,
            "payload_bytes": self.payload_bytes,
            "exchange_us": {
                part.name: time
                for part, time in zip(fields(self.exchange), astuple(self.exchange), strict=True)
            },
            "most_mbps": self.most_mbps,
        }
        return {key: value for key, value in known.items() if value is not None}


def budgets(layout: RadioLayout, packet_bytes: int, payload_bytes: int) -> list[Budget]:
    """Return the budgets of all wireless links, in both directions, for IP packets of a size."""
    return [_budget(layout, link, packet_bytes, payload_bytes) for link in layout.links]


def radio_on(layout: RadioLayout, link: WirelessLink, packet_bytes: int) -> PhyTiming:
    """Return the rate and RTS use of a link for packets of one size."""
    sender = layout.stations[link.hop.sender, link.hop.channel]
    rts = sender.rts_above is not None and packet_bytes + MAC_BYTES > sender.rts_above
    rate = sender.radio.rate_mbps
    if sender.rate_control is not None:
        rate = _fastest(sender, layout.snr_db(link.hop))
    return replace(sender.radio, rts=rts, rate_mbps=rate)


def error_ratio(layout: RadioLayout, link: WirelessLink, packet_bytes: int) -> float:
    """Return the ratio of a link's transmissions lost to noise, fading or configured loss."""
    snr = layout.snr_db(link.hop)
    channel = layout.channels[link.hop.channel]
    shape = channel.shape(layout.distance_m(link.hop))
    least = _sensed_db(layout, link)
    if snr == -math.inf or (shape is None and snr < least):
        return 1.0
    radio, mpdu = radio_on(layout, link, packet_bytes), packet_bytes + MAC_BYTES
    if not errs_by_formula(channel, radio):
        return link.loss
    if shape is None:
        by_noise = float(frame_error(radio, snr, mpdu))
    else:
        by_noise = float(faded_frame_error(radio, snr, mpdu, shape, least_db=least))
    return 1 - (1 - by_noise) * (1 - link.loss)


def errs_by_formula(channel: ChannelModel, radio: PhyTiming) -> bool:
    """Whether formulas, not tables, give a radio's errors by noise."""
    if channel.propagation.model == "range":
        return False
    return channel.error_model == "nist" or (
        channel.error_model == "table" and radio.rate_mbps in DSSS
    )


def _sensed_db(layout: RadioLayout, link: WirelessLink) -> float:
    """Return the SNR at the sensitivity of a link's receiver, dB."""
    receiver = layout.stations[link.hop.receiver, link.hop.channel]
    return receiver.sensitivity_dbm - receiver.noise_dbm


def _budget(
    layout: RadioLayout, link: WirelessLink, packet_bytes: int, payload_bytes: int
) -> Budget:
    hop = link.hop
    power, snr = layout.power_dbm(hop), layout.snr_db(hop)
    radio = radio_on(layout, link, packet_bytes)
    error = error_ratio(layout, link, packet_bytes)
    by_formula = errs_by_formula(layout.channels[hop.channel], radio)
    return Budget(
        link=link,
        distance_m=layout.distance_m(hop),
        power_dbm=power if math.isfinite(power) else None,
        snr_db=snr if math.isfinite(snr) else None,
        rate_mbps=radio.rate_mbps,
        needed_snr_db=(
            max(
                snr_needed_db(radio, packet_bytes + MAC_BYTES, MAX_FRAME_ERROR_RATE),
                _sensed_db(layout, link),
            )
            if by_formula
            else None
        ),
        frame_error_ratio=error,
        exchange=exchange(radio, packet_bytes),
        packet_bytes=packet_bytes,
        payload_bytes=payload_bytes,
        most_mbps=link_goodput_mbps(radio, packet_bytes, payload_bytes, frame_error=error),
    )


def _fastest(sender: Station, snr_db: float) -> float:
    """Return the rate of the ideal rate control: the fastest for the mean SNR."""
    rates = DSSS if sender.radio.standard == "802.11b" else OFDM
    allowed = [
        rate
        for rate in rates
        if 1 - bit_success(rate, max(snr_db, MIN_DB)) ** IDEAL_BITS <= IDEAL_ERROR
    ]
    return max(allowed, default=rates[0])
