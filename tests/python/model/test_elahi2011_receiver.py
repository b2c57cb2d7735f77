"""The queue of Elahi et al. 2011 with a receiver of its own rate."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queues import ROW_1, confident
from ropewalk.model import elahi2011 as model
from ropewalk.model.elahi2011 import Queue
from ropewalk.model.elahi2011.receiver import ReceiverLimited


def exact(queue: Queue, read_rate: float, receive_buffer: int) -> np.ndarray:
    """Distribution by one linear system over all states."""
    served = model.departure_rate(queue, np.arange(queue.capacity + 1))
    shape = (queue.capacity + 1, receive_buffer + 1)
    rates = np.zeros(shape * 2)
    for n, m in np.ndindex(shape):
        if n < queue.capacity:
            rates[n, m, n + 1, m] = queue.arrival_rate
        if n > 0 and m < receive_buffer:
            rates[n, m, n - 1, m + 1] = served[n]
        if m > 0:
            rates[n, m, n, m - 1] = read_rate
    flat = rates.reshape(shape[0] * shape[1], -1)
    flat -= np.diag(np.sum(flat, axis=1))
    equations = np.vstack((flat.T, np.ones(len(flat))))
    right = np.append(np.zeros(len(flat)), 1.0)
    return np.linalg.lstsq(equations, right, rcond=None)[0].reshape(shape)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.floats(0.5, 5), min_size=1, max_size=3),
    st.floats(0.2, 10),
    st.integers(0, 5),
    st.floats(0.2, 10),
    st.integers(1, 5),
)
def test_levels_agree_with_one_linear_system(rates, arrivals, more, read_rate, buffer):
    queue = Queue(arrivals, rates, len(rates) + more, len(rates))
    found = ReceiverLimited(queue, read_rate, buffer)
    np.testing.assert_allclose(
        found.joint_probability, exact(queue, read_rate, buffer), atol=1e-11
    )
    # All accepted packets are read.
    assert found.throughput == pytest.approx(queue.arrival_rate - found.lost_rate, rel=1e-9)


@pytest.mark.parametrize("load", [1e-3, 0.5, 0.997, 2.0, 1000.0])
def test_a_fast_reader_leaves_the_papers_queue(load):
    queue = Queue(640 * load, (320, 192, 128), capacity=300, send_buffers=150)
    found = ReceiverLimited(queue, 1e9, 20)
    np.testing.assert_allclose(found.probability, model.probability(queue), atol=1e-6)
    assert found.throughput == pytest.approx(model.throughput(queue), rel=1e-6)
    assert found.packets_queued == pytest.approx(model.packets_queued(queue), rel=1e-3, abs=1e-12)


def test_a_slow_reader_is_the_bottleneck():
    found = ReceiverLimited(ROW_1, 319.0, 50)
    assert found.throughput == pytest.approx(319, rel=1e-6)
    assert found.closed_window > 0.4
    assert found.packets_queued > 140  # of 150 in the main buffer
    rates = [ReceiverLimited(ROW_1, 640.0, buffer).throughput for buffer in (1, 5, 50)]
    assert rates == sorted(rates)
    assert rates[0] < 500
    assert 600 < rates[2] < model.throughput(ROW_1)


def test_simulated_chains_have_as_many_queued_and_unread():
    """Uniformised chains; the reader is slower than the connections."""
    queue, read_rate, buffer = Queue(4.0, (3.0, 2.0, 1.0), 8, 4), 4.5, 3
    generator = np.random.default_rng(7)
    served = model.departure_rate(queue, np.arange(9))
    chains, steps, warm = 400, 6_000, 600
    pace = 4.0 + 6.0 + read_rate
    n, m = np.zeros(chains, dtype=int), np.zeros(chains, dtype=int)
    queued, unread = np.zeros(chains), np.zeros(chains)
    for step in range(steps):
        event = generator.random(chains) * pace
        arrive = (event < 4) & (n < 8)
        leave = (event >= 4) & (event - 4 < served[n]) & (m < buffer)
        read = (event >= 10) & (m > 0)
        n += arrive.astype(int) - leave
        m += leave.astype(int) - read
        if step >= warm:
            queued += np.maximum(n - 4, 0) / (steps - warm)
            unread += m / (steps - warm)
    found = ReceiverLimited(queue, read_rate, buffer)
    assert confident(queued, found.packets_queued)
    assert confident(unread, np.arange(buffer + 1) @ found.unread_probability)


@pytest.mark.parametrize(
    ("read_rate", "buffer", "message"),
    [
        (0.0, 50, "read_rate is 0: must be .* of at least 1e-150"),
        (math.nan, 50, "read_rate is nan"),
        (319.0, 0, "receive_buffer is 0: must be a whole number of at least 1"),
        (319.0, 1.5, "receive_buffer is 1.5: must be a whole number"),
    ],
)
def test_arguments_that_cannot_be_are_refused(read_rate, buffer, message):
    with pytest.raises(ValueError, match=message):
        ReceiverLimited(ROW_1, read_rate, buffer)
