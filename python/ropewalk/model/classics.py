"""What the field has long used: TCP under loss, coupled windows, striping in order.

Windows are segments per round trip, so a rate is a window over its round trip. Loss
is the probability that a segment begins a loss event.
"""

from __future__ import annotations

import heapq
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from .arguments import Vector, number, numbers, whole


def mathis(loss: float, *, b: float = 1.0) -> float:
    r"""Window of a TCP that loss alone limits, equation (3) of Mathis et al.

    :math:`W = \sqrt{3 / (2 b p)}`, from a sawtooth of equal teeth.

    Parameters
    ----------
    loss : float
        Probability p of a loss event per segment, above 0 and below 1.
    b : float
        Segments that one acknowledgement covers, at least 1.

    Returns
    -------
    float
        Mean window, segments per round trip.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Notes
    -----
    Valid for small losses, up to about 2 %: it knows no timeouts, and neither a
    largest nor a smallest window.

    References
    ----------
    M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP
    congestion avoidance algorithm", CCR 27(3), 1997.

    Examples
    --------
    >>> [round(mathis(p), 2) for p in (0.001, 0.01, 0.05)]
    [38.73, 12.25, 5.48]
    """
    p = number("loss", loss, above=0, below=1)
    return math.sqrt(3 / (2 * number("b", b, least=1) * p))


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
        Segments that one acknowledgement covers, at least 1.
    t0_rtts : float
        First retransmission timeout in round trips, at least 0.
    window_max : float
        Largest window in segments, at least 1; infinity for none.

    Returns
    -------
    float
        Mean window, segments per round trip.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Notes
    -----
    Losses in a round are taken to come together, and rounds to be independent.

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput: a simple
    model and its empirical validation", SIGCOMM 1998.

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
    return min(_window_max(window_max), 1 / (fast + timeouts))


def pftk_full(
    loss: float, *, b: float = 1.0, t0_rtts: float = 4.0, window_max: float = math.inf
) -> float:
    r"""Window of a TCP with timeouts, Padhye et al. before they approximate.

    With :math:`W = \frac{2+b}{3b} + \sqrt{\frac{8(1-p)}{3bp} + (\frac{2+b}{3b})^2}`, the
    window at which a loss finds TCP, Q of `timeout_share` and G of `backoff`,

    .. math:: \frac{(1-p)/p + W/2 + Q(p, W)}{b W / 2 + 1 + Q(p, W) G(p) T_0 / (1-p)}

    and, where :math:`W \ge W_{max}`,

    .. math:: \frac{(1-p)/p + W_{max}/2 + Q(p, W_{max})}
        {b W_{max} / 8 + (1-p)/(p W_{max}) + 2 + Q(p, W_{max}) G(p) T_0 / (1-p)}

    as Cardwell et al. take it over in (22) and (23).

    Parameters
    ----------
    loss : float
        Probability p of a loss event per segment, above 0 and below 1.
    b : float
        Segments that one acknowledgement covers, at least 1.
    t0_rtts : float
        First retransmission timeout in round trips, at least 0.
    window_max : float
        Largest window in segments, at least 1; infinity for none.

    Returns
    -------
    float
        Mean window, segments per round trip.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Notes
    -----
    Meets `pftk` and `mathis` as the loss goes to 0.

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, SIGCOMM 1998, section 2.

    Examples
    --------
    >>> [round(pftk_full(p), 2) for p in (0.001, 0.01, 0.05)]
    [37.21, 10.27, 3.23]
    """
    p = number("loss", loss, above=0, below=1)
    b = number("b", b, least=1)
    t0 = number("t0_rtts", t0_rtts, least=0)
    most = _window_max(window_max)
    share = (2 + b) / (3 * b)
    window = share + math.sqrt(8 * (1 - p) / (3 * b * p) + share**2)
    found = min(window, most)
    timeouts = timeout_share(p, found)
    capped = b * most / 8 + (1 - p) / (p * most) + 2
    rounds = b * window / 2 + 1 if window < most else capped
    sent = (1 - p) / p + found / 2 + timeouts
    return sent / (rounds + timeouts * backoff(p) * t0 / (1 - p))


