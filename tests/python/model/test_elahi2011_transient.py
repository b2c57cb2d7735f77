"""The queue of Elahi et al. 2011 over time."""

import math

import numpy as np
import pytest

from queues import ROW_1, confident
from ropewalk.model import elahi2011 as model
from ropewalk.model.elahi2011 import Queue
from ropewalk.model.elahi2011.transient import transient

SMALL = Queue(5.0, (3.0, 2.0, 1.0), capacity=14, send_buffers=5)


def simulated(queue: Queue, until: float, arrivals, most: float, chains: int = 40_000):
    """Numbers of packets of chains that start empty; arrivals are thinned from the rate `most`."""
    generator = np.random.default_rng(300)
    served = model.departure_rate(queue, np.arange(queue.capacity + 1))
    pace = most + served[-1]
    n, clock = np.zeros(chains, dtype=int), np.zeros(chains)
    while True:
        clock += generator.exponential(1 / pace, chains)
        active = clock < until
        if not active.any():
            return n
        event = generator.random(chains) * pace
        arrive = active & (event < arrivals(clock)) & (n < queue.capacity)
        leave = active & (event >= most) & (event - most < served[n])
        n += arrive.astype(int) - leave


@pytest.mark.parametrize(
    "queue", [ROW_1, SMALL, Queue(9.0, (3.0, 2.0, 1.0), capacity=14, send_buffers=5)]
)
def test_long_times_have_the_steady_state(queue):
    late = transient(queue, [3000.0])
    np.testing.assert_allclose(late.probability[0], model.probability(queue), atol=1e-9)
    assert late.throughput[0] == pytest.approx(model.throughput(queue), rel=1e-9)
    assert late.mean_packets[0] == pytest.approx(model.mean_packets(queue), rel=1e-6)
    assert late.packets_queued[0] == pytest.approx(model.packets_queued(queue), rel=1e-6)


def test_the_steady_state_stays():
    steady = model.probability(SMALL)
    found = transient(SMALL, [0.0, 0.1, 7.0], start=steady)
    np.testing.assert_allclose(found.probability, [steady] * 3, atol=1e-9)


@pytest.mark.parametrize("until", [0.2, 1.0, 4.0])
def test_short_times_have_the_numbers_of_a_simulated_chain(until):
    found = transient(SMALL, [until])
    ours = simulated(SMALL, until, np.vectorize(lambda _: 5.0), 5.0)
    assert confident(ours.astype(float), found.mean_packets[0])
    for packets in (0, 1, 3):
        assert confident((ours <= packets) * 1.0, np.sum(found.probability[0, : packets + 1]))


def test_varying_arrivals_have_the_numbers_of_a_simulated_chain():
    def wave(t):
        return 5 * (1 + np.sin(2 * np.pi * t))

    found = transient(SMALL, [1.25], arrival_rate=lambda t: float(wave(t)))
    ours = simulated(SMALL, 1.25, wave, 10.0)
    assert confident(ours.astype(float), found.mean_packets[0])
    assert abs(transient(SMALL, [1.25]).mean_packets[0] - found.mean_packets[0]) > 0.1


def test_one_server_without_queue_fills_exponentially():
    found = transient(Queue(2.0, [3.0], capacity=1, send_buffers=1), [0.0, 0.1, 1.0])
    exact = [0.4 * (1 - math.exp(-5 * t)) for t in (0.0, 0.1, 1.0)]
    np.testing.assert_allclose(found.probability[:, 1], exact, atol=1e-8)


def test_no_short_outage_is_missed():
    def down(t: float) -> tuple[float, float, float]:
        return (0.0, 0.0, 0.0) if 50.0 <= t < 50.5 else (3.0, 2.0, 1.0)

    found = transient(SMALL, [50.0, 50.5], departure_rates=down, jumps=[50.0, 50.5])
    # Without departures the 14 places fill at 5 packets per second.
    grown = found.mean_packets[1] - found.mean_packets[0]
    assert 0.8 * 2.5 < grown < 2.5
    assert found.throughput[1] > 0
    assert transient(SMALL, [50.25], departure_rates=down, jumps=[50.0]).throughput[0] == 0


def test_a_connection_that_is_down_takes_no_packet():
    found = transient(SMALL, [3.0], departure_rates=lambda _: (0.0, 2.0, 1.0))
    other = transient(Queue(5.0, (2.0, 1.0), 14, 5), [3.0])
    np.testing.assert_allclose(found.probability, other.probability, atol=1e-8)


def test_steps_join_without_a_seam():
    whole = transient(SMALL, [0.0, 1.0, 2.0])
    first = transient(SMALL, [1.0])
    second = transient(SMALL, [1.0], start=first.probability[0])
    np.testing.assert_allclose(whole.probability[1], first.probability[0], atol=1e-8)
    np.testing.assert_allclose(whole.probability[2], second.probability[0], atol=1e-8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"times": [-1.0]}, "times.* is -1: must be a finite number of at least 0"),
        ({"times": [2.0, 1.0]}, "times are .*: must be rising"),
        ({"arrival_rate": lambda _: -1.0}, "arrival_rate is -1: must be .* of at least 0"),
        ({"departure_rates": lambda _: (1.0, 2.0)}, "departure_rates has 2 entries: must have 3"),
        ({"departure_rates": lambda _: (1, 2, -3)}, r"departure_rates\[2\] is -3"),
        ({"start": [1.0]}, "start has 1 entries: must have 15"),
        ({"start": [0.5] * 15}, "start has the sum 7.5: must be 1"),
        ({"jumps": [math.nan]}, "jumps.* is nan"),
    ],
)
def test_arguments_that_cannot_be_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        transient(**{"queue": SMALL, "times": [1.0]} | given)
