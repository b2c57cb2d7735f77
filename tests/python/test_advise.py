"""Advice: known answers, output, stored results, and invalid input."""

import json
import random
import re

import polars as pl
import pytest

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk.analysis.advise.evaluator import CandidateResult, Evaluator, is_random
from ropewalk.analysis.advise.significance import Judge
from ropewalk.analysis.advise.subsets import Predictor, all_subsets, use_paths

TWO_AND_ONE_FAR = """
title = "Two near links and one far"
duration = "8 s"

[[link]]
name = "near"
rate = "8 Mbit/s"
delay = "10 ms"

[[link]]
name = "next"
rate = "6 Mbit/s"
delay = "12 ms"

[[link]]
name = "far"
rate = "1 Mbit/s"
delay = "800 ms"

[transport]
protocol = "mptcp"
receive_buffer = "192 KiB"
send_buffer = "192 KiB"
"""


@pytest.fixture(scope="module")
def scenario():
    return ropewalk.Scenario(TWO_AND_ONE_FAR)


@pytest.fixture(scope="module")
def results(scenario):
    return ropewalk.advise(scenario, check=True)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "far.toml"
    path.write_text(TWO_AND_ONE_FAR)
    return path


def goodput(scenario, changes):
    return ropewalk.simulate(scenario.with_(changes)).mean["goodput_mbps"]


def test_a_far_link_under_small_buffers_is_left_out(scenario, results):
    assert results.advised == ("near", "next")
    links = results.about("links")
    assert links.settings == {"transport.paths": ["near", "next"]}
    ours = goodput(scenario, links.settings)
    assert links.numbers["goodput_mbps"] == ours
    assert links.numbers["gain_over_all"] == pytest.approx(ours / goodput(scenario, {}) - 1)
    near = goodput(scenario, {"transport.paths": ["near"]})
    assert links.numbers["gain_over_best_single"] == pytest.approx(ours / near - 1)
    assert ours > near > goodput(scenario, {})


def test_with_plenty_of_buffer_two_like_links_are_both_used(scenario):
    plenty = {"transport.receive_buffer": "8 MiB", "transport.send_buffer": "8 MiB"}
    near = {"transport.paths": ["near", "next"]}
    results = ropewalk.advise(scenario.with_(plenty | near))
    assert results.advised == ("near", "next")
    assert results.about("links").settings == {}


def test_a_link_that_adds_nothing_is_not_advised(scenario):
    drop = {"duration": "4 s", "link.next.rate": "40 kbit/s", "transport.paths": ["near", "next"]}
    results = ropewalk.advise(
        scenario.with_(drop | {"transport.receive_buffer": "4 MiB", "link.next.delay": "10 ms"})
    )
    assert results.advised == ("near",)


def test_the_check_ranks_the_advised_links_among_all_subsets(scenario, results):
    goodputs = {
        paths: goodput(scenario, use_paths(scenario, paths))
        for paths in all_subsets(tuple(scenario.paths))
    }
    ordered = sorted(goodputs, key=lambda paths: -goodputs[paths])
    assert results.check.subsets == len(goodputs) == 7
    assert results.check.rank == 1 + ordered.index(results.advised)
    best = goodputs[ordered[0]]
    assert results.check.ratio == goodputs[results.advised] / best
    assert results.check.best.numbers["goodput_mbps"] == best
    assert {each.paths: each.simulated_mbps for each in results.subsets} == goodputs


@pytest.mark.parametrize("seed", range(6))
def test_the_advised_links_are_nearly_the_best_of_all_subsets(seed):
    drawn = random.Random(seed)
    link = '[[link]]\nname = "l{}"\nrate = "{} Mbit/s"\ndelay = "{} ms"\n'
    text = 'duration = "4 s"\n' + "".join(
        link.format(number, drawn.randint(1, 15), drawn.randint(3, 90)) for number in range(5)
    )
    buffer = drawn.choice(["128 KiB", "512 KiB", "2 MiB"])
    text += (
        f'[transport]\nprotocol = "mptcp"\nscheduler = "{drawn.choice(["min-rtt", "weighted"])}"'
    )
    text += f'\nreceive_buffer = "{buffer}"\nsend_buffer = "{buffer}"\n'
    check = ropewalk.advise(ropewalk.Scenario(text), check=True).check
    assert check.subsets == 31
    assert check.ratio >= 0.97


