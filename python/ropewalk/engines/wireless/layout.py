"""Positions of radios, and the power with which they receive each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...model.wifi import (
    Hop,
    Radio,
    friis_loss_db,
    log_distance_loss_db,
    noise_dbm,
    two_ray_loss_db,
)
from ...scenario.setup import Propagation

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Station:
    """A node's radio on one channel.

    Attributes
    ----------
    node, channel : str
        Names of the node and of the channel.
    at : tuple of float
        Position, metres.
    radio : Radio
        How it sends; with a rate control, at the rate that the mean SNR allows or its fastest.
    rate_control : str or None
        ``"arf"``, ``"aarf"`` or ``"ideal"``; None at a fixed rate.
    rts_above : int or None
        Frames of more bytes have RTS and CTS before them; None: none has.
    power_dbm, antenna_gain_db, noise_figure_db : float
        What it sends with, and what its antenna and its receiver add.
    sensitivity_dbm, sense_dbm : float
        Below the one nothing is received, from the other on the medium is busy.
    """

    node: str
    channel: str
    at: Point
    radio: Radio
    rate_control: str | None = None
    rts_above: int | None = None
    power_dbm: float = 16.0206
    antenna_gain_db: float = 0.0
    noise_figure_db: float = 7.0
    sensitivity_dbm: float = -82.0
    sense_dbm: float = -82.0

    @property
    def noise_dbm(self) -> float:
        """Noise in its receiver."""
        return noise_dbm(self.noise_figure_db)


@dataclass(frozen=True)
class Channel:
    """Properties of a channel, common to its radios.

    Attributes
    ----------
    name : str
        Name of the channel.
    propagation : Propagation
        The model and its parameters.
    fading : sequence of (float, float)
        Nakagami's m from each distance on, in metres; empty without fading.
    error_model : str
        ``"nist"``; ``"table"``, ns-3's for OFDM alone; ``"own table"``; or ``"none"``.
    losses_db : mapping of (str, str) to float
        Of a measured matrix, by sender and receiver.
    """

    name: str
    propagation: Propagation
    fading: Sequence[tuple[float, float]] = ()
    error_model: str = "nist"
    losses_db: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def loss_db(self, sender: Station, receiver: Station) -> float:
        """Return the mean loss of power on the way, dB; infinite where nothing comes through."""
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
        """Return Nakagami's m at a distance; None without fading."""
        bands = [m for start, m in self.fading if start <= distance_m]
        return bands[-1] if bands else None


@dataclass(frozen=True)
class WirelessLink:
    """A link whose capacity is a channel, one way.

    Attributes
    ----------
    name : str
        The link's; its way back has ``/reverse`` behind it.
    hop : Hop
        Channel, sender, receiver.
    loss : float
        Share of tries in error that was set by hand.
    """

    name: str
    hop: Hop
    loss: float = 0.0


@dataclass(frozen=True)
class Place:
    """All radios of a scenario.

    Attributes
    ----------
    channels : mapping of str to Channel
        Channels by name.
    stations : mapping of (str, str) to Station
        Stations by node and channel.
    links : sequence of WirelessLink
        Both ways of each.
    """

    channels: Mapping[str, Channel]
    stations: Mapping[tuple[str, str], Station]
    links: Sequence[WirelessLink]

    def __repr__(self) -> str:
        return (
            f"<Place of {len(self.stations)} radios on {len(self.channels)} channels,"
            f" {len(self.links)} links>"
        )

    @property
    def nodes(self) -> dict[str, Point]:
        """Where the nodes with radios stand."""
        return {station.node: station.at for station in self.stations.values()}

    def on(self, channel: str) -> list[Station]:
        """Return the radios of a channel."""
        return [each for each in self.stations.values() if each.channel == channel]

    def link(self, hop: Hop) -> WirelessLink:
        """Return the link, one way, that is this hop; without errors if there is none."""
        of_hop = (link for link in self.links if link.hop == hop)
        return next(of_hop, WirelessLink(f"{hop.sender}-{hop.receiver}", hop))

    def distance_m(self, hop: Hop) -> float:
        """Return how far apart a hop's ends are."""
        return math.dist(*(self.stations[node, hop.channel].at for node in hop[1:]))

    def power_dbm(self, hop: Hop) -> float:
        """Return the mean power that a hop's sender arrives with; -inf if it does not."""
        sender, receiver = (self.stations[node, hop.channel] for node in hop[1:])
        gains = sender.antenna_gain_db + receiver.antenna_gain_db
        return sender.power_dbm + gains - self.channels[hop.channel].loss_db(sender, receiver)

    def snr_db(self, hop: Hop) -> float:
        """Return the mean signal-to-noise ratio of a hop."""
        return self.power_dbm(hop) - self.stations[hop.receiver, hop.channel].noise_dbm

    def is_heard(self, hop: Hop) -> bool:
        """Whether a hop's receiver is silent while its sender sends."""
        how = self.channels[hop.channel].propagation
        if how.model == "range":
            return self.distance_m(hop) <= how.sense
        return self.power_dbm(hop) >= self.stations[hop.receiver, hop.channel].sense_dbm

    def hears(self) -> dict[str, set[tuple[str, str]]]:
        """Return who hears whom, by channel: pairs of a listener and a sender."""
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
        """Return the hops that a station destroys which does not hear their sender.

        Returns
        -------
        list of (Hop, str)
            The hop, and the station whose frames reach the hop's receiver while it does not hear
            the sender; only stations that send on links themselves.
        """
        heard = self.hears()
        return [
            (link.hop, node)
            for link in self.links
            for node in dict.fromkeys(each.hop.sender for each in self.links)
            if (node, link.hop.channel) in self.stations
            and node not in link.hop
            and (link.hop.receiver, node) in heard[link.hop.channel]
            and (node, link.hop.sender) not in heard[link.hop.channel]
        ]
