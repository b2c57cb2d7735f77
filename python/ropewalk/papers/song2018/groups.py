"""Groups of random delays, selected as Song et al. 2018 do."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...model.song2018 import average_delay_asymmetry

Floats: TypeAlias = NDArray[np.float64]
Drawn: TypeAlias = Literal["as measured", "alike", "uniform"]

# The paper prints none of its measured round trips, but says which modems had the higher ones
# (section 3): links I, VI, VII and VIII here.
HIGHER = (0, 5, 6, 7)
HIGHER_S, LOWER_S = 0.060, 0.045
SPREAD = 0.4  # standard deviation of the logarithm
UNIFORM_S = (0.020, 0.200)
VALUES = 50  # in each link's data set
COMBINATIONS = 20_000  # of which groups are picked where there are more


def groups(links: int, facts: dict[str, Any], drawn: Drawn, seed: int) -> tuple[Floats, Floats]:
    """Pick groups of delays evenly by their average asymmetry (section 5.1.2).

    All combinations of the links' values are sorted by average delay asymmetry, or as many as can
    be held, drawn among them.

    Parameters
    ----------
    links : int
        How many of the paper's links, the first ones.
    facts : mapping
        What the paper states of figure 6.
    drawn : {"as measured", "alike", "uniform"}
        How the links' round trips spread: logarithmic normal about a median that is higher for the
        modems that the paper names, or about one; or uniform.
    seed : int
        Seed of the draws.

    Returns
    -------
    delays : numpy.ndarray, shape (groups, links)
        Round trips, seconds, to the microsecond.
    asymmetry : numpy.ndarray, shape (groups,)
        Average delay asymmetry of each, seconds, ascending.

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
    """The data sets, shape (values, links)."""
    if drawn == "uniform":
        return random.uniform(*UNIFORM_S, size=(VALUES, links)).round(6)
    higher = [link in HIGHER for link in range(links)]
    median = np.where(higher, HIGHER_S, LOWER_S) if drawn == "as measured" else LOWER_S
    return (median * np.exp(random.normal(0, SPREAD, size=(VALUES, links)))).round(6)
