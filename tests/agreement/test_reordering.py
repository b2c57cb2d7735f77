"""Responses to reordering restore the goodput that reordering takes."""

import statistics

import polars as pl
import pytest

import reordering
import reordering_kernel
import ropewalk


@pytest.fixture(scope="module")
def jitter():
    frame = reordering.jitter()
    return {(kind, answer): row for kind, answer, *row in frame.iter_rows()}


RFC, LINUX = "NewReno, RFC 6675", "CUBIC with RACK, as Linux"


def test_at_3_ms_of_jitter_eifel_is_ten_and_dsack_five_times_faster(jitter):
    at = {answer: jitter[RFC, answer][2] for answer in reordering.ANSWERS}
    assert at["eifel"] >= 10 * at["none"]
    assert at["dsack"] >= 5 * at["none"]
    assert at["f-rto"] == pytest.approx(at["none"], rel=0.1)
    assert jitter[RFC, "eifel"][-1] >= 10


def test_linux_loses_little_to_ten_milliseconds(jitter):
    """Except for data that its receiver drops by age, as the kernel does."""
    assert jitter[LINUX, "linux"][3] > 1.2 * jitter[LINUX, "none"][3]
    transport = f'{reordering.KINDS[LINUX]}\npaws = false\nreordering = "linux"'
    results = ropewalk.simulate(reordering.jittering(10, transport), runs=5)
    assert results.mean["goodput_mbps"] >= 42


@pytest.mark.parametrize("case", reordering_kernel.CASES)
def test_goodput_agrees_with_the_kernel(case):
    """Within a tenth of its median, or in the 95 % interval of the median (by ranks)."""
    measured = reordering_kernel.reference(case)["goodput_mbps"].sort()
    assert len(measured) == 11
    results = ropewalk.simulate(reordering_kernel.scenario(case), runs=40)
    simulated = statistics.median(run["goodput_mbps"] for run in results.runs)
    near = abs(simulated / measured.median() - 1) <= 0.1
    assert near or measured[1] <= simulated <= measured[9]


def test_without_jitter_all_responses_are_equal(jitter):
    for kind in reordering.KINDS:
        there = [answer for answer in reordering.ANSWERS if reordering.has(kind, answer)]
        of = {answer: jitter[kind, answer][0] for answer in there}
        # The serial numbers of TCP-DOOR take 8 of 1448 bytes.
        assert of.pop("tcp-door") == pytest.approx(of["none"] * 1440 / 1448, rel=5e-3)
        # A loss at the end of slow start is detected a round trip later (RFC 4653).
        for answer in reordering.NCR:
            assert of.pop(answer, of["none"]) == pytest.approx(of["none"], rel=0.1)
        assert len(set(of.values())) == 1


def test_ncr_avoids_retransmissions_but_has_small_windows(jitter):
    for answer, value in reordering.NCR.items():
        scenario = reordering.jittering(1, f"{reordering.KINDS[RFC]}\nreordering = {value}")
        subflow = ropewalk.simulate(scenario).runs[0]["subflows"][0]
        assert subflow["retransmissions"] == 0
        assert jitter[RFC, "none"][1] < jitter[RFC, answer][1] < jitter[RFC, "dsack"][1]


def test_tcp_door_helps_with_profile_rfc_but_not_with_linux(jitter):
    door, none = (jitter[RFC, answer] for answer in ("tcp-door", "none"))
    assert all(door[at] > none[at] for at in (1, 2, 3))
    assert jitter[LINUX, "tcp-door"][2] < jitter[LINUX, "none"][2]


def test_striping_over_unequal_links_agrees():
    frame = reordering.striped()
    cells = [name for name in frame.columns if name not in ("profile", "answer")]

    def row(profile, answer):
        of = (pl.col("profile") == profile) & (pl.col("answer") == answer)
        return frame.filter(of).row(0, named=True)

    none, eifel = row("ns-3", "none"), row("ns-3", "eifel")
    assert all(eifel[cell] >= 2 * none[cell] for cell in cells)
    none, linux = row("linux", "none"), row("linux", "linux")
    assert all(linux[cell] >= none[cell] for cell in cells)
    assert all(linux[cell] >= 1.3 * none[cell] for cell in ("4: 20 ms", "4: 40 ms"))
