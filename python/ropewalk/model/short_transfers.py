"""Duration of a short TCP transfer: Cardwell, Savage and Anderson, 2000.

Windows and lengths are segments, times (also in results) seconds. Loss is the probability that a
segment begins a loss event. Functions raise `ValueError` for arguments out of bounds.

Arguments may be arrays, which broadcast and give an array of results.

References
----------
N. Cardwell, S. Savage, T. Anderson, "Modeling TCP latency", INFOCOM 2000.
"""

from __future__ import annotations

import math

from .arguments import elementwise, number, whole
from .classics import backoff, largest_window, pftk_full, timeout_share


@elementwise
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
        Loss probability towards the server and back, each at least 0 and below 0.5, where the mean
        of doubling timeouts becomes infinite.
    syn_timeout : float
        First timeout in seconds, above 0; 1 s in RFC 6298, 3 s in the paper's time.

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


@elementwise
def slow_start_segments(segments: int, loss: float) -> float:
    """Mean number of segments sent in the first slow start, Cardwell et al. (5).

    The segments before the first loss and the lost one: (1 - (1-p)^d) / p for d segments, which is
    d without loss.

    Parameters
    ----------
    segments, loss
        As in `transfer_time`.

    Notes
    -----
    The paper adds 1 for the lost segment even without a loss, (1 - (1-p)^d) (1-p) / p + 1, which
    approaches d + 1 as the loss approaches 0. Here the 1 is weighted with the probability of a
    loss, a difference of (1-p)^d.

    Examples
    --------
    >>> slow_start_segments(100, 0), round(slow_start_segments(100, 0.01), 2)
    (100.0, 63.4)
    """
    d = whole("segments", segments, least=1)
    p = number("loss", loss, least=0, below=1)
    return float(d) if p == 0 else -math.expm1(d * math.log1p(-p)) / p


@elementwise
def slow_start_window(segments: float, *, initial: float = 10.0, b: float = 1.0) -> float:
    r"""Window after some segments of slow start, Cardwell et al. (11).

    :math:`d (\gamma - 1) / \gamma + w_1 / \gamma`, growing by
    :math:`\gamma = 1 + 1/b` in a round trip.

    Parameters
    ----------
    segments : float
        Segments d sent so far, above 0.
    initial, b
        As in `transfer_time`.

    Examples
    --------
    >>> slow_start_window(10 + 20 + 40)  # three rounds
    40.0
    """
    sent = number("segments", segments, above=0)
    first = number("initial", initial, least=1)
    growth = 1 + 1 / number("b", b, least=1)
    return sent * (growth - 1) / growth + first / growth


@elementwise
def slow_start_time(
    segments: float,
    rtt: float,
    *,
    initial: float = 10.0,
    b: float = 1.0,
    window_max: float = math.inf,
) -> float:
    r"""Time to send some segments in slow start, Cardwell et al. (15).

    :math:`RTT \log_\gamma(d (\gamma-1) / w_1 + 1)` as long as the window of
    `slow_start_window` is at most :math:`W_{max}`; after that, :math:`W_{max}` a round trip:

    .. math:: RTT \left(\log_\gamma \frac{W_{max}}{w_1} + 1 + \frac{1}{W_{max}}
        \left(d - \frac{\gamma W_{max} - w_1}{\gamma - 1}\right)\right)

    Parameters
    ----------
    segments : float
        Segments d to send, above 0.
    rtt, initial, b, window_max
        As in `transfer_time`; growth is 1 + 1/b.

    Examples
    --------
    >>> round(slow_start_time(10 + 20 + 40, 0.1), 3)  # three rounds
    0.3
    >>> round(slow_start_time(10 + 20 + 20, 0.1, window_max=20), 3)
    0.3
    """
    rtt = number("rtt", rtt, above=0)
    first = number("initial", initial, least=1)
    most = largest_window(window_max)
    if most < first:
        raise ValueError(f"window_max is {most:g}: must be at least the initial window, {first:g}")
    growth = 1 + 1 / number("b", b, least=1)
    if slow_start_window(segments, initial=first, b=b) <= most:
        return rtt * math.log(segments * (growth - 1) / first + 1, growth)
    growing = (growth * most - first) / (growth - 1)
    return rtt * (math.log(most / first, growth) + 1 + (segments - growing) / most)


@elementwise
def recovery_time(segments: int, loss: float, window: float, rtt: float, t0: float) -> float:
    """Mean time lost to the loss that ends slow start, Cardwell et al. (20); 0 without loss.

    (1 - (1-p)^d) (Q T0 G(p) / (1-p) + (1 - Q) RTT), with Q of `timeout_share`.

    Parameters
    ----------
    segments, loss, rtt, t0
        As in `transfer_time`.
    window : float
        Window in segments at the end of slow start, above 0.

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


@elementwise
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

    Sum of slow start until the first loss, its recovery, congestion avoidance for the rest (d less
    `slow_start_segments`, at the rate of `pftk_full`), and the delayed acknowledgement of a first
    window of one segment. Add `handshake_time` for a new connection.

    Parameters
    ----------
    segments : int
        Length d of the transfer, at least 1.
    rtt : float
        Round trip in seconds, above 0.
    loss : float
        Probability p of a loss event per segment, at least 0 and below 1.
    initial : float
        Initial window in segments, at least 1; 10 in RFC 6928.
    b : float
        Segments per acknowledgement, at least 1.
    t0 : float, optional
        First retransmission timeout in seconds, above 0; by default four round trips.
    window_max : float
        Largest window in segments, at least the initial one; infinity for none.
    delayed_ack : float
        Mean delay of the acknowledgement of a single first segment, seconds, at least 0.

    Notes
    -----
    Valid if loss, not a bottleneck's queue, limits the transfer.

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