def test_combined_advice_uses_fresh_seeds(scenario):
    lossy = scenario.with_({"link.near.loss": "1 %", "duration": "2 s"})
    present = ropewalk.advise(lossy, seed=3, runs=2).about("together").evidence[0]
    drawn = ropewalk.simulate(lossy, seed=5, runs=2)
    assert present.numbers["goodput_mbps"] == drawn.mean["goodput_mbps"]


def test_the_link_that_harms_is_named_with_its_reason(scenario, results):
    weakest = results.about("weakest")
    rows = {row.what: row for row in weakest.evidence}
    together = goodput(scenario, {})
    without = goodput(scenario, {"transport.paths": ["near", "next"]})
    assert rows["without far"].numbers["adds_mbps"] == together - without
    assert rows["without far"].remarks == ("harms",)
    assert "far" in weakest.answer
    assert "the buffers let 118 KiB wait" in weakest.answer


def test_the_advised_buffers_give_enough_and_a_rung_less_does_not(scenario, results):
    buffers = results.about("buffers")
    most = buffers.numbers["most_mbps"]
    assert goodput(scenario, buffers.settings) == buffers.numbers["goodput_mbps"]
    assert buffers.numbers["goodput_mbps"] >= 0.95 * most
    tried = {
        row.numbers["receive_buffer_bytes"]: row.numbers["goodput_mbps"]
        for row in buffers.evidence
        if "receive_buffer_bytes" in row.numbers
    }
    advised = buffers.numbers["receive_buffer_bytes"]
    smaller = max(size for size in tried if size < advised)
    assert tried[smaller] < 0.95 * most
    assert all(made >= 0.95 * most for size, made in tried.items() if size >= advised)


def test_the_rule_of_thumb_is_twice_all_rates_times_the_longest_round_trip(results):
    buffers = results.about("buffers")
    rates = {"near": 8e6, "next": 6e6, "far": 1e6}
    trips = {"near": 0.020, "next": 0.024, "far": 1.6}
    used = buffers.settings.get("transport.paths", list(rates))
    rule = 2 * sum(rates[name] for name in used) / 8 * max(trips[name] for name in used)
    assert buffers.numbers["rule_of_thumb_bytes"] == pytest.approx(rule)


def test_combined_advice_is_compared_with_the_present(scenario, results):
    together = results.about("together")
    present = next(row for row in together.evidence if row.what == "as it is")
    assert present.numbers["goodput_mbps"] == goodput(scenario, {})
    ours = goodput(scenario, together.settings)
    assert together.numbers["gain_over_present"] == pytest.approx(
        ours / present.numbers["goodput_mbps"] - 1
    )
    assert ours == max(row.numbers["goodput_mbps"] for row in together.evidence)


def test_every_scheduler_and_control_that_the_scenario_may_name_is_tried():
    scenario = ropewalk.Scenario.load(TWO_LINKS).with_({"duration": "2 s"})
    results = ropewalk.advise(scenario, runs=1)
    for question, key in (("scheduler", "scheduler"), ("congestion", "congestion")):
        tried = {row.what for row in results.about(question).evidence}
        allowed = set()
        for name in (each.name for each in ropewalk.algorithms(key)):
            try:
                scenario.with_({f"transport.{key}": name})
            except ropewalk.ScenarioError:
                continue
            allowed.add(name)
        assert tried == allowed
        assert len(tried) > 4