def timeout_share(loss: float, window: float) -> float:
    r"""Share Q of loss events that end in a timeout, Padhye et al., Cardwell et al. (17).

    .. math:: \min\left(1,
        \frac{(1-(1-p)^3)(1 + (1-p)^3 (1-(1-p)^{w-3}))}{1-(1-p)^w}\right)

    Parameters
    ----------
    loss : float
        Probability p of a loss event per segment, above 0 and below 1.
    window : float
        Window w in segments when the loss comes, above 0.

    Returns
    -------
    float
        Between 0 and 1; 1 up to a window of three, which gives no three duplicate
        acknowledgements. About 3 / w for small losses.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, SIGCOMM 1998.

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


def backoff(loss: float) -> float:
    """Lengthening G of a series of timeouts, Padhye et al., Cardwell et al. (19).

    G(p) = 1 + p + 2p² + 4p³ + 8p⁴ + 16p⁵ + 32p⁶: a timeout doubles up to 64 times
    the first. A series of timeouts lasts T0 G(p) / (1 - p).

    Parameters
    ----------
    loss : float
        Probability p that a segment is lost, at least 0 and below 1.

    Returns
    -------
    float
        At least 1.

    Raises
    ------
    ValueError
        The loss is out of bounds.

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, SIGCOMM 1998.

    Examples
    --------
    >>> backoff(0), backoff(0.5)
    (1.0, 4.0)
    """
    p = number("loss", loss, least=0, below=1)
    return 1 + p * sum((2 * p) ** power for power in range(6))


def handshake_time(
    rtt: float, *, forward_loss: float = 0.0, reverse_loss: float = 0.0, syn_timeout: float = 1.0
) -> float:
    r"""Mean time to connect, Cardwell et al. (4).

    :math:`RTT + T_s (\frac{1-p_r}{1-2p_r} + \frac{1-p_f}{1-2p_f} - 2)`

    Parameters
    ----------
    rtt : float
        Round trip in seconds, above 0.
    forward_loss, reverse_loss : float
        Probability that a packet is lost towards the server and back, each at least
        0 and below 0.5: from there on the mean of doubling timeouts is infinite.
    syn_timeout : float
        First timeout in seconds, above 0; 1 s in RFC 6298, 3 s when the paper was
        written.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    References
    ----------
    N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000.

    Examples
    --------
    >>> handshake_time(0.1), round(handshake_time(0.1, forward_loss=0.1, syn_timeout=3), 3)
    (0.1, 0.475)
    """
    rtt = number("rtt", rtt, above=0)
    timeout = number("syn_timeout", syn_timeout, above=0)
    forward = number("forward_loss", forward_loss, least=0, below=0.5)
    reverse = number("reverse_loss", reverse_loss, least=0, below=0.5)
    # (1 - p) / (1 - 2p) - 1 = p / (1 - 2p)
    return rtt + timeout * (forward / (1 - 2 * forward) + reverse / (1 - 2 * reverse))


def slow_start_segments(segments: int, loss: float) -> float:
    """Mean number of segments sent in the first slow start, Cardwell et al. (5).

    Those before the first loss and the lost one itself: (1 - (1-p)^d) / p for d
    segments, which is d without loss.

    Parameters
    ----------
    segments : int
        Length d of the transfer, at least 1.
    loss : float
        Probability p of a loss event per segment, at least 0 and below 1.

    Returns
    -------
    float
        At most d.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Notes
    -----
    The paper adds 1 for the lost segment even where none is lost, (1 - (1-p)^d)
    (1-p) / p + 1, and so sends d + 1 of d segments as the loss goes to 0; here the 1
    is weighted with the probability of a loss. The two differ by (1-p)^d.

    References
    ----------
    N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000.

    Examples
    --------
    >>> slow_start_segments(100, 0), round(slow_start_segments(100, 0.01), 2)
    (100.0, 63.4)
    """
    d = whole("segments", segments, least=1)
    p = number("loss", loss, least=0, below=1)
    return float(d) if p == 0 else -math.expm1(d * math.log1p(-p)) / p


def slow_start_window(segments: float, *, initial: float = 10.0, b: float = 1.0) -> float:
    r"""Window after so many segments of slow start, Cardwell et al. (11).

    :math:`d (\gamma - 1) / \gamma + w_1 / \gamma`, growing by
    :math:`\gamma = 1 + 1/b` in a round trip.

    Parameters
    ----------
    segments : float
        Segments d sent so far, above 0.
    initial : float
        Initial window in segments, at least 1; 10 in RFC 6928.
    b : float
        Segments that one acknowledgement covers, at least 1.

    Returns
    -------
    float
        Segments; at least the initial window once that has been sent.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    References
    ----------
    N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000.

    Examples
    --------
    >>> slow_start_window(10 + 20 + 40)  # three rounds
    40.0
    """
    sent = number("segments", segments, above=0)
    first = number("initial", initial, least=1)
    growth = 1 + 1 / number("b", b, least=1)
    return sent * (growth - 1) / growth + first / growth


def slow_start_time(
    segments: float,
    rtt: float,
    *,
    initial: float = 10.0,
    b: float = 1.0,
    window_max: float = math.inf,
) -> float:
    r"""Time to send so many segments in slow start, Cardwell et al. (15).

    :math:`RTT \log_\gamma(d (\gamma-1) / w_1 + 1)` as long as the window of
    `slow_start_window` is at most :math:`W_{max}`; after that, :math:`W_{max}` a round trip:

    .. math:: RTT \left(\log_\gamma \frac{W_{max}}{w_1} + 1 + \frac{1}{W_{max}}
        \left(d - \frac{\gamma W_{max} - w_1}{\gamma - 1}\right)\right)

    Parameters
    ----------
    segments : float
        Segments d to send, above 0.
    rtt : float
        Round trip in seconds, above 0.
    initial : float
        Initial window in segments, at least 1.
    b : float
        Segments that one acknowledgement covers, at least 1; growth is 1 + 1/b.
    window_max : float
        Largest window in segments, at least the initial one; infinity for none.

    Returns
    -------
    float
        Seconds; a real number of round trips.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    References
    ----------
    N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000.

    Examples
    --------
    >>> round(slow_start_time(10 + 20 + 40, 0.1), 3)  # three rounds
    0.3
    >>> round(slow_start_time(10 + 20 + 20, 0.1, window_max=20), 3)
    0.3
    """
    rtt = number("rtt", rtt, above=0)
    first = number("initial", initial, least=1)
    most = _window_max(window_max)
    if most < first:
        raise ValueError(f"window_max is {most:g}: must be at least the initial window, {first:g}")
    growth = 1 + 1 / number("b", b, least=1)
    if slow_start_window(segments, initial=first, b=b) <= most:
        return rtt * math.log(segments * (growth - 1) / first + 1, growth)
    growing = (growth * most - first) / (growth - 1)
    return rtt * (math.log(most / first, growth) + 1 + (segments - growing) / most)


def recovery_time(segments: int, loss: float, window: float, rtt: float, t0: float) -> float:
    """Mean time lost to the loss that ends slow start, Cardwell et al. (20).

    (1 - (1-p)^d) (Q T0 G(p) / (1-p) + (1 - Q) RTT), with Q of `timeout_share`.

    Parameters
    ----------
    segments : int
        Length d of the transfer, at least 1.
    loss : float
        Probability p of a loss event per segment, at least 0 and below 1.
    window : float
        Window in segments when slow start ends, above 0.
    rtt : float
        Round trip in seconds, above 0.
    t0 : float
        First retransmission timeout in seconds, above 0.

    Returns
    -------
    float
        Seconds; 0 without loss.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    References
    ----------
    N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000.

    Examples
    --------
    >>> round(recovery_time(1, 0.01, 1, 0.1, 0.4), 6)  # one segment: a timeout if lost
    0.004082
    """
    d = whole("segments", segments, least=1)
    p = number("loss", loss, least=0, below=1)
    rtt, t0 = number("rtt", rtt, above=0), number("t0", t0, above=0)
    if p == 0:
        return 0.0
    timeouts = timeout_share(p, window)
    lost = -math.expm1(d * math.log1p(-p))
    return lost * (timeouts * t0 * backoff(p) / (1 - p) + (1 - timeouts) * rtt)


def transfer_time(
    segments: int,
    rtt: float,
    *,
    loss: float = 0.0,
    initial: float = 10.0,
    b: float = 1.0,
    t0: float | None = None,
    window_max: float = math.inf,
    delayed_ack: float = 0.0,
) -> float:
    """Mean time of a short transfer over an open connection, Cardwell et al. (25).

    Slow start until the first loss, its recovery, congestion avoidance for what
    then remains (d less `slow_start_segments`, at the rate of `pftk_full`), and the
    delayed acknowledgement of a first window of one segment. Add `handshake_time`
    for a new connection.

    Parameters
    ----------
    segments : int
        Length d of the transfer, at least 1.
    rtt : float
        Round trip in seconds, above 0.
    loss : float
        Probability of a loss event per segment, at least 0 and below 1.
    initial : float
        Initial window in segments, at least 1.
    b : float
        Segments that one acknowledgement covers, at least 1.
    t0 : float, optional
        First retransmission timeout in seconds, above 0; four round trips if not given.
    window_max : float
        Largest window in segments, at least the initial one; infinity for none.
    delayed_ack : float
        Mean wait for the acknowledgement of a lone first segment, seconds, at
        least 0.

    Returns
    -------
    float
        Seconds.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Notes
    -----
    Holds where loss, and not the queue of a bottleneck, shapes the transfer.

    References
    ----------
    N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000.

    Examples
    --------
    >>> round(transfer_time(70, 0.1), 3), round(transfer_time(70, 0.1, loss=0.01), 3)
    (0.3, 0.522)
    """
    rtt = number("rtt", rtt, above=0)
    t0 = 4 * rtt if t0 is None else number("t0", t0, above=0)
    waited = number("delayed_ack", delayed_ack, least=0)
    begun = slow_start_segments(segments, loss)
    growing = slow_start_time(begun, rtt, initial=initial, b=b, window_max=window_max)
    if loss == 0:
        return growing + waited
    ended = min(slow_start_window(begun, initial=initial, b=b), window_max)
    recovering = recovery_time(segments, loss, ended, rtt, t0)
    window = pftk_full(loss, b=b, t0_rtts=t0 / rtt, window_max=window_max)
    return growing + recovering + (segments - begun) * rtt / window + waited


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

    Raises
    ------
    ValueError
        A window or a round trip is out of bounds.

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
    r"""Windows at which LIA's increases and decreases balance, loss and round trip given.

    On each path :math:`\min(\alpha / w, 1 / w_i) = p_i w_i / 2`, so that
    :math:`w_i = \min(2 k / p_i, \sqrt{2 / p_i})` with :math:`k = \alpha / w`, and k
    solves RFC 6356's alpha, :math:`k (\sum w_i / RTT_i)^2 = \max(w_i / RTT_i^2)`. The
    left side over the right one grows with k, so there is one solution.

    Parameters
    ----------
    losses : array_like, shape (n,)
        Probability of a loss event per segment of each path, above 0 and below 1.
    rtts : array_like, shape (n,) or scalar
        Round trips in seconds, each above 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Mean windows in segments.

    Raises
    ------
    ValueError
        A loss or a round trip is out of bounds.

    Notes
    -----
    A fluid model for small losses: no timeouts, no smallest window. Where no path's
    increase is held to TCP's, windows go with 1 / p, and the rate of all is that of
    a TCP on the best path, :math:`\max \sqrt{2 / p_i} / RTT_i`.

    References
    ----------
    D. Wischik, C. Raiciu, A. Greenhalgh, M. Handley, "Design, implementation and
    evaluation of congestion control for multipath TCP", NSDI 2011. R. Khalili et al.,
    "MPTCP is not Pareto-optimal", CoNEXT 2012, equation (2).

    Examples
    --------
    >>> windows = lia_windows([0.01, 0.04], 0.1)
    >>> (windows / windows.sum()).round(6).tolist()
    [0.8, 0.2]
    """
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
    r"""Windows at which OLIA's increases and decreases balance, loss and round trip given.

    Only the best paths, those of the largest :math:`\sqrt{2 / p_i} / RTT_i`, carry
    anything; together they have that rate, with equal windows (theorem 1 of Khalili
    et al.; alpha of OLIA rests only where no best path's window is below another's).

    Parameters
    ----------
    losses : array_like, shape (n,)
        Probability of a loss event per segment of each path, above 0 and below 1.
    rtts : array_like, shape (n,) or scalar
        Round trips in seconds, each above 0.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Mean windows in segments; 0 on all but the best paths, where a sender in
        fact keeps a segment or two.

    Raises
    ------
    ValueError
        A loss or a round trip is out of bounds.

    Notes
    -----
    A fluid model for small losses: no timeouts, no smallest window. Paths whose
    rates differ by less than one in 10⁹ count as equally good.

    References
    ----------
    R. Khalili, N. Gast, M. Popovic, U. Upadhyay, J.-Y. Le Boudec, "MPTCP is not
    Pareto-optimal: performance issues and a possible solution", CoNEXT 2012.

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


