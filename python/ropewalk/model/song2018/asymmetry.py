"""Asymmetry of links in rate and delay: Song et al. 2018, section 4.3.

See `ropewalk.model.song2018` for units and the reference.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..arguments import Floats, array, choice, shared_shape, whole
from .arrival import with_links

Spread: TypeAlias = Literal["even", "one high", "one low"]


def average_delay_asymmetry(delay_s: npt.ArrayLike) -> Floats:
    """Return the mean absolute difference in delay of two links: section 4.3.

    Parameters
    ----------
    delay_s : array_like, shape (..., n)
        Delay of each link, seconds.

    Returns
    -------
    numpy.ndarray, shape (...)
        Seconds; 0 for a single link, where the paper divides by zero.

    Examples
    --------
    >>> round(float(average_delay_asymmetry([0.005, 0.010, 0.020])), 6)
    0.01
    """
    return _mean_difference(with_links("delay_s", delay_s, least=0))


def average_bandwidth_asymmetry(byte_rate: npt.ArrayLike) -> Floats:
    """Return the mean absolute difference in rate of two links: section 4.3.

    Parameters
    ----------
    byte_rate : array_like, shape (..., n)
        Rate of each link, bytes per second.

    Returns
    -------
    numpy.ndarray, shape (...)
        Bytes per second; 0 for a single link, where the paper divides by zero.

    Examples
    --------
    The eight links of section 5.1.3, in Mbit/s:

    >>> rate = np.array([35.9, 18.4, 33.3, 14.7, 14.8, 4.4, 22.5, 12.5]) * 1e6 / 8
    >>> round(float(average_bandwidth_asymmetry(rate)) * 8e-6, 2)
    12.55
    """
    return _mean_difference(with_links("byte_rate", byte_rate))


def with_asymmetry(
    minimum: npt.ArrayLike, asymmetry: npt.ArrayLike, links: int, spread: Spread = "even"
) -> Floats:
    """Return delays or rates of links that have an average asymmetry.

    Figures 9 and 10 of the paper give only the minimum and the average asymmetry.

    Parameters
    ----------
    minimum : array_like, shape (...)
        Smallest value of the links.
    asymmetry : array_like, shape (...)
        Mean absolute difference of two links, in the same unit; unused for a single link.
    links : int
        Number of links, n.
    spread : {"even", "one high", "one low"}
        Evenly spaced and rising; all at the minimum except the last; or all at one larger value
        except the first.

    Examples
    --------
    >>> with_asymmetry(0.005, 0.010, 3).round(6).tolist()
    [0.005, 0.0125, 0.02]
    """
    least = array("minimum", minimum, least=0)
    apart = array("asymmetry", asymmetry, least=0)
    shared_shape(minimum=least, asymmetry=apart)
    n = whole("links", links)
    choice("spread", spread, ("even", "one high", "one low"))
    above = np.zeros(n)
    if spread == "even":
        above = np.arange(n) * 3 / (n + 1)
    elif n > 1:
        above[-1 if spread == "one high" else slice(1, None)] = n / 2
    return least[..., np.newaxis] + apart[..., np.newaxis] * above


def _mean_difference(values: Floats) -> Floats:
    """Return the mean absolute difference of two values on the last axis.

    Of n sorted values the k-th is the larger in k - 1 pairs and the smaller in n - k.
    """
    n = values.shape[-1]
    signs = 2.0 * np.arange(n) - (n - 1)
    return np.asarray(np.sort(values) @ signs / max(n * (n - 1) / 2, 1))[()]
