"""Runs without deliveries: every verb warns and gives the reason."""

import json

import pytest

import ropewalk

LINK = """
duration = "2 s"
[[link]]
name = "wifi"
rate = "20 Mbit/s"
delay = "10 ms"
"""


@pytest.fixture
def late(tmp_path):
    """Return a scenario with a trace that begins after the run."""
    (tmp_path / "late.trace").write_text("500000\n")
    file = tmp_path / "late.toml"
    file.write_text(LINK.replace('rate = "20 Mbit/s"', 'trace = "late.trace"'))
    return file


def test_a_trace_that_begins_too_late_is_warned_of(command, late):
    for verb in ("simulate", "predict"):
        assert "its first chance to send comes after 500 s" in said(command(verb, late).stdout)
        printed = command(verb, late, "--json")
        text = json.loads(printed.stdout)["warnings"]
        assert any(each.startswith("link.wifi.trace: its first chance") for each in text)
        assert "warning: link.wifi.trace: its first chance" in printed.stderr
    explained = command("explain", late)
    assert "its first chance to send" in said(explained.stdout)


def said(printed):
    return " ".join(printed.split())


@pytest.mark.parametrize(
    "changes",
    [
        {"link.wifi.loss": "100 %"},
        {"link.wifi.reverse.loss": "100 %"},
        {"link.wifi.rate": "10 bit/s"},
        {"link.wifi.down": [["0 s", "3 s"]]},
        {"link.wifi.delay": "2 s"},
        {"link.wifi.delay": "900 ms"},
        {"warmup": "1 s", "traffic.size": "10 kB"},
        {
            "transport.protocol": "udp",
            "traffic.kind": "cbr",
            "traffic.rate": "1 Mbit/s",
            "link.wifi.loss": "100 %",
        },
    ],
    ids=str,
)
def test_run_without_deliveries_warns_with_reason(changes):
    results = ropewalk.simulate(ropewalk.Scenario(LINK).with_(changes), runs=2)
    assert results.mean["goodput_mbps"] == 0
    [text] = [each for each in results.json()["warnings"] if "nothing was delivered: " in each]
    assert len(text) > len("nothing was delivered: no data")


def test_a_run_with_a_delivery_has_no_warning():
    assert "warnings" not in ropewalk.simulate(ropewalk.Scenario(LINK)).json()


def test_warning_of_some_runs_has_their_number():
    lossy = ropewalk.Scenario(LINK).with_({"link.wifi.loss": "40 %"})
    results = ropewalk.simulate(lossy, runs=8)
    silent = sum(run["goodput_mbps"] == 0 for run in results.runs)
    assert 0 < silent < 8
    text = results.json()["warnings"]
    assert sum("nothing was delivered" in each and "of 8 runs)" in each for each in text) >= 1


def test_study_reports_runs_without_deliveries(tmp_path):
    scenario = ropewalk.Scenario(LINK)
    made = ropewalk.study(scenario, {"link.wifi.loss": ["0 %", "100 %"]}, out=tmp_path / "made")
    text = [each for each in made.warnings if "nothing was delivered" in each]
    assert len(text) == 1
    assert text[0].endswith("(1 of 2 runs)")
    assert made.json()["warnings"] == made.warnings
    assert made.points.filter(made.points["warnings"].is_not_null()).height == 1
    assert ropewalk.load(tmp_path / "made").warnings == made.warnings
