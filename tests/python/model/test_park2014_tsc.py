"""MPTCP-TSC slot by slot: compared with a scalar implementation, and its printed errors."""

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest

from ropewalk.model.park2014.tsc import Estimates, Settings, Slot, end_slot

SLOTS = 500
REFERENCE = Path(__file__).parents[2] / "reference" / "park-2014-tsc.csv"


class InScalars:
    """Scalar implementation as in a sender: one subflow after the other, with state."""

    def __init__(self, settings):
        self.settings = settings
        self.backlog = self.mean = 0.0
        self.capacity = [None] * settings.cost.size

    def end_slot(self, seen):
        s = self.settings
        smooth = s.smoothing is not None
        weight = 1 - math.exp(-s.slot / s.smoothing) if smooth else 1.0
        arrived = (seen.backlog - self.backlog) / s.slot + sum(seen.sent) / s.slot  # (12)
        self.backlog = seen.backlog
        self.mean += weight * (arrived - self.mean)
        backlog_rate = 0.5 * seen.backlog / s.send_threshold if smooth else 0.0
        missing = self.mean + backlog_rate + 1 / s.send_threshold  # (16)
        for i in range(s.cost.size):
            if self.capacity[i] is None:
                self.capacity[i] = seen.window[i] / seen.srtt[i]
            x = (seen.acked if smooth else seen.sent)[i] / s.slot
            risen = not math.isnan(seen.rtt[i]) and seen.rtt[i] > seen.rtt_min[i]
            if risen and (x > 0 or not smooth):
                sample = (x * seen.rtt[i] + s.hops - 1) / (seen.rtt[i] - seen.rtt_min[i])  # (13)
                if smooth:
                    sample = min(sample, 1.5 * x)
                self.capacity[i] += weight * (sample - self.capacity[i])
            else:
                self.capacity[i] = max(self.capacity[i], x)
        rates = [0.0] * s.cost.size
        for i in sorted(range(s.cost.size), key=lambda i: (s.cost[i], seen.srtt[i])):
            if missing <= 0:
                continue
            c = max(self.capacity[i], 5e-324)
            in_time = c - (s.hops - 1 + c * seen.rtt_min[i]) / (2 * s.network_threshold)  # (15)
            allowed = seen.window[i] / seen.srtt[i]
            most = allowed if seen.slow_start[i] else min(allowed, in_time)
            rates[i] = max(min(missing, most), s.floor)  # (17)
            missing -= rates[i]
        return rates


def random_settings(rng, smoothing):
    return Settings(
        cost=rng.choice([0.0, 1.0, 3.0, 10.0], rng.integers(1, 5)),
        slot=rng.uniform(0.002, 0.05),
        send_threshold=rng.uniform(0.02, 0.5),
        network_threshold=rng.uniform(0.02, 0.5),
        floor=rng.choice([0.0, 2.0, 20.0]),
        hops=float(rng.integers(1, 4)),
        smoothing=smoothing,
    )


def random_slot(rng, n, before):
    rtt_min = rng.uniform(0.005, 0.1, n)
    rtt = rtt_min + rng.choice([0.0, 0.001, 0.1], n) * rng.random(n)
    sent = np.minimum(rng.integers(0, 20, n), before / n)
    return Slot(
        backlog=max(before - sent.sum(), 0.0) + float(rng.integers(0, 30)),
        sent=sent,
        acked=rng.integers(0, 20, n).astype(float),
        rtt=np.where(rng.random(n) < 0.3, np.nan, rtt),
        rtt_min=rtt_min,
        srtt=rtt_min * rng.uniform(1, 3, n),
        window=rng.uniform(1, 100, n),
        slow_start=(rng.random(n) < 0.2).astype(float),
    )


