"""Round trips and rates of the modems that Song et al. 2018 measured in a train, drawn.

Section 3 gives no values, but four facts about them:

- Round trips have outliers (figure 1a).
- The interquartile range (IQR) of CT1, CU3, CM1 and CM2 is above that of CT2, CU1 and CU2.
- The median of these four is outside the IQR of CT3, too.
- The highest over the lowest rate is 8.2 for the maxima and 15.1 for the averages (figure 1b).

The drawn values have these properties. A log-normal distribution with standard deviation s of the
logarithm has its quartiles at exp(-0.67 s) and exp(0.67 s) times the median. So the medians of the
two classes are at least a factor exp(1.35 s) apart, and CT3 is between them.

The long tail has s = 1.2. Captures in Chinese high-speed trains agree with it (Li et al., data set
of SIGCOMM 2018): round trips of handshakes and requests of short downloads have s = 1.0 over
China Mobile and s = 1.4 over China Unicom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Drawn: TypeAlias = Literal["long tail", "narrow", "alike", "uniform"]

SPREADS: dict[Drawn, float] = {"long tail": 1.2, "narrow": 0.4, "alike": 0.4}
LOWER_S = 0.045  # median of the modems with low round trips; not in the paper
LEAST_S = 0.010  # of any modem
APART = 1.2  # factor between the IQRs of the two classes
QUARTILE = 0.6745  # of the standard normal distribution
UNIFORM_S = (0.020, 0.200)
AVERAGE_SHARE = 0.5  # average rate over maximum rate, but of the slowest modem


def medians(facts: dict[str, Any], drawn: Drawn) -> Floats:
    """Return the median round trip of each modem in seconds, shape (8,).

    `facts` has the paper's statements on figure 1. ``"alike"`` gives all modems the lower median.

    Examples
    --------
    >>> facts = {"modems": ["a", "b", "c"], "higher": ["a"], "lower": ["b"]}
    >>> (medians(facts, "narrow") * 1e3).round().tolist()
    [93.0, 45.0, 65.0]
    """
    spread = SPREADS.get(drawn, 0.0)
    apart = 1.0 if drawn == "alike" else APART * np.exp(2 * QUARTILE * spread)
    classes = [
        1.0 if name in facts["higher"] else 0.0 if name in facts["lower"] else 0.5
        for name in facts["modems"]
    ]
    return np.asarray(LOWER_S * apart ** np.array(classes))


def round_trips(facts: dict[str, Any], drawn: Drawn, normal: Floats) -> Floats:
    """Turn standard normal values, shape (..., 8), into round trips in seconds.

    Rounded to microseconds.

    Examples
    --------
    >>> facts = {"modems": ["a"], "higher": [], "lower": ["a"]}
    >>> round_trips(facts, "long tail", np.array([[0.0], [1.0]])).ravel().tolist()
    [0.045, 0.149405]
    """
    if drawn == "uniform":
        low, high = UNIFORM_S
        return np.asarray((low + (high - low) * _uniform(normal)).round(6))
    drawn_s = medians(facts, drawn) * np.exp(SPREADS[drawn] * normal)
    return np.asarray(np.maximum(drawn_s, LEAST_S).round(6))


def rates(facts: dict[str, Any], maxima: Sequence[float], normal: Floats) -> Floats:
    """Turn standard normal values, shape (..., 8), into rates in the unit of the maxima.

    A rate is the maximum times a power of a uniform number, so its average is a set share of the
    maximum. The slowest modem has a smaller share, which gives the printed ratio of averages.

    Examples
    --------
    >>> facts = {"average_rate_ratio": 15.0}
    >>> high = rates(facts, [30.0, 4.0], np.full((1, 2), 8.0))
    >>> high.round(3).tolist()
    [[30.0, 4.0]]
    """
    fastest = np.array(maxima)
    share = np.full(len(fastest), AVERAGE_SHARE)
    share[fastest.argmin()] *= fastest.max() / fastest.min() / facts["average_rate_ratio"]
    return np.asarray(fastest * _uniform(normal) ** (1 / share - 1))


def stratified(values: int, columns: int, random: np.random.Generator) -> Floats:
    """Draw standard normal values, shape (values, columns), one in each of `values` equal parts.

    So each column has the quartiles of the distribution, up to one part.

    Examples
    --------
    >>> drawn = stratified(100, 2, np.random.default_rng(1))
    >>> bool((abs(np.quantile(drawn, 0.75, axis=0) - QUARTILE) < 0.05).all())
    True
    """
    from scipy.special import ndtri

    parts = np.tile(np.arange(values, dtype=float), (columns, 1))
    parts = random.permuted(parts, axis=1).T
    return np.asarray(ndtri((parts + random.uniform(size=parts.shape)) / values))


def over_time(steps: int, columns: int, correlation: float, random: np.random.Generator) -> Floats:
    """Draw standard normal series, shape (steps, columns), autoregressive of order one.

    `correlation` is that of neighbouring steps.

    Examples
    --------
    >>> drawn = over_time(20_000, 1, 0.8, np.random.default_rng(1))[:, 0]
    >>> round(float(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]), 1)
    0.8
    """
    from scipy.signal import lfilter

    news = random.normal(size=(steps, columns))
    news[1:] *= np.sqrt(1 - correlation**2)
    return np.asarray(lfilter([1.0], [1.0, -correlation], news, axis=0))


def _uniform(normal: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(normal))
