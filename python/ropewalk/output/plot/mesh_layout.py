"""Picture of a mesh: nodes, coloured routes, and their interference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...engines.wireless.from_scenario import radio_layout
from ...model.wifi import exchange
from ...results.displayable import Width
from ...scenario import Scenario
from ...scenario.setup import Mesh
from ..style import COLOURS, FAINT, INK, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONFLICT_LABEL = "#cc3344"
PACKET_BYTES = 1500


def draw(scenario: Scenario, *, width: Width | None = None) -> Figure:
    """Draw the mesh of a scenario; ValueError without ``[mesh]``.

    A disc around each inner node of a route shows its range. Inner nodes of another route in the
    disc share its zone; a line marks each such pair. The legend has the airtime of a full packet
    over each route, with acknowledgements, in an idle channel.

    Examples
    --------
    >>> from ropewalk import mesh, Scenario
    >>> figure = draw(Scenario(mesh.DEFAULT))
    >>> figure.axes[0].get_xlabel()
    'x (m)'
    """
    mesh = scenario.setup.mesh
    if mesh is None:
        raise ValueError(f"{scenario.name}: has no [mesh]")
    with picture(7, 6.4, title=scenario.title, paper=width) as figure:
        axes = figure.subplots()
        at = {f"n{number}": place for number, place in enumerate(mesh.nodes)}
        for one, other in mesh.links:
            _line(axes, at, one, other, color=FAINT, linewidth=0.8, zorder=1)
        _routes(axes, at, mesh, _airtimes_ms(scenario, mesh))
        _pairs(axes, at, mesh)
        _nodes(axes, at, mesh)
        axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
        axes.grid(visible=False)
        figure.legend(loc="outside lower center", ncols=1, fontsize="small")
    return figure


def interfering_pairs(mesh: Mesh) -> list[tuple[str, str]]:
    """Return pairs of inner nodes of two routes that are equal or joined by a link.

    Examples
    --------
    >>> import ropewalk
    >>> from ropewalk import mesh
    >>> scenario = ropewalk.Scenario(mesh.DEFAULT)
    >>> all(one.startswith("n") for one, other in interfering_pairs(scenario.setup.mesh))
    True
    """
    linked = {frozenset(ends) for ends in mesh.links}
    return [
        (one, other)
        for number, route in enumerate(mesh.paths)
        for further in mesh.paths[number + 1 :]
        for one in route[1:-1]
        for other in further[1:-1]
        if one == other or frozenset((one, other)) in linked
    ]


def _airtimes_ms(scenario: Scenario, mesh: Mesh) -> list[tuple[str, float]]:
    """Return each route's channel, and a packet's airtime over it."""
    radios = radio_layout(scenario.setup).stations
    found = []
    for number, route in enumerate(mesh.paths):
        channel = mesh.channels[number % len(mesh.channels)]
        times = [exchange(radios[node, channel].radio, PACKET_BYTES) for node in route[:-1]]
        found.append((channel, sum(each.total_us for each in times) / 1e3))
    return found


def _routes(
    axes: Axes, at: dict[str, Any], mesh: Mesh, airtimes_ms: list[tuple[str, float]]
) -> None:
    from matplotlib.patches import Circle

    several = zip(mesh.paths, airtimes_ms, strict=True)
    for number, (route, (channel, airtime_ms)) in enumerate(several):
        colour = COLOURS[(0, 4, 2, 3)[number % 4]]
        for node in route[1:-1]:
            zone = Circle(at[node], mesh.range, facecolor=colour, alpha=0.07, linewidth=0)
            axes.add_patch(zone)
        axes.plot(
            [at[node][0] for node in route],
            [at[node][1] for node in route],
            color=colour,
            linewidth=2.6,
            zorder=2,
            label=f"route-{number + 1}, channel {channel}: {len(route) - 1} hops,"
            f" {airtime_ms:.1f} ms of air a packet of {PACKET_BYTES} bytes",
        )


def _pairs(axes: Axes, at: dict[str, Any], mesh: Mesh) -> None:
    label: str | None = "inner nodes of two routes in each other's zone"
    for one, other in interfering_pairs(mesh):
        _line(axes, at, one, other, color=CONFLICT_LABEL, linestyle=":", zorder=3, label=label)
        label = None


def _nodes(axes: Axes, at: dict[str, Any], mesh: Mesh) -> None:
    on_routes = {node for route in mesh.paths for node in route}
    ends = (mesh.source, mesh.destination)
    for node, (x, y) in at.items():
        marker = "s" if node in ends else "o"
        colour = INK if node in on_routes else "#999999"
        axes.plot(x, y, marker=marker, markersize=5 + 2 * (node in ends), color=colour, zorder=4)
        axes.annotate(
            node, (x, y), xytext=(4, 4), textcoords="offset points", fontsize=7, color=colour
        )


def _line(axes: Axes, at: dict[str, Any], one: str, other: str, **how: Any) -> None:
    axes.plot(*([at[one][axis], at[other][axis]] for axis in (0, 1)), **how)
