"""Coupled controls share as in htsim, prefer the better link, and flap or do not."""

import polars as pl
import pytest

import coupling


def of(frame, congestion):
    return frame.filter(pl.col("congestion") == congestion).row(0, named=True)


@pytest.mark.parametrize("congestion", coupling.BANDS)
def test_ratio_to_a_tcp_is_htsims(congestion):
    row = of(coupling.shared_bottleneck(), congestion)
    assert row["met"], row


def test_lia_carries_three_quarters_on_the_better_link():
    assert of(coupling.better_link(), "lia")["share of the better"] >= 0.75


def test_fully_coupled_flaps_and_lia_does_not():
    fully, lia = (of(coupling.flapping(), name) for name in ("fully-coupled", "lia"))
    assert fully["time beyond 4 to 1 %"] > 30
    assert lia["time beyond 4 to 1 %"] < 15
    assert fully["changes of side in 300 s"] >= 2
    assert lia["changes of side in 300 s"] <= 1
