r"""Frame error ratio over the signal-to-noise ratio.

A frame of b bits is received with probability :math:`s^b`, where s is the success probability of a
bit. For OFDM it is one minus the union bound on the first error event of the convolutional decoder
[1]_; for DSSS and CCK it follows from the error probability of the modulation [2]_.

References
----------
.. [1] G. Pei, T. Henderson, "Validation of OFDM error rate model in ns-3", 2010 (the model
   "NIST"), after L. Miller, "Validation of 802.11a/UWB coexistence simulation", NIST, 2003; the
   codes' spectra: D. Haccoun, G. Bégin, "High-rate punctured convolutional codes for Viterbi and
   sequential decoding", IEEE Trans. Communications 37(11), 1989.
.. [2] G. Pei, T. Henderson, "Validation of ns-3 802.11b PHY model", 2009.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import log2, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import Floats, array, number, whole
from .radio import DSSS, PhyTiming

# The C library's functions, element by element, since nothing else here needs SciPy.
_erf = np.vectorize(math.erf, otypes=[np.float64])
_erfc = np.vectorize(math.erfc, otypes=[np.float64])

DSSS_HEADER_BITS = 48  # at 1 Mbit/s
OFDM_SIGNAL_BITS = 24  # at 6 Mbit/s


class Code(NamedTuple):
    """A punctured convolutional code: bits per branch, and spectrum from the free distance."""

    inputs: int
    free_distance: int
    step: int
    weights: tuple[int, ...]


HALF = Code(1, 10, 2, (36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911))
TWO_THIRDS = Code(2, 6, 1, (3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123))
THREE_QUARTERS = Code(
    3,
    5,
    1,
    (42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675),
)
MODULATION: Mapping[float, tuple[int, Code]] = {
    6.0: (2, HALF),
    9.0: (2, THREE_QUARTERS),
    12.0: (4, HALF),
    18.0: (4, THREE_QUARTERS),
    24.0: (16, HALF),
    36.0: (16, THREE_QUARTERS),
    48.0: (64, TWO_THIRDS),
    54.0: (64, THREE_QUARTERS),
}


def frame_error(radio: PhyTiming, snr_db: ArrayLike, mpdu_bytes: int) -> Floats:
    """Return the error ratio of data frames, PHY header included.

    Parameters
    ----------
    radio : PhyTiming
        Radio with the frame's rate.
    snr_db : array_like
        Signal-to-noise ratio over 20 MHz.
    mpdu_bytes : int
        Length from MAC header to checksum.

    Examples
    --------
    >>> from ropewalk.model.wifi import radio
    >>> frame_error(radio("802.11a", 54), [21, 22, 23], 1500).round(3).tolist()
    [1.0, 0.487, 0.032]
    """
    bits = 8 * whole("mpdu_bytes", mpdu_bytes)
    if radio.rate_mbps in DSSS:
        header, lowest = DSSS_HEADER_BITS, 1.0
    else:
        header, lowest = OFDM_SIGNAL_BITS, 6.0
    received = bit_success(lowest, snr_db) ** header * bit_success(radio.rate_mbps, snr_db) ** bits
    return 1 - received


def bit_success(rate_mbps: float, snr_db: ArrayLike) -> Floats:
    """Return the success probability of each bit of a frame.

    Parameters
    ----------
    rate_mbps : float
        One of 1, 2, 5.5, 11 (DSSS, CCK), or 6 to 54 (OFDM).
    snr_db : array_like
        Signal-to-noise ratio over 20 MHz.

    Examples
    --------
    >>> round(float(1 - bit_success(54, 22) ** 12000), 3)
    0.487
    """
    snr = 10 ** (array("snr_db", snr_db) / 10)
    rate = number("rate_mbps", rate_mbps)
    if rate in MODULATION:
        return 1 - _union_bound(snr, *MODULATION[rate])
    if rate == 1.0:
        return np.asarray(1 - 0.5 * np.exp(-22 * snr))  # DBPSK, 22 MHz / 1 Msymbol/s
    if rate == 2.0:
        return 1 - _dqpsk(11 * snr)
    if rate == 5.5:
        return (1 - _biorthogonal_16(8 * snr)) ** (1 / 4)
    if rate == 11.0:
        return (1 - _biorthogonal_16(4 * snr)) ** (2 / 8)
    raise ValueError(f"rate_mbps is {rate:g}: no rate of 802.11b, a or g")


def snr_needed_db(radio: PhyTiming, mpdu_bytes: int, most: float = 0.1) -> float:
    """Return the lowest signal-to-noise ratio in dB for a frame error ratio.

    Parameters
    ----------
    radio, mpdu_bytes
        As in `frame_error`.
    most : float
        Largest error ratio, above 0, below 1; the standards rate receivers at 8 and 10 %.

    Examples
    --------
    >>> from ropewalk.model.wifi import radio
    >>> [round(snr_needed_db(radio(rate_mbps=r), 1536), 1) for r in (1, 2, 5.5, 11)]
    [-3.0, 1.6, 4.2, 7.2]
    """
    share = number("most", most, above=0, below=1)
    low, high = -20.0, 60.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        too_many = float(frame_error(radio, middle, mpdu_bytes)) > share
        low, high = (middle, high) if too_many else (low, middle)
    return high


def _union_bound(snr: Floats, points: int, code: Code) -> Floats:
    """Return min(1, sum_k c_k D^k / 2k'), with D from the error ratio of coded bits."""
    if points == 2:
        coded = 0.5 * _erfc(np.sqrt(snr))
    elif points == 4:
        coded = 0.5 * _erfc(np.sqrt(snr / 2))
    else:
        side = sqrt(points)
        coded = (side - 1) / (side * log2(side)) * _erfc(np.sqrt(3 * snr / (2 * (points - 1))))
    d = np.sqrt(4 * coded * (1 - coded))
    powers = code.free_distance + code.step * np.arange(len(code.weights))
    bound = (np.array(code.weights) * d[..., np.newaxis] ** powers).sum(axis=-1)
    return np.asarray(np.minimum(bound / (2 * code.inputs), 1.0))


def _dqpsk(energy: Floats) -> Floats:
    """Return the bit error ratio of DQPSK by its asymptote, at most 1/2."""
    root = np.sqrt(2.0)
    ratio = (1 + root) / np.sqrt(8 * np.pi * root * energy) * np.exp(-(2 - root) * energy)
    return np.asarray(np.minimum(ratio, 0.5))


def _biorthogonal_16(energy: Floats) -> Floats:
    r"""Return the symbol error ratio of 16 biorthogonal signals.

    :math:`1 - \int_{-b}^{\infty} (2 \Phi(x + b) - 1)^7 \phi(x)\,dx` with
    :math:`b = \sqrt{2 e}` (Proakis, "Digital Communications"), written
    as a sum of small terms, so that small ratios keep their precision.
    """
    nodes, weights = np.polynomial.legendre.leggauss(160)
    b = np.sqrt(2 * energy)[..., np.newaxis]
    least, most = np.maximum(-b, -9.0), 9.0
    x = (most + least) / 2 + (most - least) / 2 * nodes
    missed = -np.expm1(7 * np.log(_erf((x + b) / np.sqrt(2)))) * np.exp(-(x**2) / 2)
    integral = (missed * weights).sum(axis=-1) * ((most - least) / 2)[..., 0]
    return np.asarray(integral / np.sqrt(2 * np.pi) + _erfc(b[..., 0] / np.sqrt(2)) / 2)
