"""What the documents show is so."""

import re
import runpy

import pytest

import ropewalk
from places import ROOT

PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "guide",
            "studies",
            "captures",
            "wireless",
            "mesh",
            "reordering",
            "traffic-split",
        )
    ),
]


def blocks(language):
    for page in PAGES:
        found = re.findall(
            rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
        )
        for number, block in enumerate(found, start=1):
            yield pytest.param(block, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("block", [*blocks("toml")])
def test_a_shown_scenario_is_right(block):
    ropewalk.Scenario(block)


@pytest.mark.parametrize("block", [*blocks("python")])
def test_a_shown_program_runs(block, tmp_path, monkeypatch):
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "shown", "exec"), {})


def test_the_page_of_keys_is_what_the_schema_says():
    make_keys = runpy.run_path(str(ROOT / "docs/make_keys.py"))
    assert make_keys["PAGE"].read_text() == make_keys["page"](), "run: make docs"


def test_every_option_of_simulate_is_in_the_guide(command):
    options = re.findall(r"^  (--[a-z-]+)", command("simulate", "--help").stdout, re.MULTILINE)
    guide = (ROOT / "docs/guide.md").read_text()
    assert len(options) > 5
    assert [option for option in options if option not in guide] == []


def test_every_key_of_the_results_is_in_the_guide(results):
    guide = (ROOT / "docs/guide.md").read_text()
    run = results.runs[0]
    keys = {*run, *run["delay_ms"], *run["reordering"], *run["links"][0], *run["subflows"][0]}
    keys |= {*run["stats"], *run["reordering"]["metrics"]}
    assert [key for key in sorted(keys) if key not in guide] == []


def test_every_option_of_sweep_is_in_its_page(command):
    options = re.findall(r"^  (--[a-z0-9-]+)", command("sweep", "--help").stdout, re.MULTILINE)
    page = (ROOT / "docs/studies.md").read_text()
    known = {"--json", "--set", "--help", "--out"}  # as everywhere
    assert len(options) > 8
    assert [option for option in options if option not in page and option not in known] == []
