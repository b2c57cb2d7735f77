"""Coverage of the papers: the list of statements, their states, the command and the page."""

import json
import re
import runpy
import sys

import pytest

import ropewalk
from places import ROOT
from ropewalk.analysis.coverage import distance, farthest
from ropewalk.output import storage
from ropewalk.output.tables.coverage import cells, warnings
from ropewalk.papers import ComparedValue, Reproduction, Statement, api
from ropewalk.papers.coverage import covered, make, statements

ITEMS = {(item.paper, item.name): item for item in api.items()}
SHOWN = [each for each in statements() if each.item]
TESTED = [each for each in statements() if each.test]


def name(statement):
    return f"{statement.paper} {statement.number}"


@pytest.fixture(scope="module")
def made():
    """Make all items without simulations of many runs."""
    return [make(item) for item in api.items() if item.runs is None]


def reproduction(*rows, paper="song-2018", item="fig9"):
    """Return a reproduction with the given rows."""
    return Reproduction(paper, item, "title", "source", rows, lambda: None)


def statement(**fields):
    """Return a statement about fig9, unless told otherwise."""
    shown = {"item": "fig9"} if not {"test", "not_here"} & fields.keys() else {}
    known = {"paper": "song-2018", "number": 1, "kind": "claim", "where": "section 1"}
    return Statement(**{**known, "statement": "text", **shown, **fields})


def test_all_papers_have_statements_of_each_kind():
    papers = {item.paper for item in api.items()}
    for paper in papers:
        kinds = {each.kind for each in statements(paper)}
        assert kinds == {"mechanism", "equation", "experiment", "figure", "claim"}
    assert {each.paper for each in statements()} == papers
    assert len(statements()) > 193


def test_statements_are_distinct_sentences_with_a_place():
    texts = [(each.paper, each.statement, each.where) for each in statements()]
    assert len(set(texts)) == len(texts)
    for each in statements():
        assert re.search(r"[A-Z0-9(].*[.]$", each.statement), name(each)
        assert re.match(r"abstract$|(sections?|figure|table|equation) ", each.where), name(each)


@pytest.mark.parametrize("each", SHOWN, ids=name)
def test_statement_names_an_item(each):
    assert (each.paper, each.item) in ITEMS


@pytest.mark.parametrize("each", TESTED, ids=name)
def test_statement_names_a_test(each):
    file, _, function = each.test.partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"\b(def|fn) {function}\b", text), each.test


def test_patterns_match_rows_of_items_without_simulations(made):
    found = covered(statements(), made).statements
    assert [each for each in found if each.state == "no row"] == []


def test_rows_of_items_without_simulations_belong_to_statements(made):
    assert covered(statements(), made).unclaimed == ()


def test_state_is_computed_from_the_rows():
    good = ComparedValue("good", 1.0, published=1)
    bad = ComparedValue("bad", 2.0, published=1, reason="the links are slow")
    plain = ComparedValue("plain", 3.0)

    def state(*rows, **fields):
        return covered([statement(**fields)], [reproduction(*rows)]).statements[0].state

    assert state(good) == state(good, plain) == state(good, bad, rows=("go*",)) == "met"
    assert state(good, bad) == state(bad, plain) == "not met"
    assert state(plain) == "shown"
    assert state(good, rows=("x*",)) == "no row"
    assert state(test="file::name") == "tested"
    assert state(not_here="no radio") == "not here"
    assert state(good, item="fig10") == "no result"
    assert state(good, item="fig99") == "no item"


def test_reason_is_that_of_the_farthest_row():
    near = ComparedValue("near", 1.2, published=1, reason="near")
    far = ComparedValue("far", 9.0, published=1, reason="far")
    good = ComparedValue("good", 1.0, published=1, reason="none is needed")
    (found,) = covered([statement()], [reproduction(good, near, far)]).statements
    assert found.reason == "far"
    assert next(cells([found]))[4:] == ("", "1 of 3 rows met", "not met", "1")
    (found,) = covered([statement()], [reproduction(good)]).statements
    assert found.reason is None


def test_rows_without_statement_and_missing_results_are_reported():
    rows = ComparedValue("a", 1.0, published=1), ComparedValue("b", 1.0), ComparedValue("c", 1.0)
    listed = [statement(rows=("x*",)), statement(number=2, item="fig10")]
    found = covered(listed, [reproduction(*rows)])
    assert found.missing == (("song-2018", "fig10"),)
    assert found.unclaimed == (("song-2018", "fig9", "a"),)
    assert len(found.faults) == 1
    assert list(warnings(found)) == [
        "no result of song-2018 fig10",
        "song-2018 1, fig9: no row matches 'x*'",
        "song-2018 fig9: no statement has 1 row, such as 'a'",
    ]


def test_rows_of_other_readings_belong_to_no_statement():
    rows = [ComparedValue(f"S1 NoPR, {over}", 1.0, published=1) for over in ("radios", "wires")]
    made = [reproduction(*rows, paper="alheid-2016", item="table3")]
    found = covered([statement(paper="alheid-2016", item="table4")], made)
    assert found.unclaimed == (("alheid-2016", "table3", "S1 NoPR, radios"),)


