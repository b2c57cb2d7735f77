"""Frame error ratio under Nakagami fading, by quadrature."""

from __future__ import annotations

import math
from math import lgamma, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ...support.optional_deps import require
from ..arguments import Floats, array, number
from .frame_error import frame_error
from .radio import PhyTiming

STEPS = 2000


def faded_frame_error(
    radio: PhyTiming,
    snr_db: ArrayLike,
    mpdu_bytes: int,
    m: float,
    *,
    least_db: float = -math.inf,
) -> Floats:
    r"""Return the frame error ratio with independent fading of each frame.

    The received power is its mean times x, gamma distributed with shape m and mean 1:
    :math:`\int_0^\infty \mathrm{PER}(\bar{s} x)\, m^m x^{m-1} e^{-m x} / \Gamma(m)\, dx`. In
    :math:`y = \ln x` the integrand decays at least exponentially at both ends, which suits the
    trapezoidal rule.

    Parameters
    ----------
    radio, mpdu_bytes
        As in `frame_error`.
    snr_db : array_like
        Mean signal-to-noise ratio over 20 MHz.
    m : float
        Shape, at least 0.5; 1 is Rayleigh fading.
    least_db : float
        Sensitivity of the receiver, as a ratio: below it no frame is received.

    References
    ----------
    M. Nakagami, "The m-distribution", in Statistical Methods in Radio Wave Propagation, 1960.

    Examples
    --------
    At 54 Mbit/s and 24 dB, one frame in a thousand is lost, and two of five with fading:

    >>> from ropewalk.model.wifi import frame_error, radio
    >>> a = radio("802.11a", 54)
    >>> frames = frame_error(a, 24, 1036), faded_frame_error(a, 24, 1036, 1.5)
    >>> [round(float(each), 3) for each in frames]
    [0.001, 0.399]
    """
    require("the frame error under fading", "scipy")
    from scipy.special import gammainc

    mean = array("snr_db", snr_db)
    shape = number("m", m, least=0.5)
    # The probability outside is about e^-36.
    least, most = -36 / shape - sqrt(72 / shape), log(1 + 36 / shape + sqrt(72 / shape))
    decibels = 10 / log(10)
    lost = []
    for each in mean.ravel():
        start = min(max(least, (least_db - each) / decibels), most)
        y = np.linspace(start, most, STEPS)
        density = np.exp(shape * (log(shape) + y - np.exp(y)) - lgamma(shape))
        errors = frame_error(radio, each + y * decibels, mpdu_bytes)
        below = float(gammainc(shape, shape * np.exp(start)))
        lost.append(min(below + float(np.trapezoid(errors * density, y)), 1.0))
    return np.asarray(np.reshape(lost, mean.shape))[()]
