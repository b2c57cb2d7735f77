"""The JSON Schema of results is valid for each verb, and rejects unknown keys."""

import json
import runpy

import jsonschema
import pytest

import ropewalk
from conftest import RESULTS, check_results
from places import ROOT, TWO_LINKS
from ropewalk.output import storage

VERBS = {
    "simulate": ["simulate", TWO_LINKS, "--runs", "2"],
    "predict": ["predict", TWO_LINKS],
    "compare": ["compare", TWO_LINKS, "--ways", "predict,simulate"],
    "advise": ["advise", TWO_LINKS, "--set", "duration=1s"],
    "explain": ["explain", TWO_LINKS],
    "mesh": ["mesh", "--nodes", "40", "--graphs", "5"],
    "sweep": ["study", TWO_LINKS, "--vary", "duration=1s,2s"],
    "reproduce": ["reproduce", "song-2018", "fig10"],
}


@pytest.mark.parametrize("engine", VERBS)
def test_output_of_each_verb_matches_the_schema(command, engine):
    done = command(*VERBS[engine], "--json")
    assert done.returncode == 0, done.stderr
    assert check_results(done.stdout) == [engine]


def test_item_list_and_single_run_match_the_schema(command):
    assert check_results(command("reproduce", "--json").stdout) == ["reproduce"]
    assert check_results(command("simulate", TWO_LINKS, "--json").stdout) == ["simulate"]


def test_stored_object_matches_the_schema(results, tmp_path):
    storage.keep(results, tmp_path / "kept")
    assert check_results(json.dumps(json.loads((tmp_path / "kept/result.json").read_text())))


def test_unknown_key_and_wrong_type_are_refused(results):
    known = results.json()
    RESULTS.validate(known)
    for wrong in (
        known | {"speed": 3},
        known | {"seed": "5"},
        known | {"runs": [known["runs"][0] | {"goodput_mbps": None}]},
        known | {"engine": "guess"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            RESULTS.validate(wrong)


def test_command_prints_the_schema_of_results(command):
    done = command("schema", "results")
    assert json.loads(done.stdout) == ropewalk.results_schema()
    assert json.loads(command("schema").stdout) == ropewalk.schema()
    assert command("schema", "nothing").returncode == 2


def test_page_of_results_has_the_tables_of_the_schema():
    results_page = runpy.run_path(str(ROOT / "docs/make_keys.py"))["results_page"]
    page = (ROOT / "docs/guide/results.md").read_text()
    assert results_page(page) == page, "run: make docs"
    assert page.count("<!-- keys: ") == 7