def in_order(arrivals: ArrayLike) -> Vector:
    """When packets can be delivered in order: once all before them have arrived.

    Parameters
    ----------
    arrivals : array_like, shape (packets,)
        Arrival of each packet in seconds, in the order of sending.

    Returns
    -------
    numpy.ndarray, shape (packets,)
        The largest arrival up to each packet.

    Raises
    ------
    ValueError
        An arrival is no finite number.

    Examples
    --------
    >>> in_order([0.05, 0.5, 0.06]).tolist()
    [0.05, 0.5, 0.5]
    """
    return np.maximum.accumulate(numbers("arrivals", arrivals))


def striped_arrivals(
    sent: ArrayLike, links: ArrayLike, rates: ArrayLike, delays: ArrayLike
) -> Vector:
    r"""When the packets of a stream arrive that is striped over FIFO links.

    A link sends its packets one after another, so its m-th leaves at
    :math:`\max_{l \le m}(t_l + (m - l + 1) / r)`, the solution of Lindley's recursion
    for packets of one size; its delay follows.

    Parameters
    ----------
    sent : array_like, shape (packets,)
        When each packet comes to its link, seconds, not decreasing.
    links : array_like of int, shape (packets,)
        Number of the link that each packet takes, from 0.
    rates : array_like, shape (n,)
        Packets per second of each link, above 0.
    delays : array_like, shape (n,) or scalar
        One-way delay of each link after its queue, seconds, at least 0.

    Returns
    -------
    numpy.ndarray, shape (packets,)
        Arrival of each packet, seconds.

    Raises
    ------
    ValueError
        An argument is out of bounds, times decrease, or a link does not exist.

    References
    ----------
    D. V. Lindley, "The theory of queues with a single server", 1952.

    Examples
    --------
    >>> striped_arrivals([0, 0, 0], [0, 1, 0], [10, 10], [0.05, 0.5]).round(2).tolist()
    [0.15, 0.6, 0.25]
    """
    times = _times(sent)
    rate = numbers("rates", rates, above=0)
    delay = numbers("delays", delays, rate.size, least=0)
    taken = numbers("links", links, times.size, least=0, most=rate.size - 1)
    if (taken % 1 != 0).any():
        raise ValueError(f"links has {taken[taken % 1 != 0][0]:g}: must be whole numbers")
    arrivals = np.empty_like(times)
    for link in range(rate.size):
        on = taken == link
        busy = np.arange(1, on.sum() + 1) / rate[link]
        before = busy - 1 / rate[link]
        arrivals[on] = np.maximum.accumulate(times[on] - before) + busy + delay[link]
    return arrivals