def test_where_others_share_the_bottleneck_a_coupled_control_is_advised():
    text = """
    duration = "8 s"
    [[link]]
    name = "a"
    rate = "4 Mbit/s"
    delay = "5 ms"
    [[link]]
    name = "b"
    rate = "4 Mbit/s"
    delay = "6 ms"
    [[link]]
    name = "core"
    rate = "10 Mbit/s"
    delay = "5 ms"
    [[path]]
    name = "one"
    hops = ["a", "core"]
    [[path]]
    name = "two"
    hops = ["b", "core"]
    [[competitor]]
    path = "core"
    """
    results = ropewalk.advise(ropewalk.Scenario(text))
    assert results.advised == ("one", "two")
    congestion = results.about("congestion")
    declared = ropewalk.algorithms("congestion")
    coupled = {each.name for each in declared if "coupled" in each.tags}
    goodputs = {row.what: row.numbers["goodput_mbps"] for row in congestion.evidence}
    assert congestion.settings["transport.congestion"] == max(coupled, key=goodputs.get)
    assert goodputs["cubic"] > max(goodputs[name] for name in coupled)
    assert "paths share core with others" in congestion.answer
    together = results.about("together").settings
    assert together["transport.congestion"] in coupled


def test_one_link_leaves_little_to_choose():
    text = 'duration = "2 s"\n[[link]]\nname = "dsl"\nrate = "8 Mbit/s"\ndelay = "10 ms"'
    results = ropewalk.advise(ropewalk.Scenario(text))
    assert results.advised == ("dsl",)
    assert {each.question for each in results.advice} == {
        "links",
        "congestion",
        "buffers",
        "together",
    }


def test_tcp_chooses_one_of_all_paths(scenario):
    results = ropewalk.advise(scenario.with_({"transport.protocol": "tcp"}))
    assert results.advised == ("near",)
    assert {len(each.paths) for each in results.subsets} == {1}


def test_links_that_are_down_deliver_nothing_and_are_not_advised(scenario):
    down = {f"link.{name}.down": [["0 s", "9 s"]] for name in scenario.links}
    results = ropewalk.advise(scenario.with_(down))
    assert results.about("links").settings == {}
    assert "No link delivers" in results.about("links").answer
    assert results.about("buffers").settings == {}
    assert "gain_over_all" not in results.about("links").numbers


def test_an_unlimited_link_has_no_buffer_that_is_enough(scenario):
    results = ropewalk.advise(
        scenario.with_({"duration": "1 s", "link.near.rate": "unlimited"}), rate="2 Mbit/s"
    )
    assert "unlimited" in results.about("buffers").answer
    assert "unlimited" in results.about("least-cost").answer


def test_a_stream_that_all_carry_goes_where_its_delay_is_least(scenario):
    stream = {"traffic.kind": "cbr", "traffic.rate": "2 Mbit/s", "duration": "3 s"}
    results = ropewalk.advise(scenario.with_(stream))
    assert results.advised == ("near",)


def test_the_least_cost_is_below_the_plain_one_and_its_bound_is_kept(scenario):
    cheap = {"link.near.cost": 1.0, "link.next.cost": 9.0, "transport.paths": ["near", "next"]}
    results = ropewalk.advise(scenario.with_(cheap), rate="6 Mbit/s", delay="150 ms")
    least = results.about("least-cost")
    split, plain = least.evidence[0].numbers, least.evidence[1].numbers
    assert split["delay_bound_ms"] <= 150 * (1 + 1e-6)
    assert least.numbers["cost"] == split["cost"]
    carried = [split.get(f"split_{name}_mbps", 0.0) for name in ("near", "next")]
    assert split["cost"] == pytest.approx(1.0 * carried[0] + 9.0 * carried[1], rel=1e-4)
    assert sum(carried) >= 6 * 1500 / 1424
    assert least.numbers["plain_cost"] == plain["cost"]


def test_without_prices_nothing_has_a_cost(scenario):
    results = ropewalk.advise(
        scenario.with_({"transport.paths": ["near", "next"], "duration": "1 s"}),
        rate="6 Mbit/s",
        delay="150 ms",
    )
    assert '"cost"' not in json.dumps(results.json())
    least = results.about("least-cost")
    assert "cost" not in least.title + least.answer
    assert any("no link has a cost" in note for note in least.notes)


@pytest.mark.parametrize(
    ("rate", "delay", "said"),
    [
        ("60 Mbit/s", None, "No split carries 60"),
        ("2 Mbit/s", "1 ms", "least attainable bound is"),
    ],
)
def test_impossible_rate_is_reported(scenario, rate, delay, said):
    short = scenario.with_({"duration": "1 s"})
    assert said in ropewalk.advise(short, rate=rate, delay=delay).about("least-cost").answer


