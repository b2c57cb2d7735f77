"""Sojourn times in the queue of Elahi et al. 2011."""

import heapq
import math
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.linalg import expm

from queues import ROW_1, confident, queues
from ropewalk.model import elahi2011 as model
from ropewalk.model.elahi2011 import Queue, sojourn
from ropewalk.model.elahi2011.sojourn import SojournTime


def simulated_delays(queue: Queue, packets: int, generator: np.random.Generator) -> np.ndarray:
    """Delays of packets in departure order, each on the fastest free connection."""
    rates = queue.departure_rates
    free = list(range(len(rates)))
    waiting: deque[float] = deque()
    serving: list[tuple[float, int, float]] = []
    delays: list[float] = []
    arrival = generator.exponential(1 / queue.arrival_rate)

    def serve(now: float, connection: int, since: float) -> None:
        done = now + generator.exponential(1 / rates[connection])
        heapq.heappush(serving, (done, connection, since))

    while len(delays) < packets:
        if not serving or arrival < serving[0][0]:
            now, arrival = arrival, arrival + generator.exponential(1 / queue.arrival_rate)
            if len(waiting) + len(serving) == queue.capacity:
                continue
            if free:
                serve(now, heapq.heappop(free), now)
            else:
                waiting.append(now)
        else:
            now, connection, since = heapq.heappop(serving)
            delays.append(now - since)
            if waiting:
                serve(now, connection, waiting.popleft())
            else:
                heapq.heappush(free, connection)
    return np.array(delays)


@pytest.mark.parametrize("arrivals", [1.0, 2.0, 3.0])
def test_simulated_packets_over_equal_connections_have_the_delays(arrivals):
    queue = Queue(arrivals, (1.0, 1.0), capacity=7, send_buffers=2)
    delay = SojournTime(queue)
    generator = np.random.default_rng(300)
    runs = np.array([simulated_delays(queue, 3_500, generator)[500:] for _ in range(40)])
    assert confident(runs.mean(axis=1), delay.mean)
    for share in (0.25, 0.5, 0.9):
        within = runs <= float(delay.quantile(share))
        assert confident(within.mean(axis=1), share)


@pytest.mark.parametrize(
    ("arrivals", "least", "most"), [(100, 1.05, 1.15), (400, 1.05, 1.15), (1280, 0.99, 1.01)]
)
def test_packets_bound_to_unequal_connections_stay_longer_unless_all_are_busy(
    arrivals, least, most
):
    queue = Queue(arrivals, (320, 192, 128), capacity=300, send_buffers=150)
    delays = simulated_delays(queue, 80_000, np.random.default_rng(7))[10_000:]
    assert least < np.mean(delays) / SojournTime(queue).mean < most


