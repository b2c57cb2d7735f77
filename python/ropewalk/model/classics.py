"""Classic formulas: TCP under random loss, and windows coupled over paths.

Windows, also in results, are segments per round trip; a rate is a window over its round trip. Loss
is the probability that a segment begins a loss event. Functions raise `ValueError` for arguments
out of bounds.

Arguments may be arrays, which broadcast and give an array of results.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..support.optional_deps import require
from .arguments import Vector, elementwise, number, numbers


@elementwise
def mathis(loss: float, *, b: float = 1.0) -> float:
    r"""Window of a TCP that only loss limits, equation (3) of Mathis et al.

    :math:`W = \sqrt{3 / (2 b p)}`, from a sawtooth of equal teeth.

    Parameters
    ----------
    loss : float
        Probability p of a loss event per segment, above 0 and below 1.
    b : float
        Segments per acknowledgement, at least 1.

    Notes
    -----
    Valid for losses up to about 2 %: timeouts and window limits are ignored.

    References
    ----------
    M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion
    avoidance algorithm", CCR 27(3), 1997.

    Examples
    --------
    >>> [round(mathis(p), 2) for p in (0.001, 0.01, 0.05)]
    [38.73, 12.25, 5.48]
    """
    p = number("loss", loss, above=0, below=1)
    return math.sqrt(3 / (2 * number("b", b, least=1) * p))


@elementwise
def pftk(
    loss: float, *, b: float = 1.0, t0_rtts: float = 4.0, window_max: float = math.inf
) -> float:
    r"""Window of a TCP with timeouts, the approximation (30) of Padhye et al.

    :math:`W = \min(W_{max}, 1 / (\sqrt{2bp/3} + T_0 \min(1, 3\sqrt{3bp/8})\, p (1 + 32 p^2)))`
    with the first timeout :math:`T_0` in round trips.

    Parameters
    ----------
    loss : float
        Probability p of a loss event per segment, above 0 and below 1.
    b : float
        Segments per acknowledgement, at least 1.
    t0_rtts : float
        First retransmission timeout in round trips, at least 0.
    window_max : float
        Largest window in segments, at least 1; infinity for none.

    Notes
    -----
    Assumes correlated losses within a round, and independent rounds.

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput: a simple model and its
    empirical validation", SIGCOMM 1998.

    Examples
    --------
    >>> [round(pftk(p), 2) for p in (0.001, 0.01, 0.05)]
    [38.38, 11.23, 3.69]
    """
    p = number("loss", loss, above=0, below=1)
    b = number("b", b, least=1)
    t0 = number("t0_rtts", t0_rtts, least=0)
    fast = math.sqrt(2 * b * p / 3)
    timeouts = t0 * min(1.0, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    return min(largest_window(window_max), 1 / (fast + timeouts))


@elementwise
def pftk_full(
    loss: float, *, b: float = 1.0, t0_rtts: float = 4.0, window_max: float = math.inf
) -> float:
    r"""Window of a TCP with timeouts, Padhye et al. before the approximation.

    With :math:`W = \frac{2+b}{3b} + \sqrt{\frac{8(1-p)}{3bp} + (\frac{2+b}{3b})^2}`, the window at
    a loss, Q of `timeout_share` and G of `backoff`,

    .. math:: \frac{(1-p)/p + W/2 + Q(p, W)}{b W / 2 + 1 + Q(p, W) G(p) T_0 / (1-p)}

    and, where :math:`W \ge W_{max}`,

    .. math:: \frac{(1-p)/p + W_{max}/2 + Q(p, W_{max})}
        {b W_{max} / 8 + (1-p)/(p W_{max}) + 2 + Q(p, W_{max}) G(p) T_0 / (1-p)}

    as in (22) and (23) of Cardwell et al.

    Parameters
    ----------
    loss, b, t0_rtts, window_max : float
        As in `pftk`.

    Notes
    -----
    Converges to `pftk` and `mathis` as the loss approaches 0.

    Examples
    --------
    >>> [round(pftk_full(p), 2) for p in (0.001, 0.01, 0.05)]
    [37.21, 10.27, 3.23]
    """
    p = number("loss", loss, above=0, below=1)
    b = number("b", b, least=1)
    t0 = number("t0_rtts", t0_rtts, least=0)
    most = largest_window(window_max)
    share = (2 + b) / (3 * b)
    window = share + math.sqrt(8 * (1 - p) / (3 * b * p) + share**2)
    found = min(window, most)
    timeouts = timeout_share(p, found)
    capped = b * most / 8 + (1 - p) / (p * most) + 2
    rounds = b * window / 2 + 1 if window < most else capped
    sent = (1 - p) / p + found / 2 + timeouts
    return sent / (rounds + timeouts * backoff(p) * t0 / (1 - p))


@elementwise
def timeout_share(loss: float, window: float) -> float:
    r"""Share Q of loss events that end in a timeout, Padhye et al., Cardwell et al. (17).

    .. math:: \min\left(1,
        \frac{(1-(1-p)^3)(1 + (1-p)^3 (1-(1-p)^{w-3}))}{1-(1-p)^w}\right)

    Parameters
    ----------
    loss : float
        Probability p of a loss event per segment, above 0 and below 1.
    window : float
        Window w in segments at the loss, above 0.

    Returns
    -------
    float
        0 to 1; 1 up to a window of three, which gives no three duplicate acknowledgements. About 3
        / w for small losses.

    Examples
    --------
    >>> timeout_share(0.01, 3), round(timeout_share(1e-6, 30), 4)
    (1.0, 0.1)
    """
    p = number("loss", loss, above=0, below=1)
    w = number("window", window, above=0)
    if w <= 3:
        return 1.0
    kept = math.log1p(-p)
    few = -math.expm1(3 * kept)
    rest = -math.expm1((w - 3) * kept)
    return min(1.0, few * (1 + (1 - p) ** 3 * rest) / -math.expm1(w * kept))


@elementwise
def backoff(loss: float) -> float:
    """Factor G by which a series of timeouts is prolonged, Padhye et al., Cardwell et al. (19).

    G(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶: a timeout doubles up to 64 times the first. A
    series of timeouts lasts T0 G(p) / (1 - p).

    Parameters
    ----------
    loss : float
        Probability p that a segment is lost, at least 0 and below 1.

    Examples
    --------
    >>> backoff(0), backoff(0.5)
    (1.0, 4.0)
    """
    p = number("loss", loss, least=0, below=1)
    return 1 + p * sum((2 * p) ** power for power in range(6))


def lia_alpha(windows: ArrayLike, rtts: ArrayLike) -> float:
    r"""Aggressiveness of the linked increases, RFC 6356, section 3.

    :math:`\alpha = w \max_i(w_i / RTT_i^2) / (\sum_i w_i / RTT_i)^2` with w the sum of
    the windows. Each acknowledged segment adds :math:`\min(\alpha / w, 1 / w_i)`.

    Parameters
    ----------
    windows : array_like, shape (n,)
        Windows in segments (or any unit), each above 0.
    rtts : array_like, shape (n,) or scalar
        Round trips in seconds, each above 0.

    Returns
    -------
    float
        1 for a single path; 1/n for n equal ones.

    References
    ----------
    RFC 6356, "Coupled Congestion Control for Multipath Transport Protocols", 2011.

    Examples
    --------
    >>> round(lia_alpha([10, 10], [0.1, 0.4]), 6), round(lia_alpha([20, 5], [0.05, 0.2]), 6)
    (1.28, 1.107266)
    """
    w = numbers("windows", windows, above=0)
    r = numbers("rtts", rtts, w.size, above=0)
    return float(w.sum() * (w / r**2).max() / (w / r).sum() ** 2)


def lia_windows(losses: ArrayLike, rtts: ArrayLike) -> Vector:
    r"""Windows at which LIA's increases and decreases balance, for given losses and round trips.

    On each path :math:`\min(\alpha / w, 1 / w_i) = p_i w_i / 2`, so that :math:`w_i = \min(2 k /
    p_i, \sqrt{2 / p_i})` with :math:`k = \alpha / w`. k solves RFC 6356's alpha, :math:`k (\sum
    w_i / RTT_i)^2 = \max(w_i / RTT_i^2)`. The left side over the right one grows with k, so the
    solution is unique.

    Parameters
    ----------
    losses : array_like, shape (n,)
        Probability of a loss event per segment of each path, above 0 and below 1.
    rtts : array_like, shape (n,) or scalar
        Round trips in seconds, each above 0.

    Notes
    -----
    A fluid model for small losses: no timeouts, no smallest window. If no path's increase is
    limited to TCP's, windows are proportional to 1 / p, and the total rate is that of a TCP on the
    best path, :math:`\max \sqrt{2 / p_i} / RTT_i`.

    References
    ----------
    D. Wischik, C. Raiciu, A. Greenhalgh, M. Handley, "Design, implementation and evaluation of
    congestion control for multipath TCP", NSDI 2011. R. Khalili et al., "MPTCP is not
    Pareto-optimal", CoNEXT 2012, equation (2).

    Examples
    --------
    >>> windows = lia_windows([0.01, 0.04], 0.1)
    >>> (windows / windows.sum()).round(6).tolist()
    [0.8, 0.2]
    """
    require("LIA's balance", "scipy")
    from scipy.optimize import brentq  # slow to load, and needed only here

    p = numbers("losses", losses, above=0, below=1)
    r = numbers("rtts", rtts, p.size, above=0)
    r = r / r.min()

    def windows(k: float) -> Vector:
        return np.minimum(2 * k / p, np.sqrt(2 / p))

    def excess(log_k: float) -> float:
        k = math.exp(log_k)
        w = windows(k)
        return log_k + 2 * math.log((w / r).sum()) - math.log((w / r**2).max())

    # Without the bound to TCP's increase, k is sqrt(max(1/(p r^2)) / 2) / sum(1/(p r)).
    free = math.log(math.sqrt((1 / (p * r**2)).max() / 2) / (1 / (p * r)).sum())
    high = max(free, 0.5 * math.log(p.max() / 2))
    while excess(high) < 0:
        high += 1
    return windows(math.exp(brentq(excess, free - 1e-6, high + 1e-6, xtol=1e-14, rtol=1e-14)))


def olia_windows(losses: ArrayLike, rtts: ArrayLike) -> Vector:
    r"""Windows at which OLIA's increases and decreases balance, for given losses and round trips.

    Only the best paths, with the largest :math:`\sqrt{2 / p_i} / RTT_i`, carry data. Together they
    have that rate, with equal windows (theorem 1 of Khalili et al.; alpha of OLIA is 0 only if no
    best path's window is below another's).

    Parameters
    ----------
    losses, rtts : array_like
        As in `lia_windows`.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Mean windows in segments; 0 on all except the best paths, where a sender keeps a segment or
        two.

    Notes
    -----
    A fluid model for small losses: no timeouts, no smallest window. Paths whose rates differ by
    less than 1e-9 count as equally good.

    References
    ----------
    R. Khalili, N. Gast, M. Popovic, U. Upadhyay, J.-Y. Le Boudec, "MPTCP is not Pareto-optimal:
    performance issues and a possible solution", CoNEXT 2012.

    Examples
    --------
    >>> olia_windows([0.02, 0.08], 0.1).tolist(), olia_windows([0.02, 0.02], 0.1).tolist()
    ([10.0, 0.0], [5.0, 5.0])
    """
    p = numbers("losses", losses, above=0, below=1)
    r = numbers("rtts", rtts, p.size, above=0)
    alone = np.sqrt(2 / p) / r
    best = alone >= alone.max() * (1 - 1e-9)
    shared = alone.max() / (1 / r[best]).sum()
    return np.where(best, shared, 0.0)


def largest_window(value: float) -> float:
    """Return a largest window in segments, checked: at least 1, or infinity for none.

    Examples
    --------
    >>> largest_window(math.inf)
    inf
    """
    return math.inf if value == math.inf else number("window_max", value, least=1)
