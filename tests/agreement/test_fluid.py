"""The fluid model is as accurate as the page says."""

import pytest

import fluid


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("tcp", 0.1),
        ("tcp, loss", 0.1),
        ("tcp, small window", 0.1),
        ("tcp, short transfer", 0.1),
    ],
)
def test_mean_error(kind, most):
    apart = [abs(error) for error in fluid.errors(kind)]
    assert len(apart) == fluid.EACH
    assert sum(apart) / len(apart) < most


@pytest.mark.parametrize("kind", ["mptcp", "mptcp, loss", "mptcp, outage"])
def test_median_error(kind):
    # If the receiver drops data beyond the shared window, a run stalls for seconds, as in Linux.
    # The model lacks this, which affects the mean over several paths.
    apart = sorted(abs(error) for error in fluid.errors(kind))
    assert apart[len(apart) // 2] < 0.25


@pytest.mark.parametrize("buffer", ["256 KiB", "1 MiB"])
def test_the_links_chosen_are_nearly_the_best(buffer):
    frame = fluid.subsets(buffer)
    chosen = frame["simulated"][frame["predicted"].arg_max()]
    assert chosen > 0.9 * frame["simulated"].max()
    assert frame["simulated"].max() > 1.5 * frame["simulated"][-1], "not all eight"