def earliest_links(sent: ArrayLike, rates: ArrayLike, delays: ArrayLike) -> NDArray[np.int64]:
    """Links that packets take when each takes the one that delivers it first (EDPF).

    Parameters
    ----------
    sent : array_like, shape (packets,)
        When each packet comes, seconds, not decreasing.
    rates : array_like, shape (n,)
        Packets per second of each link, above 0.
    delays : array_like, shape (n,) or scalar
        One-way delay of each link after its queue, seconds, at least 0.

    Returns
    -------
    numpy.ndarray of int, shape (packets,)
        Number of the link of each packet, from 0; of equally early ones the first.

    Raises
    ------
    ValueError
        An argument is out of bounds, or times decrease.

    Notes
    -----
    Packets of one size then arrive in order. No packet could arrive earlier with
    those before it where they are, but another split may serve later packets better,
    unless all come at once: see `least_in_order`.

    References
    ----------
    K. Chebrolu, R. Rao, "Bandwidth aggregation for real-time applications in
    heterogeneous wireless networks", IEEE Trans. Mobile Computing 5(4), 2006.

    Examples
    --------
    >>> earliest_links([0, 0, 0, 0], [20, 10], [0.01, 0.08]).tolist()
    [0, 0, 0, 1]
    """
    times = _times(sent)
    rate = numbers("rates", rates, above=0)
    delay = numbers("delays", delays, rate.size, least=0)
    service = 1 / rate
    free = np.zeros_like(rate) + times[0]
    links = np.empty(times.size, dtype=np.int64)
    for packet, now in enumerate(times):
        departures = np.maximum(free, now) + service
        link = int(np.argmin(departures + delay))
        free[link] = departures[link]
        links[packet] = link
    return links


