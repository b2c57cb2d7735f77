"""Groups of random delays, selected as in Song et al. 2018."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...model.song2018 import average_delay_asymmetry

Floats: TypeAlias = NDArray[np.float64]
Drawn: TypeAlias = Literal["as measured", "alike", "uniform"]

# The paper names the modems with higher round trips (section 3) without the values: links I, VI,
# VII and VIII here.
HIGHER = (0, 5, 6, 7)
HIGHER_S, LOWER_S = 0.060, 0.045
SPREAD = 0.4  # standard deviation of the logarithm
UNIFORM_S = (0.020, 0.200)
VALUES = 50  # in each link's data set
COMBINATIONS = 20_000  # number of sampled combinations if there are more


def groups(links: int, facts: dict[str, Any], drawn: Drawn, seed: int) -> tuple[Floats, Floats]:
    """Select groups of delays evenly by their average asymmetry (section 5.1.2).

    All combinations of the links' values, or a large random sample, are sorted by average delay
    asymmetry. `facts` has the paper's statements on figure 6. `drawn` selects the distribution of
    round trips: log-normal with higher medians for the modems named by the paper (``"as
    measured"``), log-normal with one median (``"alike"``), or ``"uniform"``.

    Returns round trips in seconds, shape (groups, links), rounded to microseconds, and average
    asymmetries in seconds, shape (groups,), ascending.

    Examples
    --------
    >>> delays, asymmetry = groups(3, {"delay_groups": 36}, "as measured", seed=1)
    >>> delays.shape, bool((np.diff(asymmetry) >= 0).all())
    ((36, 3), True)
    """
    random = np.random.default_rng([seed, links])
    values = _values(links, drawn, random)
    if VALUES**links <= COMBINATIONS:
        picked = np.indices((VALUES,) * links).reshape(links, -1).T
    else:
        picked = random.integers(VALUES, size=(COMBINATIONS, links))
    delays = np.take_along_axis(values, picked, axis=0)
    asymmetry = average_delay_asymmetry(delays)
    order = np.argsort(asymmetry, kind="stable")
    evenly = np.linspace(0, len(order) - 1, facts["delay_groups"]).round().astype(int)
    chosen = order[evenly]
    return delays[chosen], asymmetry[chosen]


def _values(links: int, drawn: Drawn, random: np.random.Generator) -> Floats:
    """Return the data sets, shape (values, links)."""
    if drawn == "uniform":
        return random.uniform(*UNIFORM_S, size=(VALUES, links)).round(6)
    higher = [link in HIGHER for link in range(links)]
    median = np.where(higher, HIGHER_S, LOWER_S) if drawn == "as measured" else LOWER_S
    return (median * np.exp(random.normal(0, SPREAD, size=(VALUES, links)))).round(6)