def test_the_rate_of_a_stream_is_its_own(scenario):
    stream = {"traffic.kind": "cbr", "traffic.rate": "3 Mbit/s", "duration": "1 s"}
    least = ropewalk.advise(scenario.with_(stream)).about("least-cost")
    assert least.numbers["rate_mbps"] == 3.0


def test_a_subset_is_predicted_as_if_it_were_parsed(scenario):
    predictor = Predictor(scenario)
    for paths in all_subsets(tuple(scenario.paths)):
        parsed = ropewalk.predict(scenario.with_(use_paths(scenario, paths)))
        assert predictor.goodput(paths) == parsed.model(predictor.name).goodput_mbps


def test_many_links_are_searched_greedily():
    link = '[[link]]\nname = "l{0}"\nrate = "{0} Mbit/s"\ndelay = "10 ms"\n'
    text = 'duration = "1 s"\n' + "".join(link.format(number) for number in range(1, 15))
    results = ropewalk.advise(ropewalk.Scenario(text))
    predicted = [each for each in results.subsets if each.predicted_mbps is not None]
    assert 14 <= len(predicted) < 500
    assert "greedy" in " ".join(results.about("links").notes)
    with pytest.raises(ValueError, match="16383 subsets; at most 10"):
        ropewalk.advise(ropewalk.Scenario(text), check=True)


def measured(*goodputs):
    return CandidateResult({}, tuple({"goodput_mbps": each} for each in goodputs))


@pytest.mark.parametrize(
    ("best", "other", "as_good"),
    [
        (measured(10.0), measured(9.95), True),
        (measured(10.0), measured(9.8), False),
        (measured(10.0, 10.1, 10.2), measured(9.8, 9.9, 10.0), False),  # always 2 % less
        (measured(10.0, 10.6, 10.0), measured(10.2, 9.9, 10.0), True),  # by chance
        (measured(10.0, 20.0, 10.0), measured(12.0, 10.0, 12.0), False),  # much, by chance
    ],
)
def test_difference_within_noise_is_as_good(best, other, as_good):
    assert Judge(stream=False).as_good(other, best) == as_good


def test_runs_are_several_only_where_something_is_random(scenario):
    assert Evaluator(scenario, runs=3).runs == 1
    lossy = Evaluator(scenario.with_({"link.near.loss": "1 %", "duration": "3 s"}), runs=3)
    first, again = lossy.measure([{}, {}])
    assert first is again
    assert len({run["goodput_mbps"] for run in first.runs}) == 3
    assert lossy.simulated == 1


@pytest.mark.parametrize(
    ("added", "random"),
    [
        ('[[competitor]]\npath = "near"\ntraffic = { kind = "poisson", rate = "2 Mbit/s" }', True),
        ('[[competitor]]\npath = "near"\ntraffic = { kind = "cbr", rate = "2 Mbit/s" }', False),
        (
            '[[flow]]\nname = "x"\ntraffic = { kind = "video", preset = "live", rate = "2mbit" }',
            True,
        ),
        ('[transport]\nprofile = "mptcp-ns3"\nreordering = "f-rto"', True),
        ('[transport]\nprofile = "mptcp-ns3"\nreordering = "dsack"', False),
        ('[transport]\nprofile = "rfc"\nreordering = "f-rto"', False),
    ],
)
def test_randomness_of_any_flow_counts(added, random):
    links, _, _ = TWO_AND_ONE_FAR.partition("[transport]")
    changed = ropewalk.Scenario(links + added)
    assert is_random(changed) == random
    runs = ropewalk.simulate(changed, runs=3).runs
    assert (len({run["goodput_mbps"] for run in runs}) > 1) == random


def test_the_same_seed_gives_the_same_advice(scenario):
    lossy = scenario.with_({"link.near.loss": "0.5 %", "duration": "2 s"})
    first, second = (ropewalk.advise(lossy, seed=7, runs=2).json() for _ in range(2))
    del first["origin"], second["origin"]
    assert first == second
    assert first["runs"] == 2


