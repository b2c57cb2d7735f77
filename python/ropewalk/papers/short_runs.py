"""Items that show a paper's mechanisms by short simulations: runs, table and picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..analysis.reproduction import ComparedValue, Reproduction
from ..engines.simulate import simulate
from ..output.style import COLOURS, picture
from ..scenario import Scenario
from .published import published

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class ShortRun:
    """A finished run of a scenario without random events.

    Attributes
    ----------
    scenario : Scenario
        The scenario.
    run : mapping
        The run's JSON object.
    """

    scenario: Scenario
    run: Mapping[str, Any]

    def links(self, key: str) -> list[float]:
        """Return a number of each link."""
        return [each[key] for each in self.run["links"]]

    def subflows(self, key: str) -> list[float]:
        """Return a number of each subflow."""
        return [each[key] for each in self.run["subflows"]]

    @property
    def lost(self) -> int:
        """Packets that the links lost or dropped."""
        return int(sum(self.links("lost_packets")) + sum(self.links("dropped_packets")))

    @property
    def retransmitted(self) -> int:
        """Retransmitted segments of all subflows."""
        return int(sum(self.subflows("retransmissions")))


def short_run(name: str, text: str, *, reordering: bool = False) -> ShortRun:
    """Simulate a scenario once.

    Examples
    --------
    >>> text = Scenario.load("start/two-links", {"duration": "1 s"}).resolved()
    >>> short_run("start", text).run["duration_s"]
    1.0
    """
    scenario = Scenario(text, name=name)
    return ShortRun(scenario, simulate(scenario, reordering=reordering).runs[0])


def reproduction(
    paper: str, title: str, runs: Mapping[str, ShortRun], rows: Sequence[ComparedValue]
) -> Reproduction:
    """Return the item ``mechanisms`` of a paper."""
    import polars as pl

    table = pl.DataFrame(
        [
            {
                "run": name,
                "goodput_mbps": done.run["goodput_mbps"],
                "lost_packets": done.lost,
                "retransmissions": done.retransmitted,
                "timeouts": int(sum(done.subflows("timeouts"))),
            }
            for name, done in runs.items()
        ]
    )
    return Reproduction(
        paper=paper,
        item="mechanisms",
        title=title,
        source=published(paper)["citation"],
        comparisons=tuple(rows),
        draw=lambda: _draw(table),
        tables={"runs": table},
        scenarios={name: done.scenario for name, done in runs.items()},
    )


def _draw(table: pl.DataFrame) -> Figure:
    with picture(7, 1.4 + 0.3 * table.height) as figure:
        axes = figure.subplots()
        axes.barh(table["run"].to_list(), table["goodput_mbps"].to_list(), color=COLOURS[0])
        axes.invert_yaxis()
        axes.set_xlabel("goodput (Mbit/s)")
        axes.set_ylabel("run")
    return figure
