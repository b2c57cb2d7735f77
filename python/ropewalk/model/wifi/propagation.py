"""Path loss over distance, and the receiver's noise."""

from __future__ import annotations

from math import log10, pi

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Floats, array, elementwise, number

LIGHT_M_PER_S = 299_792_458.0
BOLTZMANN = 1.380649e-23  # J/K
TEMPERATURE_K = 290.0  # in the definition of a noise figure
REFERENCE_LOSS_DB = 46.6777  # ns-3's default: Friis at 1 m and 5.15 GHz
NOISE_BANDWIDTH_HZ = 20e6


def friis_loss_db(distance_m: ArrayLike, frequency_hz: float) -> Floats:
    r"""Return the free-space loss in dB, :math:`20 \log_{10}(4 \pi d f / c)`.

    Parameters
    ----------
    distance_m : array_like
        Distances, m, above 0.
    frequency_hz : float
        Carrier frequency.

    References
    ----------
    H. T. Friis, "A note on a simple transmission formula", Proc. IRE 34(5), 1946.

    Examples
    --------
    >>> round(float(friis_loss_db(100, 2.4e9)), 2)
    80.05
    """
    distance = array("distance_m", distance_m, above=0)
    frequency = number("frequency_hz", frequency_hz, above=0)
    return np.asarray(20 * np.log10(4 * pi * distance * frequency / LIGHT_M_PER_S))


def log_distance_loss_db(
    distance_m: ArrayLike,
    exponent: float,
    *,
    reference_loss_db: float = REFERENCE_LOSS_DB,
    reference_distance_m: float = 1.0,
) -> Floats:
    r"""Return the loss in dB, :math:`L_0 + 10 n \log_{10}(d / d_0)`, at least L0.

    Parameters
    ----------
    distance_m : array_like
        Distances, m, above 0.
    exponent : float
        n, above 0: 2 in free space, 3 and more with obstacles.
    reference_loss_db, reference_distance_m : float
        L0 at d0.

    Examples
    --------
    >>> round(float(log_distance_loss_db(20, 3)), 2)
    85.71
    """
    distance = array("distance_m", distance_m, above=0)
    reference = number("reference_distance_m", reference_distance_m, above=0)
    ratio = np.maximum(distance / reference, 1.0)
    slope = 10 * number("exponent", exponent, above=0)
    return np.asarray(number("reference_loss_db", reference_loss_db) + slope * np.log10(ratio))


def two_ray_loss_db(
    distance_m: ArrayLike,
    frequency_hz: float,
    *,
    sender_height_m: float = 1.5,
    receiver_height_m: float = 1.5,
) -> Floats:
    r"""Return the loss in dB over flat ground with a reflected ray.

    Free space up to :math:`d_c = 4 \pi h_t h_r f / c`, then :math:`40 \log_{10} d - 20
    \log_{10}(h_t h_r)`, which is equal at d_c.

    Parameters
    ----------
    distance_m : array_like
        Distances, m, above 0.
    frequency_hz : float
        Carrier frequency.
    sender_height_m, receiver_height_m : float
        Antenna heights above the ground.

    References
    ----------
    T. S. Rappaport, "Wireless Communications", 2nd edition, section 4.6.

    Examples
    --------
    >>> two_ray_loss_db([100, 1000], 2.4e9).round(2).tolist()
    [80.05, 112.96]
    """
    distance = array("distance_m", distance_m, above=0)
    heights = number("sender_height_m", sender_height_m, above=0) * number(
        "receiver_height_m", receiver_height_m, above=0
    )
    crossing = 4 * pi * heights * number("frequency_hz", frequency_hz, above=0) / LIGHT_M_PER_S
    ground = 40 * np.log10(distance) - 20 * log10(heights)
    return np.where(distance <= crossing, friis_loss_db(distance, frequency_hz), ground)


@elementwise
def noise_dbm(noise_figure_db: float = 7.0) -> float:
    """Return the thermal noise power in 20 MHz at 290 K, with the receiver's noise figure.

    Examples
    --------
    >>> round(noise_dbm(7), 2)
    -93.96
    """
    watts = BOLTZMANN * TEMPERATURE_K * NOISE_BANDWIDTH_HZ
    return 10 * log10(1e3 * watts) + number("noise_figure_db", noise_figure_db)