def least_in_order(packets: int, rates: ArrayLike, delays: ArrayLike) -> Vector:
    """Earliest in-order delivery of each packet of a stripe that waits at time 0.

    Link i can deliver at delay_i + m / rate_i for m = 1, 2, ...; the first k packets
    take k of these moments, so the k-th smallest of all is the earliest at which
    packet k can be delivered in order, and taking them in turn attains it for every
    packet at once.

    Parameters
    ----------
    packets : int
        Number of packets, all of one size, at least 1.
    rates : array_like, shape (n,)
        Packets per second of each link, above 0.
    delays : array_like, shape (n,) or scalar
        One-way delay of each link after its queue, seconds, at least 0.

    Returns
    -------
    numpy.ndarray, shape (packets,)
        Seconds after the stripe came.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    Examples
    --------
    >>> least_in_order(4, [20, 10], [0.01, 0.08]).round(2).tolist()
    [0.06, 0.11, 0.16, 0.18]
    """
    count = whole("packets", packets, least=1)
    rate = numbers("rates", rates, above=0)
    delay = numbers("delays", delays, rate.size, least=0)
    moments = [(delay[link] + 1 / rate[link], link, 1) for link in range(rate.size)]
    heapq.heapify(moments)
    earliest = np.empty(count)
    for packet in range(count):
        earliest[packet], link, nth = moments[0]
        heapq.heapreplace(moments, (delay[link] + (nth + 1) / rate[link], link, nth + 1))
    return earliest


