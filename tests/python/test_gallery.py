"""The gallery: twelve studies with valid files and generated reports."""

import runpy
import shlex

import pytest

import ropewalk
from browser import found, page
from places import READY, ROOT
from ropewalk.analysis.study.definition import load

GALLERY = runpy.run_path(str(ROOT / "docs/make_gallery.py"))
STUDIES = {each["name"]: each for each in GALLERY["studies"]()}


def files():
    """Yield the scenarios and studies named in the commands."""
    words = [word for each in STUDIES.values() for word in shlex.split(" ".join(each["commands"]))]
    return {ROOT / word for word in words if word.startswith("scenarios/")}


def _is_study(file):
    return file.match("*.study.toml")


def test_there_are_twelve_each_with_words_and_commands():
    assert len(STUDIES) == 12
    assert all(each["title"] and each["shows"] and each["commands"] for each in STUDIES.values())


def test_gallery_list_and_files_match():
    assert [file for file in files() if not file.is_file()] == []
    folder = ROOT / "scenarios/gallery"
    studied = {file.parent / load(file).scenario.name for file in files() if _is_study(file)}
    used = {file.resolve() for file in files() | studied}
    assert {file.resolve() for file in folder.glob("*.toml")} - used == set()


@pytest.mark.parametrize("file", sorted(filter(_is_study, files())), ids=lambda file: file.stem)
def test_its_studies_are_right(file):
    assert load(file).count > 2


def test_its_scenarios_are_ready_ones():
    scenarios = {file for file in files() if not _is_study(file)}
    assert scenarios <= set(READY)
    for scenario in (file for file in READY if file.parent.name == "gallery"):
        assert ropewalk.Scenario.load(scenario).title


def test_gallery_page_matches_the_list():
    assert (ROOT / "docs/gallery.md").read_text() == GALLERY["page"](), "run: make docs"


def test_a_study_makes_its_report_and_the_index_leads_to_it(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    chosen = [STUDIES["fairness"], STUDIES["outage"]]
    reports = [GALLERY["make"](each, tmp_path / "gallery") for each in chosen]
    assert [report.stat().st_size < 5e6 for report in reports] == [True, True]
    assert reports[1].read_text().count("<section id=") == 2, "one for each command"
    index = GALLERY["index"](chosen, tmp_path / "gallery")
    if found() is None:
        pytest.skip("this machine has no browser: make browser, or apt install chromium")
    with page(tmp_path / "browser") as opened:
        opened.open(index)
        links = "[...document.querySelectorAll('main a')].map(each => each.href)"
        assert opened.value(links) == [report.as_uri() for report in reports]
        opened.open(reports[0])
        assert opened.complaints == []
        assert opened.value("document.querySelectorAll('figure.chart svg').length") == 1
