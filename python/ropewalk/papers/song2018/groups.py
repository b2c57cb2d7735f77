"""Groups of random delays, selected as in Song et al. 2018."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...model.song2018 import average_delay_asymmetry
from .modems import Drawn, Floats, round_trips, stratified

Selected: TypeAlias = Literal["asymmetry", "rank"]

VALUES = 50  # in each link's data set
COMBINATIONS = 20_000  # number of sampled combinations if there are more


def groups(
    links: int, facts: dict[str, Any], drawn: Drawn, seed: int, selected: Selected = "asymmetry"
) -> tuple[Floats, Floats]:
    """Select groups of delays evenly by their average asymmetry (section 5.1.2).

    All combinations of the links' values, or a large random sample, are sorted by average delay
    asymmetry. `facts` has the paper's statements on figures 1 and 6. `drawn` selects the
    distribution of round trips (see `modems`). The groups are at even steps of the
    ``"asymmetry"``, or of the ``"rank"`` among the sorted combinations.

    Returns round trips in seconds, shape (groups, links), rounded to microseconds, and average
    asymmetries in seconds, shape (groups,), ascending.

    Examples
    --------
    >>> from ropewalk.papers.published import published
    >>> paper = published("song-2018")
    >>> delays, asymmetry = groups(3, paper["fig1"] | paper["fig6"], "narrow", seed=1)
    >>> delays.shape, bool((np.diff(asymmetry) >= 0).all())
    ((36, 3), True)
    """
    random = np.random.default_rng([seed, links])
    normal = stratified(VALUES, len(facts["modems"]), random)
    values = round_trips(facts, drawn, normal)[:, :links]
    if VALUES**links <= COMBINATIONS:
        picked = np.indices((VALUES,) * links).reshape(links, -1).T
    else:
        picked = random.integers(VALUES, size=(COMBINATIONS, links))
    delays = np.take_along_axis(values, picked, axis=0)
    asymmetry = average_delay_asymmetry(delays)
    order = np.argsort(asymmetry, kind="stable")
    chosen = order[_evenly(asymmetry[order], facts["delay_groups"], selected)]
    return delays[chosen], asymmetry[chosen]


def _evenly(ascending: Floats, count: int, selected: Selected) -> NDArray[np.intp]:
    """Return places in the sorted asymmetries, each once."""
    last = len(ascending) - 1
    if selected == "rank":
        return np.linspace(0, last, count).round().astype(int)
    aims = np.linspace(ascending[0], ascending[-1], count)
    above = np.searchsorted(ascending, aims).clip(1, last)
    nearer_below = aims - ascending[above - 1] < ascending[above] - aims
    places = np.arange(count)
    # Two aims may have the same nearest combination: the later one takes the next.
    found = np.maximum.accumulate(above - nearer_below - places) + places
    return np.minimum(found, last - places[::-1])
