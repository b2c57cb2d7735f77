"""Elahi et al. 2011: statements of the text, and the queue before its steady state."""

import pytest

import ropewalk
from ropewalk.papers.elahi2011.download import Download


@pytest.fixture(scope="module")
def text():
    return ropewalk.reproduce("elahi-2011", "text")


def of(reproduction, start):
    """Return the row whose quantity starts with a text."""
    found = [each for each in reproduction.comparisons if each.quantity.startswith(start)]
    assert len(found) == 1, start
    return found[0]


def test_a_header_of_8_bytes_costs_0_4_percent(text):
    assert of(text, "header over data").ours == 100 * 8 / 2048
    simulated = of(text, "simulated: 8 bytes more of header")
    assert simulated.published == 0.4
    assert simulated.met


def test_two_links_halve_the_download(text):
    assert of(text, "100 MB over one link").ours == pytest.approx(14, rel=0.1)
    halved = of(text, "the same over two links")
    assert halved.published == 0.5
    assert halved.ours == pytest.approx(0.5, abs=0.01)
    assert [link["name"] for link in Download(2, 8).scenario().values["link"]] == ["1", "2"]


def test_low_and_high_loads_are_as_stated(text):
    for start in ("N_q at 0.1", "W_q at 0.1", "a packet finds the send buffers full at 0.1"):
        row = of(text, start)
        assert 0 < row.ours < 1e-9
        assert row.met
    assert of(text, "lambda_lost rises").met
    assert of(text, "N_q rises").met
    assert of(text, "then departures over").ours <= 1


def test_a_receiver_at_half_of_the_arrivals_reads_at_its_rate(text):
    row = of(text, "receiver reads 0.5 of the arrivals, buffer of 50")
    assert row.ours == pytest.approx(319, rel=1e-6)


def test_all_but_one_system_is_near_its_steady_state_after_100_s():
    made = ropewalk.reproduce("elahi-2011", "transient")
    near = made.comparisons[0]
    assert (near.ours, near.published, near.met) == (5, 6, False)
    shares = [each.ours for each in made.comparisons[1:]]
    assert len(shares) == 6
    assert min(shares) == pytest.approx(94.5, abs=0.1)
    assert f"{min(shares):.1f} %" in near.reason
    table = made.tables["transient"]
    assert table["of_steady_state"].max() <= 1 + 1e-6
    constant, slow = made.choices[0].alternatives[0], made.choices[0].alternatives[-1]
    assert slow.numbers["leave, packets/s"] < constant.numbers["leave, packets/s"]
