"""Map of radios: nodes, links with SNR, carrier sense, hidden stations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from ...engines.wireless.layout import RadioLayout, Station
from ...engines.wireless.link_budget import MAX_FRAME_ERROR_RATE, radio_on
from ...model.wifi import snr_needed_db
from ...model.wifi.radio import MAC_BYTES
from ...results.displayable import Width
from ..style import COLOURS, FAINT, INK, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HIDDEN = "#cc3344"
UNHEARD = (0, (2, 2))
RECEIVED: Literal["-"] = "-"
HEARD: Literal["--"] = "--"
LABELLED = 24  # largest number of labelled link directions
FURTHEST_M = 1e5


def draw(
    place: RadioLayout, title: str, packet_bytes: int = 1500, *, width: Width | None = None
) -> Figure:
    """Draw the radios of each channel and the links between them, one panel for each channel.

    `packet_bytes` is the packet size for the margins of the links.
    """
    channels = list(place.channels)
    with picture(
        1.2 + 4.6 * len(channels), 5.4, title=title, letters="".join(place.nodes), paper=width
    ) as figure:
        panels = figure.subplots(1, len(channels), squeeze=False, sharex=True, sharey=True)[0]
        for axes, channel in zip(panels, channels, strict=True):
            _zones(axes, place, channel)
            _links(axes, place, channel, packet_bytes)
            _hidden(axes, place, channel)
            _nodes(axes, place, channel)
            axes.set(title=f"channel {channel}", xlabel="x (m)", aspect="equal")
        panels[0].set_ylabel("y (m)")
        figure.legend(handles=_legend(), loc="outside lower center", ncols=3, fontsize="small")
    return figure


def reach_m(place: RadioLayout, station: Station, *, sensing: bool) -> float | None:
    """Return the range of a station in m; None if distance does not determine it.

    With `sensing`, the range in which the medium is busy, else the range of reception. The
    receivers have the station's own thresholds.
    """
    channel = place.channels[station.channel]
    how = channel.propagation
    if how.model == "matrix":
        return None
    if how.model == "range":
        return how.sense if sensing else how.range
    least = station.sense_dbm
    if not sensing:
        mpdu = 1500 + MAC_BYTES
        needed = station.noise_dbm + snr_needed_db(station.radio, mpdu, MAX_FRAME_ERROR_RATE)
        least = max(station.sensitivity_dbm, needed)
    sent = station.power_dbm + 2 * station.antenna_gain_db

    def enough(distance_m: float) -> bool:
        x, y, z = station.at
        other = Station("", station.channel, (x + distance_m, y, z), station.radio)
        return sent - channel.loss_db(station, other) >= least

    near, far = 1e-3, FURTHEST_M
    if not enough(near) or enough(far):
        return None
    for _ in range(60):
        middle = math.sqrt(near * far)
        near, far = (middle, far) if enough(middle) else (near, middle)
    return near


def _senders(place: RadioLayout, channel: str) -> list[Station]:
    names = dict.fromkeys(link.hop.sender for link in place.links if link.hop.channel == channel)
    return [place.stations[name, channel] for name in names]


def _zones(axes: Axes, place: RadioLayout, channel: str) -> None:
    """Draw each sender's range of reception and of carrier sense, in its colour."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Circle

    for station in _senders(place, channel):
        colour = to_rgb(_colour(place, station.node))
        for sensing, line in ((True, HEARD), (False, RECEIVED)):
            radius = reach_m(place, station, sensing=sensing)
            if radius is not None:
                axes.add_patch(
                    Circle(
                        station.at[:2],
                        radius,
                        facecolor=(*colour, 0.03),
                        edgecolor=(*colour, 0.8),
                        linestyle=line,
                        linewidth=0.9,
                    )
                )


def _links(axes: Axes, place: RadioLayout, channel: str, packet_bytes: int) -> None:
    """Draw each link with its mean SNR; the width shows the margin, dots mean none."""
    by_range = place.channels[channel].propagation.model == "range"
    drawn: set[frozenset[str]] = set()
    for link in place.links:
        ends = frozenset(link.hop[1:])
        if link.hop.channel != channel or ends in drawn:
            continue
        drawn.add(ends)
        (x, y, _), (u, v, _) = (place.stations[node, channel].at for node in link.hop[1:])
        snr = place.snr_db(link.hop)
        mpdu = packet_bytes + MAC_BYTES
        radio = radio_on(place, link, packet_bytes)
        margin = snr - snr_needed_db(radio, mpdu, MAX_FRAME_ERROR_RATE)
        axes.plot(
            [x, u],
            [y, v],
            color=INK if margin >= 0 else HIDDEN,
            linewidth=0.8 + 0.08 * min(max(margin, 0.0), 30.0),
            linestyle="-" if margin >= 0 else ":",
            zorder=2,
        )
        if not by_range and len(place.links) <= LABELLED:
            axes.annotate(
                f"{snr:.0f} dB",
                ((x + u) / 2, (y + v) / 2),
                (0, 4),
                textcoords="offset points",
                ha="center",
                color=FAINT,
                fontsize="small",
                zorder=5,
            )


def _hidden(axes: Axes, place: RadioLayout, channel: str) -> None:
    """Join stations that do not hear each other but share a receiver."""
    pairs = {
        frozenset((hop.sender, node)) for hop, node in place.hidden() if hop.channel == channel
    }
    for pair in sorted(map(sorted, pairs)):
        (x, y), (u, v) = (place.stations[node, channel].at[:2] for node in pair)
        axes.annotate(
            "",
            (u, v),
            (x, y),
            arrowprops={
                "arrowstyle": "<->",
                "color": HIDDEN,
                "linestyle": UNHEARD,
                "connectionstyle": "arc3,rad=0.35",
                "shrinkA": 6,
                "shrinkB": 6,
            },
            zorder=3,
        )


def _nodes(axes: Axes, place: RadioLayout, channel: str) -> None:
    """Draw the nodes; nodes at one place share a label."""
    at: dict[tuple[float, float], list[str]] = {}
    for station in place.on(channel):
        at.setdefault(station.at[:2], []).append(station.node)
    for (x, y), names in at.items():
        axes.plot(x, y, "o", color=_colour(place, names[0]), markersize=7, zorder=4)
        axes.annotate(
            ", ".join(names), (x, y), (6, 6), textcoords="offset points", zorder=5, color=INK
        )


def _colour(place: RadioLayout, node: str) -> str:
    return COLOURS[list(place.nodes).index(node) % len(COLOURS)]


def _legend() -> list[object]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=INK, linewidth=2, label="link, the thicker the more margin"),
        Line2D([], [], color=HIDDEN, linestyle=":", label="link without margin"),
        Line2D([], [], color=HIDDEN, linestyle=UNHEARD, label="do not hear each other"),
        Line2D([], [], color=FAINT, linestyle=RECEIVED, label="received within"),
        Line2D([], [], color=FAINT, linestyle=HEARD, label="heard within (carrier sense)"),
    ]
