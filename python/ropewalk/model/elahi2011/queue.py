"""Queue with unequal servers: distribution of the number of packets, and throughput."""

from __future__ import annotations

import numpy as np

from .states import Queue, departure_rate, load, probability


def packets_queued(queue: Queue) -> float:
    """Return N_q, the mean number of packets in the main buffer, equation (6).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(packets_queued(row), 2)
    26.77
    """
    above = np.arange(1, queue.capacity - queue.send_buffers + 1)
    return float(above @ probability(queue)[queue.send_buffers + 1 :])


def packets_in_system(queue: Queue) -> float:
    """Return N_s, the paper's number of packets in the system, equation (7).

    N_q + c rho, which holds for S = c, equal rates, and no loss. Otherwise it omits packets in
    send buffers; `mean_packets` is the true mean.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(packets_in_system(row), 2), round(mean_packets(row), 2)
    (29.76, 127.23)
    """
    return packets_queued(queue) + queue.connections * load(queue)


def time_in_system(queue: Queue) -> float:
    """Return W_s, the time in the system by Little's law from the paper's N_s, equation (8).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(time_in_system(row) * 1e3, 2)
    46.74
    """
    return packets_in_system(queue) / effective_rate(queue)


def time_queued(queue: Queue) -> float:
    """Return W_q, the mean time of an accepted packet in the main buffer, equation (9).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(time_queued(row) * 1e3, 2)
    42.04
    """
    return packets_queued(queue) / effective_rate(queue)


def effective_rate(queue: Queue) -> float:
    """Return lambda_eff, the rate of accepted packets, equation (10).

    Summed over the accepting states; lambda - lambda_lost would cancel if almost all is lost.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(effective_rate(row), 1)
    636.7
    """
    return queue.arrival_rate * float(np.sum(probability(queue)[:-1]))


def lost_rate(queue: Queue) -> float:
    """Return lambda_lost, the rate of packets that find the system full, below equation (10).

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(lost_rate(row), 1)
    1.3
    """
    return queue.arrival_rate * float(probability(queue)[-1])


def goodput(queue: Queue) -> float:
    """Return GP, the paper's average data transmission rate, equation (11).

    N_q / W_s is not the departure rate, but lambda_eff times the share of N_s in the main buffer,
    and zero while that is empty. See `throughput` for the departure rate; GP is near to it only if
    N_q is far above c rho.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(goodput(row), 2)
    572.74
    """
    return packets_queued(queue) / time_in_system(queue)


def mean_packets(queue: Queue) -> float:
    """Return the true mean number of packets in the system, the sum of n p_n.

    Examples
    --------
    >>> round(mean_packets(Queue(10, [10], capacity=4, send_buffers=1)), 12)
    2.0
    """
    return float(np.arange(queue.capacity + 1) @ probability(queue))


def throughput(queue: Queue) -> float:
    """Return the true departure rate, the sum of mu_n p_n.

    It equals `effective_rate`.

    Examples
    --------
    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> round(throughput(row), 1)
    636.7
    """
    return float(departure_rate(queue, np.arange(queue.capacity + 1)) @ probability(queue))