def test_distance_is_in_half_widths_of_the_band():
    assert distance(ComparedValue("a", 1.05, published=1)) == 0
    assert distance(ComparedValue("a", 1.3, published=1)) == pytest.approx(2)
    assert distance(ComparedValue("a", 5.0, published="at most 2", band=(None, 2))) == 15
    assert distance(ComparedValue("a", 0.0, published="above 2", band=(2, None))) == 10
    assert distance(ComparedValue("a", 1.0)) is None
    assert distance(ComparedValue("a", "no", published="yes", holds=False)) is None
    rows = [("x", ComparedValue("a", value, published=1)) for value in (1.0, 1.3, 5.0)]
    assert [row.ours for _, row, _ in farthest(rows)] == [5.0, 1.3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Store two items of Song et al. 2018 as ``--out`` does."""
    top = tmp_path_factory.mktemp("stored")
    for item in ("fig9", "fig10"):
        storage.keep(ropewalk.reproduce("song-2018", item), top / "song" / item)
    return top


def test_stored_results_are_read_from_subfolders(folder, tmp_path):
    found = ropewalk.coverage("song-2018", folder=folder)
    states = {item: {each.state for each in found.statements if each.statement.item == item}
              for item in ("fig6", "fig9")}  # fmt: skip
    assert {"met", "not met"} <= states["fig9"]
    assert states["fig6"] == {"no result"}
    assert ("song-2018", "fig6") in found.missing
    assert ("song-2018", "fig9") not in found.missing
    assert sum(found.counts().values()) == 2 * len(statements("song-2018"))
    assert ropewalk.coverage("park-2014", folder=folder).counts()["met"] == 0
    with pytest.raises(FileNotFoundError, match="no such folder"):
        ropewalk.coverage(folder=tmp_path / "x")
    with pytest.raises(ValueError, match="seed = 3: only without a folder"):
        ropewalk.coverage(folder=folder, seed=3)
    with pytest.raises(ValueError, match="did you mean song-2018"):
        ropewalk.coverage("song2018", folder=folder)


def test_two_results_of_one_item_are_refused(tmp_path):
    made = ropewalk.reproduce("song-2018", "fig10")
    for name in ("one", "two"):
        storage.keep(made, tmp_path / name)
    with pytest.raises(ValueError, match=r"one and .*two: both hold song-2018 fig10"):
        ropewalk.coverage("song-2018", folder=tmp_path)


def test_command_reads_results_and_prints_states(command, folder):
    done = command("reproduce", "song-2018", "--coverage", "--from", folder)
    faults = ropewalk.coverage("song-2018", folder=folder).faults
    assert done.returncode == bool(faults), done.stderr
    assert "not met" in done.stdout
    assert "warning: no result of song-2018 " in done.stdout
    assert "Traceback" not in done.stderr
    found = command("reproduce", "song-2018", "--coverage", "--from", folder, "--json")
    printed = json.loads(found.stdout)
    assert len(printed["statements"]) == len(statements("song-2018"))
    assert printed["papers"][0]["statements"] == len(statements("song-2018"))
    assert "song-2018 fig6" in printed["missing"]
    assert "warning: no result of" in found.stderr
    shown = [each for each in printed["statements"] if each["state"] in ("met", "not met")]
    assert all(each["rows"] for each in shown)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("song-2018", "fig9", "--coverage"), "--coverage: takes a paper, not its items (fig9)"),
        (("song-2018", "--from", "x"), "--from x: only with --coverage"),
        (("--coverage", "--from", "/nowhere"), "/nowhere: no such folder"),
        (("--coverage", "--from", ".", "--seed", "1"), "--seed 1: not with --from"),
        (("--coverage", "--plot", "x.png"), "--plot x.png: not with --coverage"),
        (("song2018", "--coverage"), "did you mean song-2018?"),
    ],
    ids=["items", "alone", "no folder", "seed", "plot", "paper"],
)
def test_wrong_options_of_coverage_are_refused(refused, arguments, said):
    assert said in refused("reproduce", *arguments)


def test_command_makes_items_and_stores_them(tmp_path, monkeypatch, capsys):
    from ropewalk.cli import coverage

    fig10 = "song-2018", "fig10"
    monkeypatch.setattr(coverage, "items_of", lambda paper: [ITEMS[fig10]])
    listed = [statement(item="fig10"), statement(number=2, test="file::name")]
    monkeypatch.setattr(coverage, "statements", lambda paper: listed)
    options = {"as_json": True, "seed": None, "runs": None, "folder": None}
    coverage.print_coverage("song-2018", out=tmp_path / "kept", **options)
    printed = json.loads(capsys.readouterr().out)
    assert (tmp_path / "kept/song-2018/fig10/result.json").exists()
    assert [each["state"] for each in printed["statements"]] == ["not met", "tested"]
    assert printed["missing"] == printed["unclaimed"] == []


def test_coverage_makes_the_items_of_a_paper(monkeypatch):
    home = sys.modules["ropewalk.papers.coverage"]
    monkeypatch.setattr(home, "items_of", lambda paper: [ITEMS["song-2018", "fig10"]])
    calls = []
    found = ropewalk.coverage("song-2018", runs=3, progress=lambda *of: calls.append(of))
    assert calls == [(1, 1)]
    assert ("song-2018", "fig10") not in found.missing
    assert "met" in {each.state for each in found.of("song-2018")}


def test_page_lists_all_statements():
    script = runpy.run_path(str(ROOT / "docs/make_reproductions.py"))
    text = script["COVERAGE"].read_text()
    for each in statements():
        assert f"| {each.number} | {each.statement} | {each.where} |" in text, name(each)
