"""What the machine adds to a run on the testbed, and runs that are done again."""

import pytest

import ropewalk
from ropewalk.emulation import running
from ropewalk.emulation.own_error import own_error

QUIET = {"lateness_ms": {"p50": 0.02, "p99": 0.3, "max": 1.0}, "trusted": True, "stolen_s": 0.1}


def report(**emulator):
    return {"goodput_mbps": 9.0, "duration_s": 10.0, "emulator": QUIET | emulator}


def test_a_late_writer_adds_to_late_links():
    run = report() | {"write_lateness_ms": {"p50": 0.1, "p99": 0.2, "max": 0.5}}
    error = own_error(run, processors=2)
    assert error["delay_ms"] == pytest.approx({"p50": 0.12, "p99": 0.5})
    assert error["time_share"] == pytest.approx(0.005)
    assert not error["disturbed"]


@pytest.mark.parametrize("emulator", [{"trusted": False}, {"stolen_s": 0.5}])
def test_late_links_and_stolen_time_disturb(emulator):
    assert own_error(report(**emulator), processors=2)["disturbed"]


def test_links_of_the_kernel_say_nothing():
    assert own_error({"goodput_mbps": 9.0, "tc": []}) is None


@pytest.mark.parametrize(
    ("again", "asked", "disturbed"), [(0, 1, True), (1, 2, True), (5, 3, False)]
)
def test_a_disturbed_run_is_done_again_where_asked(
    monkeypatch, two_links, again, asked, disturbed
):
    seeds = []

    def ask(_verb, request, **_):
        seeds.append(request["seed"])
        return report(trusted=len(seeds) > 2)

    monkeypatch.setattr(running, "ask", ask)
    results = ropewalk.testbed(two_links, seed=7, again=again)
    assert seeds == [7] * asked
    assert results.runs[0]["own_error"]["disturbed"] is disturbed


def test_again_is_no_less_than_none(two_links):
    with pytest.raises(ValueError, match="again = -1"):
        ropewalk.testbed(two_links, again=-1)
