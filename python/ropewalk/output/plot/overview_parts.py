"""Page of all panels of some runs, in a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import time_panels, total_panels
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
    subflows = len(subflows_of(results, seeds))
    several = time_panels.has_flows(results)
    found: list[Part] = []

    def add(height: float, panel: Callable[..., None]) -> None:
        found.append(Part(height, lambda room: panel(room.subplots(), results, seeds)))

    def goodput(room: Any) -> None:
        if several:
            title = f"the first flow, {results.scenario.flows[0]}"
            room.suptitle(title, x=0.01, ha="left", fontsize="medium")
        time_panels.goodput(room.subplots(), results, seeds)

    def windows(room: Any) -> None:
        room.suptitle("windows", x=0.01, ha="left", fontsize="medium")
        time_panels.windows(room, results, seeds, columns)

    def distributions(room: Any) -> None:
        waiting = time_panels.has_reorder_buffer(results)
        left, *right = room.subplots(1, 1 + waiting, squeeze=False)[0]
        total_panels.delays(left, results, seeds)
        for axes in right:
            time_panels.reorder_buffer(axes, results, seeds)

    if several:
        add(2.8, time_panels.flows)
    found.append(Part(3.6, goodput))
    if time_panels.has_player_buffer(results):
        add(2.4, time_panels.player_buffer)
    if subflows:
        found.append(Part(0.6 + 1.6 * math.ceil(subflows / columns), windows))
    found.append(Part(3.2, distributions))
    if total_panels.has_shares(results):
        links = results.link_flows["link"].n_unique()
        add(1.4 + 0.4 * links, total_panels.shares)
    if total_panels.has_radios(results.runs[0]):
        add(1.2 + 0.4 * len(results.runs[0]["radios"]), total_panels.airtime)
    return found