def test_json_has_every_answer_with_its_evidence(command, file):
    done = command("advise", file, "--json", "--rate", "2 Mbit/s", "--set", "duration=2s")
    # The far path's data arrive too late for this short run, which gives a warning.
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["engine"] == "advise"
    assert printed["scenario"] == "Two near links and one far"
    assert [each["question"] for each in printed["advice"]][:2] == ["links", "weakest"]
    for each in printed["advice"]:
        assert each["answer"].endswith(".")
        assert "settings" not in each or each["settings"]
        assert "null" not in json.dumps(each)
        assert all("goodput_mbps" in row or "delay_bound_ms" in row for row in each["evidence"])


def test_text_names_the_options_that_follow_the_advice(command, file):
    done = command("advise", file, "--check", "--set", "duration=4s")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Which links, and how many?" in done.stdout
    assert """--set 'transport.paths=["near", "next"]'""" in done.stdout
    assert "of all 7 subsets" in done.stdout


def test_stored_advice_loads(command, file, tmp_path):
    out, picture = tmp_path / "kept", tmp_path / "subsets.svg"
    done = command("advise", file, "--set", "duration=2s", "--out", out, "--plot", picture)
    assert (done.returncode, done.stderr) == (0, "")
    subsets = pl.read_parquet(out / "tables/subsets.parquet")
    assert subsets.height == 7
    evidence = pl.read_parquet(out / "tables/evidence.parquet")
    kept = json.loads((out / "result.json").read_text())
    assert evidence.height == sum(len(each["evidence"]) for each in kept["advice"])
    assert ropewalk.Scenario.load(out / "scenario.toml").duration_s == 2.0
    assert (out / "pictures/advise.png").stat().st_size > 1000
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--rate", "fast"], '--rate "fast": must begin with a number; allowed: a rate'),
        (["--rate", "3"], '--rate "3": must have a unit'),
        (["--delay", "-3 ms", "--rate", "1mbit"], '--delay "-3 ms": must not be negative'),
        (["--delay", "0 ms", "--rate", "1mbit"], '--delay "0 ms": must be greater than zero'),
        (["--delay", "5 ms"], '--delay "5 ms": bulk traffic has no rate'),
        (["--plot", "subsets.gif"], "subsets.gif: a picture's name ends in"),
        (["--out", ROOT / "docs"], "which is not a result of ropewalk"),
        (["--set", 'transport.paths=["none"]'], 'no path or link is called "none"'),
    ],
)
def test_wrong_input_is_one_line_and_status_2(refused, file, arguments, said):
    text = refused("advise", file, *arguments)
    assert said in text
    assert text.count("\n") == 1


def test_every_option_of_advise_is_in_the_guide(command):
    options = re.findall(r"^  (--[a-z-]+)", command("advise", "--help").stdout, re.MULTILINE)
    page = (ROOT / "docs/guide/advise.md").read_text()
    assert len(options) > 5
    assert [option for option in options if option != "--help" and option not in page] == []


def test_advice_over_wireless_names_its_limits():
    scenario = ropewalk.Scenario.load(ROOT / "scenarios/papers/gomez-2014.toml")
    results = ropewalk.advise(scenario, rate="3 Mbit/s", runs=1)
    answers = {advice.question: advice for advice in results.advice}
    assert results.model == "wifi-airtime"
    assert results.advised == ("upper", "lower")
    assert "802.11 channel" in answers["buffers"].answer
    assert answers["buffers"].settings == {}
    assert "802.11 channel" in answers["least-cost"].answer


def test_where_there_are_deadlines_each_link_and_each_deadline_has_its_worth():
    video = ropewalk.Scenario.load(ROOT / "scenarios/video/wifi-lte.toml")
    short = video.with_({"duration": "10 s"})
    advice = {each.question: each for each in ropewalk.advise(short, runs=1).advice}
    # Video frames are no Poisson stream, so that bound does not apply.
    assert "least-cost" not in advice
    found = {row.what: row.numbers for row in advice["deadlines"].evidence}
    assert found["all links"]["late_by_ms"] == 0
    assert found["without lte"]["late_by_ms"] > 100
    assert found["without wifi"]["least_cost"] > 2 * found["all links"]["least_cost"]
    costs = [found[f"within {ms} ms"]["least_cost"] for ms in (200, 400, 800)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]
    assert "Without lte it comes" in advice["deadlines"].answer
