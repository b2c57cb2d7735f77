"""Scenarios in Python: load, change, copy elsewhere."""

import pickle
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ropewalk
from places import ROOT
from ropewalk.scenario import toml_value

TRACES = ROOT / "scenarios/start/wifi-lte-traces.toml"


def test_load_reads_the_file(two_links):
    assert two_links.title == "Two unequal links"
    assert two_links.links == ["dsl", "cable"]
    assert two_links.paths == ["dsl", "cable"]
    assert two_links.duration_s == 30.0
    assert two_links.warmup_s == 0.0
    assert two_links.capacity_mbps == pytest.approx(66.0)


def test_a_change_leaves_the_original_alone(two_links):
    changed = two_links.with_({"link.dsl.rate": "4 Mbit/s"})
    assert changed.capacity_mbps == pytest.approx(54.0)
    assert two_links.capacity_mbps == pytest.approx(66.0)
    assert changed.with_({"link.cable.rate": "6 Mbit/s"}).capacity_mbps == pytest.approx(10.0)


def test_change_of_unknown_key_suggests_a_key(two_links):
    with pytest.raises(ropewalk.ScenarioError, match='did you mean "delay"'):
        two_links.with_({"link.dsl.dely": "4 ms"})


def test_values_that_are_no_text_are_taken(two_links):
    changed = two_links.with_(
        {
            "transport.sack": False,
            "transport.subflows_per_path": 2,
            "link.dsl.cost": 2.5,
            "link.dsl.down": [["1 s", "2 s"]],
            "link.dsl.loss": {"model": "gilbert-elliott", "p": "1 %", "r": "30 %"},
        }
    )
    used = tomllib.loads(changed.effective())
    assert used["transport"] == {"protocol": "mptcp", "sack": False, "subflows_per_path": 2}
    assert used["link"][0]["cost"] == 2.5
    assert used["link"][0]["down"] == [["1 s", "2 s"]]
    assert used["link"][0]["loss"] == {"model": "gilbert-elliott", "p": "1 %", "r": "30 %"}


VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cc", "Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.from_regex("[a-z]+", fullmatch=True), inner, max_size=4)
    ),
)


@given(VALUES)
def test_a_spelled_value_reads_back(value):
    # A top-level text is unquoted, as for --set. In a list it is quoted.
    assert tomllib.loads(f"value = {toml_value([value])}")["value"] == [value]


def test_the_effective_scenario_is_the_changed_one(two_links):
    changed = two_links.with_({"link.dsl.delay": "50 ms", "duration": "5 s"})
    again = ropewalk.Scenario(changed.effective())
    first, second = ropewalk.simulate(changed).runs[0], ropewalk.simulate(again).runs[0]
    del first["stats"]["wall_s"], second["stats"]["wall_s"]
    assert first == second


def test_a_pickled_scenario_carries_its_traces(tmp_path, monkeypatch):
    for name in ("wifi.down", "wifi.up", "lte.down", "lte.up"):
        (tmp_path / "traces").mkdir(exist_ok=True)
        (tmp_path / "traces" / name).write_text((TRACES.parent / "traces" / name).read_text())
    (tmp_path / "traced.toml").write_text(TRACES.read_text())
    carried = pickle.dumps(ropewalk.Scenario.load(tmp_path / "traced.toml"))
    for file in (tmp_path / "traces").iterdir():
        file.unlink()
    restored = pickle.loads(carried)
    assert restored.links == ["wifi", "lte"]
    assert restored.with_({"duration": "1 s"}).duration_s == 1.0


def test_traces_of_one_name_are_kept_apart(tmp_path):
    for folder, line in (("a", "5\n"), ("b", "6\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "link.down").write_text(line)
    text = """
        [[link]]
        name = "one"
        trace = "a/link.down"
        reverse = { trace = "b/link.down" }
        [[link]]
        name = "two"
        trace = "b/link.down"
    """
    text, traces = ropewalk.Scenario(text, folder=tmp_path).self_contained()
    assert sorted(traces.values()) == ["5\n", "6\n"]
    one, two = tomllib.loads(text)["link"]
    assert traces[one["trace"]] == "5\n"
    assert traces[one["reverse"]["trace"]] == traces[two["trace"]] == "6\n"


def test_traces_are_found_next_to_the_scenario(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert ropewalk.Scenario.load(TRACES).capacity_mbps == pytest.approx(18.5, abs=0.5)


def test_an_interrupt_while_a_trace_is_read_is_not_an_error_of_the_scenario(monkeypatch):
    def interrupted(file, bytes_max):
        if file.name.endswith(".toml"):
            return TRACES.read_bytes()
        raise KeyboardInterrupt

    monkeypatch.setattr("ropewalk.scenario.scenario._read_bounded", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ropewalk.Scenario.load(TRACES)


def test_capacity_is_absent_if_not_a_sum():
    text = """
        [[link]]
        name = "a"
        rate = "8 Mbit/s"
        [[link]]
        name = "b"
        rate = "4 Mbit/s"
        [[path]]
        name = "both"
        hops = ["a", "b"]
    """
    assert ropewalk.Scenario(text).capacity_mbps is None


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        ropewalk.Scenario.load(tmp_path / "none.toml")
