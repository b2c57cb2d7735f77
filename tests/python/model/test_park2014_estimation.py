"""Estimates of Park et al.: a buffer counted by hand; (13) as the inverse of (2) to (4)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ropewalk.model import park2014 as park
from ropewalk.model.park2014 import estimation

rates = st.lists(st.floats(0.1, 2000), min_size=1, max_size=5)


@given(rates, st.floats(0, 1e4), st.floats(0, 500), st.floats(1e-3, 1))
def test_demand_equals_arrivals_at_the_buffer(taken, offered, before, slot):
    after = before + (offered - sum(taken)) * slot
    if after < 0:  # more taken than available
        with pytest.raises(ValueError, match=r"after is .*: must be"):
            estimation.demand(before, after, slot, taken)
    else:
        found = estimation.demand(before, after, slot, taken)
        assert found == pytest.approx(offered, rel=1e-9, abs=1e-9 * (sum(taken) + before / slot))


def test_demand_of_a_buffer_that_is_stepped_through():
    rng = np.random.default_rng(12)
    slot, buffer = 0.02, 0
    for _ in range(500):
        came = int(rng.poisson(10))
        taken = rng.multinomial(min(buffer + came, 10), [0.3, 0.7])
        left = buffer + came - int(taken.sum())
        found = estimation.demand(buffer, left, slot, taken / slot)
        assert found == pytest.approx(came / slot, abs=1e-9)
        buffer = left


@given(
    st.lists(
        st.tuples(st.floats(1, 5000), st.floats(1e-3, 1), st.integers(1, 20), st.floats(0.1, 1e3)),
        min_size=1,
        max_size=5,
    )
)
def test_capacity_is_that_of_the_network_model(paths):
    """(13) recovers c from the round trip (2) and the rate (3) of any window."""
    c, rtt_min, hops, window = (np.array(each, dtype=float) for each in zip(*paths, strict=True))
    rtt = park.round_trip(window, c, rtt_min, hops)
    x = park.window_rate(window, c, rtt_min, hops)
    found = estimation.capacity(x, rtt, rtt_min, hops, last=1.0)
    # Precision left in the increase of the round trip.
    lost = 1e-15 * (rtt / (rtt - rtt_min)).max()
    np.testing.assert_allclose(found, c, rtol=1e-12 + 10 * lost)
    np.testing.assert_allclose(
        park.network_delay(x, found, rtt_min, hops), rtt / 2, rtol=1e-6 + 1e3 * lost
    )


@given(rates, st.floats(1e-3, 1), st.floats(0, 1), st.floats(0, 5000))
def test_a_round_trip_that_has_not_risen_keeps_the_estimate(x, rtt_min, share, last):
    found = estimation.capacity(x, rtt_min * share + 1e-6, rtt_min + 1e-6, last=last)
    assert found == pytest.approx(np.maximum(last, x))


@given(rates, st.floats(1e-3, 1), st.floats(1e-6, 3), st.floats(0, 5000))
def test_capacity_is_never_below_the_rate_and_falls_as_the_round_trip_rises(x, rtt, rise, last):
    found = estimation.capacity(x, rtt + rise, rtt, last=last)
    assert (found >= np.array(x) * (1 - 1e-12)).all()
    assert (estimation.capacity(x, rtt + 2 * rise, rtt, last=last) <= found * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: estimation.demand(-1, 0, 0.1, [1]), "before is -1: must be"),
        (lambda: estimation.demand(0, 0, 0, [1]), "slot is 0: must be"),
        (lambda: estimation.demand(9, 1, 1, [5]), "after is 1: must be at least 4, the rest of 9"),
        (lambda: estimation.capacity([-1], 1, 1), r"rates\[0\] is -1: must be"),
        (lambda: estimation.capacity([1], 0, 1), "rtt is 0: must be"),
        (lambda: estimation.capacity([1], 1, [1, 1]), "rtt_min has 2 entries: must have 1"),
        (lambda: estimation.capacity([1], 1, 1, 0), "hops is 0: must be"),
        (lambda: estimation.capacity([1], 1, 1, 1, -1), "last is -1: must be"),
    ],
)
def test_bad_input_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
