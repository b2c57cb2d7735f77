"""Classic formulas: known values, limits, balance, and striping packet by packet."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, seed, settings
from hypothesis import strategies as st

from ropewalk.model import classics, striping
from ropewalk.model import short_transfers as short

LOSSES = np.logspace(-5, -0.5, 30)
PATHS = st.lists(
    st.tuples(st.floats(1e-5, 0.3), st.floats(0.001, 1.0)), min_size=1, max_size=5
).map(lambda paths: tuple(map(np.array, zip(*paths, strict=True))))
LINKS = st.lists(st.tuples(st.floats(1, 1000), st.floats(0, 0.5)), min_size=1, max_size=4).map(
    lambda links: tuple(map(np.array, zip(*links, strict=True)))
)


@pytest.mark.parametrize(
    ("loss", "mathis", "pftk"),
    [(0.0001, 122.5, 122.4), (0.001, 38.73, 38.38), (0.01, 12.25, 11.23), (0.05, 5.48, 3.69)],
)
def test_known_windows(loss, mathis, pftk):
    digits = 1 if loss < 0.001 else 2
    assert round(classics.mathis(loss), digits) == mathis
    assert round(classics.pftk(loss), digits) == pftk


@pytest.mark.parametrize("b", [1, 2])
def test_without_timeouts_the_three_windows_are_one_in_the_limit(b):
    window = classics.mathis(1e-10, b=b)
    assert classics.pftk(1e-10, b=b) == pytest.approx(window, rel=1e-4)
    assert classics.pftk_full(1e-10, b=b) == pytest.approx(window, rel=1e-4)
    assert classics.pftk(0.01, b=b, t0_rtts=0) == pytest.approx(classics.mathis(0.01, b=b))


@pytest.mark.parametrize("window", [classics.mathis, classics.pftk, classics.pftk_full])
def test_windows_fall_with_loss_and_with_delayed_acknowledgements(window):
    assert (np.diff([window(p) for p in LOSSES]) < 0).all()
    assert all(window(p, b=2) < window(p) for p in LOSSES)


def test_largest_window_holds():
    assert classics.pftk(1e-6, window_max=20) == 20
    assert classics.pftk_full(1e-9, window_max=20) == pytest.approx(20, rel=1e-4)
    assert all(classics.pftk_full(p, window_max=20) <= 20 for p in LOSSES)


def test_share_of_timeouts():
    assert all(classics.timeout_share(p, 2.5) == 1 for p in LOSSES)
    assert classics.timeout_share(1e-9, 100) == pytest.approx(0.03, rel=1e-5)
    for p in (0.001, 0.1):
        shares = [classics.timeout_share(p, w) for w in range(1, 60)]
        assert (np.diff(shares) <= 0).all()


def test_backoff_is_the_mean_of_doubling_timeouts():
    """A series of k timeouts lasts (2^k - 1) T0; each after the sixth adds 64 T0."""
    p = 0.3
    lasts = [2**k - 1 if k <= 6 else 63 + 64 * (k - 6) for k in range(1, 400)]
    mean = math.fsum(p**k * (1 - p) * last for k, last in enumerate(lasts))
    assert classics.backoff(p) / (1 - p) == pytest.approx(mean)


def test_handshake_is_the_mean_over_lost_packets():
    p, q, rtt, timeout = 0.2, 0.1, 0.05, 3.0
    mean = math.fsum(
        p**i * (1 - p) * q**j * (1 - q) * (rtt + timeout * (2**i - 1) + timeout * (2**j - 1))
        for i, j in itertools.product(range(80), repeat=2)
    )
    ours = short.handshake_time(rtt, forward_loss=p, reverse_loss=q, syn_timeout=timeout)
    assert ours == pytest.approx(mean)


def test_slow_start_segments_are_the_mean_up_to_the_first_loss():
    d, p = 25, 0.07
    mean = math.fsum((1 - p) ** k * p * (k + 1) for k in range(d)) + (1 - p) ** d * d
    assert short.slow_start_segments(d, p) == pytest.approx(mean)
    printed = (1 - (1 - p) ** d) * (1 - p) / p + 1
    assert printed - short.slow_start_segments(d, p) == pytest.approx((1 - p) ** d)
    assert short.slow_start_segments(d, 1e-12) == pytest.approx(d)


@pytest.mark.parametrize(("b", "growth"), [(1, 2.0), (2, 1.5)])
def test_slow_start_takes_whole_rounds_where_rounds_are_full(b, growth):
    sent = 0.0
    for rounds in range(1, 8):
        sent += 10 * growth ** (rounds - 1)
        assert short.slow_start_time(sent, 1.0, b=b) == pytest.approx(rounds)
        window = short.slow_start_window(sent, b=b)
        assert window == pytest.approx(10 * growth ** (rounds - 1))


def test_slow_start_time_is_continuous_at_the_largest_window():
    full = 10 + 20 + 40
    times = [short.slow_start_time(full + change, 1.0, window_max=40) for change in (-1e-9, 1e-9)]
    assert times == pytest.approx([3, 3])
    assert short.slow_start_time(full + 80, 1.0, window_max=40) == pytest.approx(5)


def test_transfer_time_grows_with_length_loss_and_round_trip():
    lengths = [short.transfer_time(d, 0.1, loss=0.01) for d in range(1, 400)]
    assert (np.diff(lengths) > 0).all()
    losses = [short.transfer_time(200, 0.1, loss=p) for p in (0, *LOSSES)]
    assert (np.diff(losses) > 0).all()
    assert short.transfer_time(200, 0.2, loss=0.01) == pytest.approx(2 * lengths[199])


def test_long_transfer_has_the_rate_of_a_lasting_one():
    rate = 10**7 / short.transfer_time(10**7, 0.1, loss=0.01)
    assert rate == pytest.approx(classics.pftk_full(0.01) / 0.1, rel=1e-3)


def test_short_transfer_without_loss_is_slow_start_alone():
    assert short.transfer_time(10, 0.1) == pytest.approx(0.1)
    assert short.transfer_time(10, 0.1, delayed_ack=0.05) == pytest.approx(0.15)
    assert short.transfer_time(10, 0.1, loss=1e-12) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("windows", "rtts", "alpha"),
    [
        ([10, 10], [0.1, 0.1], 0.5),
        ([10, 20], [0.1, 0.1], 0.666667),
        ([10, 10], [0.1, 0.4], 1.28),
        ([20, 5], [0.05, 0.2], 1.107266),
        ([10, 10, 10], [0.1, 0.1, 0.1], 0.333333),
    ],
)
def test_known_alphas(windows, rtts, alpha):
    assert round(classics.lia_alpha(windows, rtts), 6) == alpha


def test_lia_settles_near_80_to_20():
    windows = classics.lia_windows([0.01, 0.04], 0.1)
    assert windows / windows.sum() == pytest.approx([0.8, 0.2])


@seed(1)
@settings(max_examples=300, deadline=None)
@given(PATHS)
def test_lia_increases_and_decreases_balance(paths):
    losses, rtts = paths
    windows = classics.lia_windows(losses, rtts)
    alpha = classics.lia_alpha(windows, rtts)
    increase = np.minimum(alpha / windows.sum(), 1 / windows)
    np.testing.assert_allclose(increase, losses * windows / 2, rtol=1e-9)
    alone = np.sqrt(2 / losses)
    assert (windows <= alone * (1 + 1e-9)).all()
    if (windows < alone * (1 - 1e-6)).all():
        total = (windows / rtts).sum()
        assert total == pytest.approx((alone / rtts).max(), rel=1e-9)


def test_lia_holds_to_tcps_increase_on_a_slow_path_of_little_loss():
    windows = classics.lia_windows([0.02, 1e-5], [0.01, 1.0])
    assert windows[1] == pytest.approx(math.sqrt(2 / 1e-5))


@seed(1)
@settings(max_examples=300, deadline=None)
@given(PATHS)
def test_olia_has_the_rate_of_the_best_path_on_best_paths_alone(paths):
    losses, rtts = paths
    windows = classics.olia_windows(losses, rtts)
    alone = np.sqrt(2 / losses) / rtts
    assert (windows / rtts).sum() == pytest.approx(alone.max())
    assert (windows[alone < alone.max() * (1 - 1e-6)] == 0).all()
    used = windows[windows > 0]
    assert used == pytest.approx(np.full(used.size, used[0]))
    # Each used path's increase w / rtt^2 / (sum w / rtt)^2 balances its decrease p w / 2.
    increase = 1 / rtts**2 / (windows / rtts).sum() ** 2
    np.testing.assert_allclose(increase[windows > 0], losses[windows > 0] / 2, rtol=1e-6)
    assert (increase <= losses / 2 * (1 + 1e-6)).all()


@pytest.mark.parametrize("fixed_point", [classics.lia_windows, classics.olia_windows])
def test_one_path_is_a_tcp(fixed_point):
    assert fixed_point([0.02], 0.3) == pytest.approx([10])


def recursion(sent, links, rates, delays):
    """Compute packet by packet; a link is free once it has sent its earlier packets."""
    free = [-math.inf] * len(rates)
    arrivals, delivered, latest = [], [], -math.inf
    for now, link in zip(sent, links, strict=True):
        free[link] = max(now, free[link]) + 1 / rates[link]
        arrivals.append(free[link] + delays[link])
        latest = max(latest, arrivals[-1])
        delivered.append(latest)
    return arrivals, delivered


@seed(1)
@settings(max_examples=200, deadline=None)
@given(LINKS, st.lists(st.floats(0, 0.1), min_size=1, max_size=60), st.randoms())
def test_stripe_is_the_recursions(links, gaps, random):
    rates, delays = links
    sent = np.cumsum(gaps)
    taken = [random.randrange(len(rates)) for _ in gaps]
    arrivals, delivered = recursion(sent, taken, rates, delays)
    ours = striping.striped_arrivals(sent, taken, rates, delays)
    np.testing.assert_allclose(ours, arrivals, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(striping.in_order(ours), delivered, rtol=1e-9, atol=1e-12)


@seed(1)
@settings(max_examples=100, deadline=None)
@given(LINKS, st.lists(st.floats(0, 0.1), min_size=1, max_size=60))
def test_earliest_links_keep_the_order(links, gaps):
    rates, delays = links
    sent = np.cumsum(gaps)
    taken = striping.earliest_links(sent, rates, delays)
    arrivals = striping.striped_arrivals(sent, taken, rates, delays)
    assert (np.diff(arrivals) >= -1e-9).all()


@seed(1)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(1, 100), st.floats(0, 0.5)), min_size=2, max_size=3),
    st.integers(1, 6),
)
def test_waiting_stripe_is_delivered_as_early_as_any_split_can(links, packets):
    rates, delays = (np.array(each) for each in zip(*links, strict=True))
    sent = np.zeros(packets)
    every = [
        recursion(sent, taken, rates, delays)[1]
        for taken in itertools.product(range(len(rates)), repeat=packets)
    ]
    least = striping.least_in_order(packets, rates, delays)
    np.testing.assert_allclose(least, np.min(every, axis=0), rtol=1e-9)
    taken = striping.earliest_links(sent, rates, delays)
    np.testing.assert_allclose(least, recursion(sent, taken, rates, delays)[1], rtol=1e-9)


@seed(1)
@settings(max_examples=60, deadline=None)
@given(LINKS, st.floats(0.05, 0.95))
def test_no_steady_stream_beats_its_bound(links, load):
    rates, delays = links
    rate = load * rates.sum()
    bound = striping.least_stream_delay(rate, rates, delays)
    slack = rates[delays + 1 / rates < bound * (1 - 1e-9)].sum()
    assert slack < rate
    # Long enough for the links below the bound to fall behind by more than it.
    packets = 100 + math.ceil(2 * rate * bound / (1 - slack / rate))
    assume(packets < 3000)
    sent = np.arange(packets) / rate
    taken = striping.earliest_links(sent, rates, delays)
    waited = striping.striped_arrivals(sent, taken, rates, delays) - sent
    assert waited.max() >= bound * (1 - 1e-9)


def test_one_link_attains_the_bound_of_a_stream():
    sent = np.arange(100) / 200
    arrivals = striping.striped_arrivals(sent, np.zeros(100), [250], 0.01)
    bound = striping.least_stream_delay(200, [250], 0.01)
    assert striping.in_order(arrivals) - sent == pytest.approx(np.full(100, bound))


def test_bound_of_a_stream_grows_with_its_rate_and_equal_delays_leave_service_alone():
    bounds = [
        striping.least_stream_delay(f, [100, 200, 400], [0.1, 0.05, 0.2]) for f in range(1, 701)
    ]
    assert (np.diff(bounds) >= 0).all()
    assert len(set(bounds)) == 3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: classics.mathis(0), "loss is 0: must be a finite number above 0 and below 1"),
        (lambda: classics.mathis(math.nan), "loss is nan: must be"),
        (lambda: classics.mathis("much"), "loss is 'much': must be"),
        (lambda: classics.pftk(0.01, b=0.5), "b is 0.5: must be a finite number of at least 1"),
        (lambda: classics.pftk(0.01, t0_rtts=-1), "t0_rtts is -1: must be"),
        (lambda: classics.pftk_full(0.01, window_max=0), "window_max is 0: must be"),
        (
            lambda: short.handshake_time(0.1, forward_loss=0.5),
            "forward_loss is 0.5: must be",
        ),
        (
            lambda: short.slow_start_segments(2.5, 0.1),
            "segments is 2.5: must be a whole",
        ),
        (lambda: short.slow_start_time(5, 0), "rtt is 0: must be"),
        (
            lambda: short.slow_start_time(5, 1, window_max=5),
            "window_max is 5: must be at le",
        ),
        (lambda: short.transfer_time(5, 0.1, t0=0), "t0 is 0: must be"),
        (lambda: classics.lia_alpha([10, 0], 0.1), r"windows\[1\] is 0: must be"),
        (lambda: classics.lia_alpha([10, 10], [0.1] * 3), "rtts has 3 entries: must have 2"),
        (lambda: classics.lia_windows([], 0.1), r"losses has shape \(0,\): must be"),
        (lambda: classics.olia_windows([0.1, 1], 0.1), r"losses\[1\] is 1: must be"),
        (lambda: striping.in_order([math.inf]), r"arrivals\[0\] is inf: must be"),
        (lambda: striping.earliest_links([1, 0], 1, 0), r"sent\[1\] is 0: must be at least"),
        (lambda: striping.striped_arrivals([0], [1], [5], 0), r"links\[0\] is 1: must be"),
        (
            lambda: striping.striped_arrivals([0], [0.5], [5, 5], 0),
            r"links\[0\] is 0.5: must be a",
        ),
        (lambda: striping.least_in_order(0, [1], 0), "packets is 0: must be"),
        (lambda: striping.least_in_order(1, [0], 0), r"rates\[0\] is 0: must be"),
        (lambda: striping.least_stream_delay(11, [5, 5], 0), "rate is 11: must be at most 10"),
    ],
)
def test_bad_input_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()
