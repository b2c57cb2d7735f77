"""The queue of Elahi et al. 2011 with a receiver that reads at a rate of its own.

The paper leaves the receiver to future work (section 7): its model sends whenever packets are
queued. Here packets leave a connection for a receive buffer, from which the receiving application
reads them. While that buffer is full the connections are idle, as flow control makes them.

The state is the pair of packets in the sending system, 0 to N, and packets not yet read, 0 to R.
It is a Markov chain: packets arrive and depart as in `Queue`, and the application reads them at
exponential intervals. Its distribution is computed level by level from n = N down to n = 0, with
positive matrices, so that nothing cancels.

References
----------
E. Elahi, N. Hassan, S. Asghar, A. Qayyum, A. Rafiq, "Performance Modeling of Bandwidth Aggregation
for TCP Connections", 2011, section 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..arguments import number, whole
from .states import GREATEST_RATE, MIN_RATE, PER_SECOND, Queue, departure_rate

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class ReceiverLimited:
    """A queue whose packets enter a receive buffer.

    Parameters
    ----------
    queue : Queue
        The sending system.
    read_rate : float
        Rate of the receiving application, in packets per second, 1e-150 to 1e150.
    receive_buffer : int
        R, the capacity of the receive buffer in packets, at least 1. The time grows with its cube:
        0.1 s at 50 packets and N = 300.

    Raises
    ------
    ValueError
        An argument is out of bounds.

    References
    ----------
    Elahi et al. 2011, section 7, for the question; equations (1) and (2) for the rates.

    Examples
    --------
    The first row of the paper's table 1, read at half of the arrival rate:

    >>> row = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)
    >>> slow = ReceiverLimited(row, read_rate=319, receive_buffer=50)
    >>> round(slow.throughput, 3), round(slow.lost_rate, 3)
    (319.0, 319.0)
    """

    queue: Queue
    read_rate: float
    receive_buffer: int

    def __post_init__(self) -> None:
        least, most = MIN_RATE, GREATEST_RATE
        rate = number("read_rate", self.read_rate, least=least, most=most, note=PER_SECOND)
        object.__setattr__(self, "read_rate", rate)
        object.__setattr__(self, "receive_buffer", whole("receive_buffer", self.receive_buffer))

    @cached_property
    def joint_probability(self) -> Matrix:
        """Probability of n packets in the sending system and m unread ones, shape (N + 1, R + 1).

        Examples
        --------
        >>> small = Queue(1, [1], capacity=1, send_buffers=1)
        >>> slow = ReceiverLimited(small, read_rate=1, receive_buffer=1)
        >>> slow.joint_probability.round(6).tolist()
        [[0.2, 0.2], [0.4, 0.2]]
        """
        capacity, size = self.queue.capacity, self.receive_buffer + 1
        served = departure_rate(self.queue, np.arange(capacity + 1))
        # Rates within a level, watched only while the chain is in it or below it.
        reads = np.diag(np.full(size - 1, self.read_rate), k=-1)
        inside: Matrix = reads
        growths: list[Matrix] = []
        for n in range(capacity, 0, -1):
            downwards = np.append(np.full(size - 1, served[n]), 0.0)
            leaving = np.diag(np.sum(inside, axis=1) + downwards)
            growth = np.asarray(self.queue.arrival_rate * np.linalg.inv(leaving - inside), float)
            growths.append(growth)
            # A departure from level n reaches level n - 1 with one more unread packet.
            inside = reads.copy()
            inside[:, 1:] += served[n] * growth[:, :-1]
        level = _stationary(inside)
        levels, logs = [level], [0.0]
        for growth in reversed(growths):
            level = level @ growth
            total = float(np.sum(level))
            level = level / total
            levels.append(level)
            logs.append(logs[-1] + float(np.log(total)))
        weights = np.exp(np.asarray(logs) - max(logs))
        shares = weights / np.sum(weights)
        return np.asarray(np.asarray(levels) * shares[:, np.newaxis], dtype=np.float64)

    @property
    def probability(self) -> NDArray[np.float64]:
        """Probability of n packets in the sending system, shape (N + 1,)."""
        return np.asarray(np.sum(self.joint_probability, axis=1))

    @property
    def unread_probability(self) -> NDArray[np.float64]:
        """Probability of m unread packets, shape (R + 1,)."""
        return np.asarray(np.sum(self.joint_probability, axis=0))

    @property
    def throughput(self) -> float:
        """Rate of packets that the application reads, per second."""
        return self.read_rate * float(np.sum(self.unread_probability[1:]))

    @property
    def lost_rate(self) -> float:
        """Lambda_lost, the rate of packets that find the sending system full, per second."""
        return self.queue.arrival_rate * float(self.probability[-1])

    @property
    def packets_queued(self) -> float:
        """N_q, the mean number of packets in the main buffer, equation (6)."""
        above = np.arange(1, self.queue.capacity - self.queue.send_buffers + 1)
        return float(above @ self.probability[self.queue.send_buffers + 1 :])

    @property
    def time_to_reader(self) -> float:
        """Mean time from a packet's acceptance until the application reads it, in seconds.

        By Little's law from the packets in the sending system and the unread ones.

        Examples
        --------
        >>> row = Queue(125, [128], capacity=300, send_buffers=50)
        >>> round(ReceiverLimited(row, read_rate=1000, receive_buffer=50).time_to_reader, 3)
        0.333
        """
        sending = np.arange(self.queue.capacity + 1) @ self.probability
        unread = np.arange(self.receive_buffer + 1) @ self.unread_probability
        return float(sending + unread) / self.throughput

    @property
    def closed_window(self) -> float:
        """Share of time in which the receive buffer is full while packets could be sent."""
        return float(np.sum(self.joint_probability[1:, -1]))


def _stationary(rates: Matrix) -> NDArray[np.float64]:
    """Return the distribution of a chain with these rates, by Grassmann, Taksar and Heyman."""
    rates = rates.copy()
    for last in range(len(rates) - 1, 0, -1):
        rates[:last, last] /= np.sum(rates[last, :last])
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
    found = np.ones(len(rates))
    for state in range(1, len(rates)):
        found[state] = found[:state] @ rates[:state, state]
    return np.asarray(found / np.sum(found))