@pytest.mark.parametrize("arrivals", [0.5, 6.0, 20.0])
@pytest.mark.parametrize("rates", [(3.0, 2.0, 1.0), (2.0, 2.0, 2.0), (5.9, 0.099, 0.001), (6.0,)])
def test_delay_is_phase_type_distributed(rates, arrivals):
    queue = Queue(arrivals, rates, capacity=9, send_buffers=len(rates))
    c, total = len(rates), sum(rates)
    found = model.probability(queue)[:-1] / sum(model.probability(queue)[:-1])
    # Phases: service on each connection, then a number of departures.
    phases = c + queue.capacity - c
    start = np.zeros(phases)
    for n, p in enumerate(found):
        if n < c:
            start[: n + 1] += p * np.array(rates[: n + 1]) / sum(rates[: n + 1])
        else:
            start[n] += p
    generator = np.diag([-rate for rate in rates] + [-total] * (phases - c))
    for phase in range(c, phases):
        if phase == c:
            generator[phase, :c] = rates
        else:
            generator[phase, phase - 1] = total
    leave = -generator.sum(axis=1)

    delay = SojournTime(queue)
    times = [0.0, 1e-3, 0.1, 0.7, 2.0, 5.0]
    survival = [start @ expm(generator * t) @ np.ones(phases) for t in times]
    density = [start @ expm(generator * t) @ leave for t in times]
    np.testing.assert_allclose(delay.sf(times), survival, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(delay.cdf(times), 1 - np.array(survival), rtol=1e-7, atol=1e-14)
    np.testing.assert_allclose(delay.pdf(times), density, rtol=1e-8, atol=1e-14)
    mean = -start @ np.linalg.solve(generator, np.ones(phases))
    assert delay.mean == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize("load", [0.2, 0.9])
def test_without_a_bound_one_connection_delays_exponentially(load):
    delay = SojournTime(Queue(load * 4, [4.0], capacity=2000, send_buffers=1))
    times = np.array([0.0, 0.01, 0.5, 3.0])
    np.testing.assert_allclose(delay.sf(times), np.exp(-4 * (1 - load) * times), rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(queues(most=2_000), st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=4))
def test_quantiles_invert_the_cdf(queue, shares):
    delay = SojournTime(queue)
    times = delay.quantile(shares)
    np.testing.assert_allclose(delay.cdf(times), shares, rtol=1e-9)
    np.testing.assert_allclose(delay.sf(times), 1 - np.array(shares), rtol=1e-9, atol=1e-14)
    rising = delay.quantile(sorted(shares))
    assert np.all(np.diff(rising) >= -1e-12 * rising[1:])


def test_quantiles_keep_their_digits_far_out():
    delay = SojournTime(Queue(1.0, [4.0], capacity=2000, send_buffers=1))
    assert delay.quantile(1 - 2**-50) == pytest.approx(50 * math.log(2) / 3, rel=1e-10)
    assert delay.quantile(2**-50) == pytest.approx(2**-50 / 3, rel=1e-10)


@settings(deadline=None, max_examples=60)
@given(queues(most=2_000), st.lists(st.floats(0, 10), min_size=2, max_size=8))
def test_the_cdf_rises_from_0_to_1(queue, multiples):
    delay = SojournTime(queue)
    times = np.sort(multiples) * delay.mean
    below, above = delay.cdf(times), delay.sf(times)
    assert np.all((below >= 0) & (below <= 1) & (above >= 0) & (above <= 1))
    assert np.all(np.diff(below) >= -1e-13)
    np.testing.assert_allclose(below + above, 1, atol=1e-12)
    assert np.all(delay.pdf(times) >= 0)
    assert delay.cdf(0.0) == 0


@pytest.mark.parametrize("arrivals", [100, 638, 2000])
def test_the_density_is_the_cdfs_slope(arrivals):
    queue = Queue(arrivals, (320, 192, 128), capacity=300, send_buffers=150)
    delay = SojournTime(queue)
    first, last = delay.quantile([0.1, 0.8])
    area, _ = quad(lambda t: float(delay.pdf(t)), first, last, epsabs=1e-11, epsrel=1e-11)
    assert area == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize("rates", [(1.0, 1e-9), (1e-4, 1.0, 1.0), (1.0, 0.01), (0.7, 0.3)])
@pytest.mark.parametrize("load", [1e-3, 0.999, 1.0, 1e3])
def test_delay_handles_large_queues_and_unequal_rates(rates, load):
    queue = Queue(load * sum(rates), rates, 100_000, len(rates))
    delay = SojournTime(queue)
    middle = delay.quantile(0.5)
    assert delay.cdf(middle) == pytest.approx(0.5, rel=1e-10)
    assert delay.cdf(middle) + delay.sf(middle) == pytest.approx(1, abs=1e-11)
    step = float(middle) * 1e-6
    slope = (delay.cdf(middle + step) - delay.cdf(middle - step)) / (2 * step)
    assert delay.pdf(middle) == pytest.approx(slope, rel=1e-4)


@pytest.mark.parametrize("load", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("rates", [(0.9, 0.1), (0.7, 0.2, 0.1), (0.95, 0.05)])
def test_a_service_kept_apart_is_the_same_as_more_stages(monkeypatch, rates, load):
    queue = Queue(load, rates, capacity=1_000, send_buffers=len(rates))
    times = np.array([0.0, 1.0, 30.0, 990.0, 1_000.0, 1_100.0])
    apart = SojournTime(queue)
    kept = [apart.sf(times), apart.cdf(times), apart.pdf(times)]
    monkeypatch.setattr(sojourn, "GREATEST_GROWTH", 0.0)
    whole = SojournTime(queue)
    for one, other in zip(
        kept, [whole.sf(times), whole.cdf(times), whole.pdf(times)], strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("t", [-1e-9, math.nan, math.inf, [0.1, -0.1]])
def test_times_that_cannot_be_are_refused(t):
    delay = SojournTime(ROW_1)
    for function in (delay.pdf, delay.cdf, delay.sf):
        with pytest.raises(ValueError, match=r"t is .*: must be finite and at least 0"):
            function(t)


@pytest.mark.parametrize("probability", [-0.1, 1.0, 1.5, math.nan, [0.5, 1.0]])
def test_quantile_rejects_values_outside_0_to_1(probability):
    with pytest.raises(ValueError, match=r"probability is .*: must be from 0 to below 1"):
        SojournTime(ROW_1).quantile(probability)
