"""Contributors' pages and the forge's workflow match the project; there is one version."""

import re
import runpy
import shutil

import pytest

from places import ROOT

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
FORGE = sorted((ROOT / ".github").rglob("*.yml"))
PAGES = [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "docs/api/rust.md")]


@pytest.fixture(scope="module")
def version():
    return runpy.run_path(str(ROOT / "packaging/version.py"))


@pytest.mark.parametrize("page", [*PAGES, *FORGE], ids=lambda page: page.name)
def test_every_make_target_that_a_page_names_exists(page):
    named = set(re.findall(r"(?:`|run: )make ([a-z-]+)", page.read_text()))
    assert named - TARGETS == set()


def test_workflow_runs_each_check_of_the_contributors_page():
    workflow = (ROOT / ".github/workflows/check.yml").read_text()
    table = (ROOT / "CONTRIBUTING.md").read_text().partition("## Test")[2].partition("## ")[0]
    commands = set(re.findall(r"^\| `(make [^`]+)`", table, re.MULTILINE))
    assert len(commands) > 5
    # .ci/run has these two, and the forge has the advisories' database.
    run = workflow.replace("bash .ci/run", "make lint make test").replace(" ADVISORIES=1", "")
    assert [command for command in commands if command not in run] == []


@pytest.mark.parametrize("file", FORGE, ids=lambda file: file.name)
def test_forge_files_are_yaml(file):
    yaml = pytest.importorskip("yaml", reason="missing: pip install pyyaml")
    assert yaml.safe_load(file.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_of_the_contributors_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text())
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_library_examples_run_as_tests():
    page = (ROOT / "docs/api/rust.md").read_text()
    named = re.findall(r"crates/(\w+)/examples/(\w+)\.rs", page)
    assert len(named) == 3
    for crate, example in named:
        manifest = (ROOT / "crates" / crate / "Cargo.toml").read_text()
        assert f'[[example]]\nname = "{example}"\ntest = true' in manifest
        assert "#[test]" in (ROOT / f"crates/{crate}/examples/{example}.rs").read_text()


def test_version_is_the_same_in_every_file(version):
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", version["current"]())


def test_version_is_set_in_every_file_and_a_forgotten_one_is_named(version, tmp_path):
    for name in version["PLACES"]:
        shutil.copy(ROOT / name, tmp_path)
    before = version["found"](tmp_path)
    version["set_everywhere"]("7.8.9", tmp_path)
    assert version["current"](tmp_path) == "7.8.9"
    assert set(before) == {"Cargo.toml", "Cargo.lock", "CITATION.cff"}
    shutil.copy(ROOT / "CITATION.cff", tmp_path)
    with pytest.raises(SystemExit, match=r"has version 7\.8\.9, but CITATION\.cff: "):
        version["current"](tmp_path)
