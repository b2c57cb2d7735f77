"""Tables and pictures of very many links and flows stay readable."""

import io

import pytest
import rich.console

import ropewalk
from ropewalk.output import plot
from ropewalk.output.tables.runs import table

USERS = 70


@pytest.fixture(scope="module")
def many():
    text = f"""
        duration = "1 s"
        [[link]]
        name = "access"
        count = {USERS}
        rate = "2 Mbit/s"
        delay = "5 ms"
        queue = "20 packets"
        [[link]]
        name = "trunk"
        rate = "1 Gbit/s"
        delay = "5 ms"
        [[path]]
        name = "up"
        count = {USERS}
        hops = ["access-*", "trunk"]
        [[flow]]
        name = "user"
        protocol = "tcp"
        paths = ["up-*"]
        in_turn = true
        count = {USERS}
    """
    return ropewalk.simulate(ropewalk.Scenario(text), step="100 ms")


def test_a_table_shows_the_first_and_the_last(many):
    text = io.StringIO()
    rich.console.Console(file=text, width=100).print(table(many))
    lines = text.getvalue().splitlines()
    rows = [line.split()[0] for line in lines if line.split()[:1] and "access-" in line]
    assert rows == [f"access-{number}" for number in [*range(1, 49), *range(56, USERS + 1)]]
    assert any("7 more" in line for line in lines)
    assert any(line.split()[:1] == ["trunk"] for line in lines)
    assert len(many.json()["links"]) == USERS + 1


def test_flows_with_a_count_are_one_area_of_the_picture(many):
    handles, _ = plot.flows(many).axes[0].get_legend_handles_labels()
    assert len(handles) == 1


def test_prediction_is_limited_by_own_narrowest_link(many):
    frame = many.connection
    first = frame.filter(frame["flow"] == frame["flow"][0])
    assert set(first["capacity_mbps"]) == {2.0}


def test_no_formula_takes_turns():
    scenario = ropewalk.Scenario(
        '[[link]]\nname = "a"\ncount = 2\nrate = "1 Mbit/s"\n'
        '[[flow]]\nname = "f"\nprotocol = "tcp"\npaths = ["a-*"]\nin_turn = true\ncount = 2\n'
    )
    reasons = ropewalk.predict(scenario).json()
    assert "one path each" in str(reasons)
