"""Page of all panels of some runs, in a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import panels, whole_runs
from .timelines import subflows_of

if TYPE_CHECKING:
    from ...results import Results


@dataclass(frozen=True)
class Part:
    """A part of the page.

    `height` is in inches on a screen; `draw` takes a subfigure.
    """

    height: float
    draw: Callable[[Any], None]


def parts(results: Results, seeds: Sequence[int], columns: int) -> list[Part]:
    """Return the applicable parts of the page for runs with a timeline.

    `columns` is the number of adjacent panels of windows.
    """
    runs = [run for run in results.runs if run["seed"] in seeds]
    subflows = len(subflows_of(results, seeds))
    several = panels.has_flows(results)
    found: list[Part] = []

    def add(height: float, panel: Callable[..., None], *of: Any) -> None:
        found.append(Part(height, lambda room: panel(room.subplots(), *of)))

    def goodput(room: Any) -> None:
        if several:
            title = f"the first flow, {results.scenario.flows[0]}"
            room.suptitle(title, x=0.01, ha="left", fontsize="medium")
        panels.goodput(room.subplots(), results, seeds)

    def windows(room: Any) -> None:
        room.suptitle("windows", x=0.01, ha="left", fontsize="medium")
        panels.windows(room, results, seeds, columns)

    def distributions(room: Any) -> None:
        waiting = panels.has_reorder_buffer(results)
        left, *right = room.subplots(1, 1 + waiting, squeeze=False)[0]
        whole_runs.delays(left, results, seeds)
        for axes in right:
            panels.reorder_buffer(axes, results, seeds)

    if several:
        add(2.8, panels.flows, results, seeds)
    found.append(Part(3.6, goodput))
    if panels.has_player_buffer(results):
        add(2.4, panels.player_buffer, results, seeds)
    if subflows:
        found.append(Part(0.6 + 1.6 * math.ceil(subflows / columns), windows))
    found.append(Part(3.2, distributions))
    if whole_runs.has_shares(results):
        links = results.link_flows["link"].n_unique()
        add(1.4 + 0.4 * links, whole_runs.shares, results, seeds)
    if whole_runs.has_radios(runs[0]):
        add(1.2 + 0.4 * len(runs[0]["radios"]), whole_runs.airtime, runs)
    return found