@pytest.mark.parametrize("smoothing", [None, 0.2, 0.5])
def test_it_is_the_algorithm_in_scalars(smoothing):
    rng = np.random.default_rng(1)
    unlike = set()
    for _ in range(SLOTS // 10):
        settings = random_settings(rng, smoothing)
        scalars, kept = InScalars(settings), Estimates()
        for _ in range(10):
            seen = random_slot(rng, settings.cost.size, kept.backlog)
            kept, rates = end_slot(settings, kept, seen)
            np.testing.assert_allclose(rates, scalars.end_slot(seen), rtol=1e-12, atol=1e-9)
            np.testing.assert_allclose(kept.capacity, scalars.capacity, rtol=1e-12, atol=1e-9)
            assert kept.demand == pytest.approx(scalars.mean, rel=1e-12, abs=1e-9)
            unlike.add(tuple(rates.round(3)))
    assert len(unlike) > SLOTS / 2


def reference():
    """Reference lines for the scheduler `traffic-split`: 50 random scenarios of 10 slots."""
    rng = np.random.default_rng(2)
    for world in range(SLOTS // 10):
        settings = random_settings(rng, [None, 0.2, 0.5][world % 3])
        kept = Estimates()
        for slot in range(10):
            seen = random_slot(rng, settings.cost.size, kept.backlog)
            kept, rates = end_slot(settings, kept, seen)
            for i, rate in enumerate(rates):
                yield {
                    "world": world,
                    "slot": slot,
                    "length": settings.slot,
                    "send_threshold": settings.send_threshold,
                    "network_threshold": settings.network_threshold,
                    "hops": settings.hops,
                    "floor": settings.floor,
                    "smoothing": settings.smoothing or math.nan,
                    "backlog": seen.backlog,
                    "cost": settings.cost[i],
                    "sent": seen.sent[i],
                    "acked": seen.acked[i],
                    "rtt": seen.rtt[i],
                    "rtt_min": seen.rtt_min[i],
                    "srtt": seen.srtt[i],
                    "window": seen.window[i],
                    "slow_start": seen.slow_start[i],
                    "demand": kept.demand,
                    "capacity": kept.capacity[i],
                    "rate": rate,
                }


def as_csv(lines):
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    lines = list(lines)
    table.writerow(lines[0])
    table.writerows([repr(float(number)) for number in line.values()] for line in lines)
    return text.getvalue()


def test_scheduler_reference_matches_the_model():
    kept = np.genfromtxt(REFERENCE, delimiter=",", names=True)
    text = np.genfromtxt(io.StringIO(as_csv(reference())), delimiter=",", names=True)
    assert kept.dtype.names == text.dtype.names
    for name in kept.dtype.names:
        np.testing.assert_allclose(kept[name], text[name], rtol=1e-12, atol=1e-9)


def steady(rate, capacity, rtt_min):
    """State of a subflow with a constant rate below its capacity, by (4): a slot of 10 ms."""
    packets = np.array([rate * 0.01])
    rtt = np.array([capacity * rtt_min / (capacity - rate)])
    return Slot(0.0, packets, packets, rtt, np.array([rtt_min]), rtt, np.array([1e4]), np.zeros(1))


def test_the_rate_in_print_has_a_round_trip_of_twice_the_threshold():
    for threshold in (0.05, 0.1, 0.2, 0.5):
        settings = Settings(np.ones(1), network_threshold=threshold, smoothing=None)
        capacity, rtt_min = 250.0, 0.02
        found = steady(100.0, capacity, rtt_min)
        kept, _ = end_slot(settings, Estimates(), found)
        assert kept.capacity == pytest.approx(capacity)
        # Demand equals the subflow's capacity: the rate is (15).
        _, rates = end_slot(
            settings, kept, Slot(**{**vars(found), "backlog": 1e4, "window": np.array([1e6])})
        )
        rtt = capacity * rtt_min / (capacity - rates[0])
        assert rtt == pytest.approx(2 * threshold)


def frames(settings, slots):
    """Backlog of a video of 30 frames/s over a link with the allotted rate."""
    kept, rates, backlog, tokens, waits = Estimates(), np.zeros(1), 0.0, 0.0, []
    for number in range(slots):
        backlog += 12.0 if number % 3 == 0 else 0.0
        tokens = min(tokens + rates[0] * settings.slot, 3.0 + rates[0] * settings.slot)
        sent = float(min(math.floor(tokens), backlog))
        tokens, backlog = tokens - sent, backlog - sent
        one = np.array([sent])
        rtt = np.array([np.nan])
        seen = Slot(
            backlog,
            one,
            one,
            rtt,
            np.full(1, 0.02),
            np.full(1, 0.02),
            np.full(1, 9.0),
            np.zeros(1),
        )
        kept, rates = end_slot(settings, kept, seen)
        waits.append(backlog)
    return waits


def test_in_print_the_frames_of_a_video_pile_up_and_smoothed_they_leave():
    # 400 packets/s over a window for 450: a frame takes more than one slot.
    printed = frames(Settings(np.ones(1), smoothing=None), 3000)
    smoothed = frames(Settings(np.ones(1)), 3000)
    assert printed[-1] > 0.5 * 1000 * 12
    assert max(smoothed[1500:]) < 2 * 12


def test_a_backlog_that_shrank_by_more_than_was_sent_is_refused():
    settings = Settings(np.ones(1), smoothing=None)
    seen = Slot(
        0.0,
        np.ones(1),
        np.ones(1),
        np.full(1, np.nan),
        np.full(1, 0.02),
        np.full(1, 0.02),
        np.full(1, 10.0),
        np.zeros(1),
    )
    with pytest.raises(ValueError, match="after is 0: must be at least 4"):
        end_slot(settings, Estimates(backlog=5.0), seen)