def least_stream_delay(rate: float, rates: ArrayLike, delays: ArrayLike) -> float:
    """Bound below which no split keeps the in-order delay of a steady stream.

    Where every packet is delivered within D, only links with delay_i + 1 / rate_i <= D
    carry any, and they must together carry the stream: D is at least the smallest at
    which they can.

    Parameters
    ----------
    rate : float
        Packets per second of the stream, above 0 and at most the sum of the links'.
    rates : array_like, shape (n,)
        Packets per second of each link, above 0.
    delays : array_like, shape (n,) or scalar
        One-way delay of each link after its queue, seconds, at least 0.

    Returns
    -------
    float
        Seconds. Attained where one link does; with several, packets that wait for
        their turn add to it.

    Raises
    ------
    ValueError
        An argument is out of bounds, or the links cannot carry the stream.

    Examples
    --------
    >>> [round(least_stream_delay(f, [250, 800], [0.01, 0.02]), 5) for f in (200, 500)]
    [0.014, 0.02125]
    """
    wanted = number("rate", rate, above=0)
    each = numbers("rates", rates, above=0)
    alone = numbers("delays", delays, each.size, least=0) + 1 / each
    order = np.argsort(alone, kind="stable")
    carried = np.cumsum(each[order])
    if wanted > carried[-1]:
        raise ValueError(
            f"rate is {wanted:g}: must be at most {carried[-1]:g}, what all links carry"
        )
    return float(alone[order[np.searchsorted(carried, wanted)]])


def _window_max(value: float) -> float:
    return math.inf if value == math.inf else number("window_max", value, least=1)


def _times(sent: ArrayLike) -> Vector:
    times = numbers("sent", sent)
    if (np.diff(times) < 0).any():
        packet = int(np.argmax(np.diff(times) < 0)) + 1
        raise ValueError(
            f"sent[{packet}] is {times[packet]:g}: must be at least sent[{packet - 1}], "
            f"{times[packet - 1]:g}"
        )
    return times
