"""Every SACK-on row of ns-3's single path agrees."""

import polars as pl
import pytest

import ns3_single_path as ns3

# Five runs of 60 s at 100 ms with 1 % loss have a standard error of a tenth, too large for a band
# of a tenth.
FEW_LOSSES = (100, 1.0)

ROWS = [
    (delay, loss)
    for delay in (5, 25, 100)
    for loss in (0.0, 0.1, 1.0)
    if (delay, loss) != FEW_LOSSES
]


def row(delay, loss):
    frame = ns3.compared().filter(
        pl.col("SACK") == "on", pl.col("delay ms") == delay, pl.col("loss %") == loss
    )
    return frame.row(0, named=True)


@pytest.mark.parametrize(("delay", "loss"), ROWS)
def test_goodput_is_in_the_band(delay, loss):
    assert row(delay, loss)["met"], row(delay, loss)


def test_few_losses_agree_within_both_standard_errors():
    found = row(*FEW_LOSSES)
    file = ns3.reference("ns3-single-path.csv").filter(
        pl.col("sack") == 1, pl.col("delay_ms") == 100, pl.col("loss") == 0.01
    )
    # The range of five normal draws is 2.33 standard deviations in the mean.
    theirs = (file["max"][0] - file["min"][0]) / 2.33 / ns3.SEEDS**0.5
    ours = found["standard error %"] / 100 * found["ours"]
    assert abs(found["ours"] - found["ns-3"]) < 2 * (ours**2 + theirs**2) ** 0.5


def test_goodput_at_equal_losses_is_in_the_band():
    differences = ns3.at_equal_losses()["difference %"].to_list()
    assert len(differences) == 3
    assert all(abs(difference) < 10 for difference in differences)
