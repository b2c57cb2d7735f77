"""TCP and MPTCP use their links as Linux does."""

import pytest

import linux

ROWS = list(range(10))


def test_every_row_is_tested():
    assert linux.compared().height == len(ROWS)


@pytest.mark.parametrize("number", ROWS)
def test_fraction_agrees_with_linux(number):
    row = linux.compared().row(number, named=True)
    assert row["met"], row
