"""Positions of radios, and received powers between them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...model.wifi import (
    Hop,
    PhyTiming,
    friis_loss_db,
    log_distance_loss_db,
    noise_dbm,
    two_ray_loss_db,
)
from ...scenario.setup import Propagation

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Station:
    """A node's radio on one channel, with its position in m.

    With a `rate_control` (``"arf"``, ``"aarf"`` or ``"ideal"``), the rate of `radio` is the best
    for the mean SNR or the fastest. Frames of more than `rts_above` bytes use RTS/CTS, none if it
    is None. No frame is received below `sensitivity_dbm`, and the medium is busy from `sense_dbm`.
    """

    node: str
    channel: str
    at: Point
    radio: PhyTiming
    rate_control: str | None = None
    rts_above: int | None = None
    power_dbm: float = 16.0206
    antenna_gain_db: float = 0.0
    noise_figure_db: float = 7.0
    sensitivity_dbm: float = -82.0
    sense_dbm: float = -82.0

    @property
    def noise_dbm(self) -> float:
        """Noise power in its receiver."""
        return noise_dbm(self.noise_figure_db)


@dataclass(frozen=True)
class ChannelModel:
    """Properties of a channel, common to its radios.

    `fading` has pairs of a distance in m and Nakagami's m from there on. `error_model` is
    ``"nist"``, ``"table"`` (ns-3's for OFDM), ``"own table"`` or ``"none"``. `losses_db` has
    measured losses by sender and receiver.
    """

    name: str
    propagation: Propagation
    fading: Sequence[tuple[float, float]] = ()
    error_model: str = "nist"
    losses_db: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def loss_db(self, sender: Station, receiver: Station) -> float:
        """Return the mean path loss, dB; infinite where nothing is received."""
        how = self.propagation
        if how.model == "matrix":
            return self.losses_db.get((sender.node, receiver.node), math.inf)
        distance = math.dist(sender.at, receiver.at)
        match how.model:
            case "range":
                return 0.0 if distance <= how.range else math.inf
            case _ if distance == 0:
                return 0.0
            case "friis":
                return float(friis_loss_db(distance, how.frequency))
            case "two-ray":
                height = how.height
                heights = {"sender_height_m": height, "receiver_height_m": height}
                return float(two_ray_loss_db(distance, how.frequency, **heights))
            case "log-distance":
                return float(
                    log_distance_loss_db(
                        distance,
                        how.exponent,
                        reference_loss_db=how.reference_loss,
                        reference_distance_m=how.reference_distance,
                    )
                )
        raise ValueError(f"propagation {how.model!r} is not known")

    def shape(self, distance_m: float) -> float | None:
        """Return Nakagami's m at a distance in m; None without fading."""
        bands = [m for start, m in self.fading if start <= distance_m]
        return bands[-1] if bands else None


@dataclass(frozen=True)
class WirelessLink:
    """One direction of a wireless link; the reverse direction's name ends in ``/reverse``.

    `loss` is the configured ratio of transmissions in error; `loss_in_bursts` says whether they
    come in bursts.
    """

    name: str
    hop: Hop
    loss: float = 0.0
    loss_in_bursts: bool = False


@dataclass(frozen=True)
class RadioLayout:
    """All radios of a scenario, by node and channel, and both directions of each link."""

    channels: Mapping[str, ChannelModel]
    stations: Mapping[tuple[str, str], Station]
    links: Sequence[WirelessLink]

    def __repr__(self) -> str:
        return (
            f"<Place of {len(self.stations)} radios on {len(self.channels)} channels,"
            f" {len(self.links)} links>"
        )

    @property
    def nodes(self) -> dict[str, Point]:
        """Positions of the nodes with radios."""
        return {station.node: station.at for station in self.stations.values()}

    def on(self, channel: str) -> list[Station]:
        """Return the radios of a channel."""
        return [each for each in self.stations.values() if each.channel == channel]

    def link(self, hop: Hop) -> WirelessLink:
        """Return the link of this hop; if there is none, a link without errors."""
        of_hop = (link for link in self.links if link.hop == hop)
        return next(of_hop, WirelessLink(f"{hop.sender}-{hop.receiver}", hop))

    def distance_m(self, hop: Hop) -> float:
        """Return the length of a hop, m."""
        return math.dist(*(self.stations[node, hop.channel].at for node in hop[1:]))

    def power_dbm(self, hop: Hop) -> float:
        """Return the mean received power of a hop, dBm; -inf if nothing is received."""
        sender, receiver = (self.stations[node, hop.channel] for node in hop[1:])
        gains = sender.antenna_gain_db + receiver.antenna_gain_db
        return sender.power_dbm + gains - self.channels[hop.channel].loss_db(sender, receiver)

    def snr_db(self, hop: Hop) -> float:
        """Return the mean signal-to-noise ratio of a hop."""
        return self.power_dbm(hop) - self.stations[hop.receiver, hop.channel].noise_dbm

    def is_heard(self, hop: Hop) -> bool:
        """Whether a hop's receiver defers while its sender transmits."""
        how = self.channels[hop.channel].propagation
        if how.model == "range":
            return self.distance_m(hop) <= how.sense
        return self.power_dbm(hop) >= self.stations[hop.receiver, hop.channel].sense_dbm

    def _disturbs(self, hop: Hop) -> bool:
        """Whether frames of a sender that a receiver senses collide with others there."""
        how = self.channels[hop.channel].propagation
        return how.model != "range" or self.distance_m(hop) <= how.range

    def hears(self) -> dict[str, set[tuple[str, str]]]:
        """Return pairs of a listener and a sender that it senses, by channel."""
        return {
            channel: {
                (receiver.node, sender.node)
                for sender in self.on(channel)
                for receiver in self.on(channel)
                if sender != receiver and self.is_heard(Hop(channel, sender.node, receiver.node))
            }
            for channel in self.channels
        }

    def hidden(self) -> list[tuple[Hop, str]]:
        """Return hops, each with a hidden station.

        Its frames reach the hop's receiver, but it does not sense the sender. Only stations that
        send on links count.
        """
        heard = self.hears()
        return [
            (link.hop, node)
            for link in self.links
            for node in dict.fromkeys(each.hop.sender for each in self.links)
            if (node, link.hop.channel) in self.stations
            and node not in link.hop
            and (link.hop.receiver, node) in heard[link.hop.channel]
            and self._disturbs(Hop(link.hop.channel, node, link.hop.receiver))
            and (node, link.hop.sender) not in heard[link.hop.channel]
        ]
