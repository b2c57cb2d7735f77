"""Bandwidth aggregation reaches its expected goodput."""

import pytest

import aggregation


@pytest.mark.parametrize("case", aggregation.CASES)
def test_goodput_is_near_the_sum_of_the_links(case):
    row = next(row for row in aggregation.goodput().iter_rows(named=True) if row["links"] == case)
    assert row["aggregation, 4M"] >= 0.94, row
    assert row["aggregation, 1M"] >= (0.60 if case == "the eight" else 0.90), row
    assert min(row["aggregation, 4M"], row["aggregation, 1M"]) > row["best link alone"], row


def test_thin_stream_uses_the_fast_link():
    row = next(row for row in aggregation.thin().iter_rows(named=True))
    assert row["protocol"] == "aggregation"
    assert row["p99, ms"] < 20, row
