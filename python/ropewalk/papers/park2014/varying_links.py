"""Links whose rate varies as an autoregression, for example Wi-Fi and LTE of Park et al. 2014."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

STEP_S = 0.1
TIME_CONSTANT_S = 1.0
PACKET = 1500
"""Bytes of an opportunity in a trace."""


def varying_rates(
    dice: np.random.Generator,
    mean: float,
    deviation: float,
    bounds: tuple[float, float],
    seconds: float,
) -> Floats:
    """Return an AR(1) of rates in Mbit/s, one for each `STEP_S`, clipped to `bounds`.

    The time constant is 1 s: after it, 37 % of a difference from the mean are left on average.

    Parameters
    ----------
    dice : numpy.random.Generator
    mean, deviation : float
        Mean and standard deviation before clipping, Mbit/s.
    bounds : (float, float)
        Least and greatest rate, Mbit/s.
    seconds : float
        Length of the series.

    Examples
    --------
    >>> rates = varying_rates(np.random.default_rng(1), 3.0, 1.2, (1.0, 5.0), 60.0)
    >>> rates.size, bool(rates.min() >= 1), bool(rates.max() <= 5)
    (600, True, True)
    """
    keep = math.exp(-STEP_S / TIME_CONSTANT_S)
    rates, rate = [], mean
    draws = dice.normal(0, deviation * math.sqrt(1 - keep**2), int(seconds / STEP_S))
    for draw in draws:
        rate = mean + keep * (rate - mean) + draw
        rates.append(float(np.clip(rate, *bounds)))
    return np.array(rates)


def opportunities_ms(rates: Floats) -> Floats:
    """Return the times in ms at which a link with these rates may send 1500 bytes.

    Examples
    --------
    >>> opportunities_ms(np.array([12.0, 12.0]))[:3].round(6).tolist()
    [1.0, 2.0, 3.0]
    """
    carried = np.concatenate([[0.0], np.cumsum(rates) * STEP_S * 1e6 / 8 / PACKET])
    ends = np.arange(carried.size) * STEP_S
    return np.asarray(1e3 * np.interp(np.arange(1, int(carried[-1])), carried, ends))
