"""Claims of the documentation hold."""

import re
import runpy
import shlex
import subprocess
import sys

import click
import pytest
import typer

import ropewalk
from places import ROOT
from ropewalk.cli import commands, gateway

TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
PAGES = [
    ROOT / "README.md",
    *(
        ROOT / "docs" / f"{name}.md"
        for name in (
            "guide",
            "studies",
            "captures",
            "check",
            "wireless",
            "mesh",
            "reordering",
            "traffic-split",
        )
    ),
    *sorted((ROOT / "docs/guide").glob("*.md")),
    *sorted((ROOT / "docs/tutorials").glob("*.md")),
]
EVERY_PAGE = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


def blocks(language):
    for page in PAGES:
        found = re.findall(
            rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE
        )
        for number, block in enumerate(found, start=1):
            yield pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")


@pytest.mark.parametrize("block", [*blocks("toml")])
def test_a_shown_scenario_is_right(block):
    ropewalk.Scenario(block)


@pytest.mark.parametrize("block", [*blocks("python")])
def test_a_shown_program_runs_in_any_folder(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "shown", "exec"), {})


def without_code(text):
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)


def headings(text):
    """Return the anchors of a page's headings, as on GitHub and in MyST."""
    found = re.findall(r"^#+ (.*)$", without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def test_links_between_pages_lead_somewhere():
    wrong, count = [], 0
    for page in EVERY_PAGE:
        for link in re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text())):
            if link.startswith("http"):
                continue
            count += 1
            path, _, heading = link.partition("#")
            other = (page.parent / path).resolve() if path else page
            there = other.exists() and (not heading or heading in headings(other.read_text()))
            if not there:
                wrong.append(f"{page.relative_to(ROOT)}: {link}")
    assert count > 100
    assert wrong == []


def test_keys_page_matches_the_schema():
    make_keys = runpy.run_path(str(ROOT / "docs/make_keys.py"))
    assert make_keys["PAGE"].read_text() == make_keys["page"](), "run: make docs"


def test_glossary_has_each_term_of_the_scenario_file_and_of_the_gateway():
    schema = ropewalk.schema()["properties"]
    tables = {key for key, each in schema.items() if {"properties", "items"} & set(each)}
    transport, traffic = (schema[table]["properties"] for table in ("transport", "traffic"))
    terms = tables | set(schema["link"]["items"]["properties"]) | set(gateway.VERBS)
    terms |= {*transport["protocol"]["enum"], *traffic["kind"]["enum"]}
    page = re.split(r"\W+", (ROOT / "docs/glossary.md").read_text().replace("-", "_"))
    known = {"name", "from", "to", "count"}  # keys of every table
    assert len(terms) > 30
    assert {term for term in terms if term.replace("-", "_") not in page} - known == set()


def test_guide_lists_differences_of_profiles():
    links = "".join(f'[[link]]\nname = "{name}"\nrate = "9 Mbit/s"\n' for name in "ab")
    in_force = []
    for profile in ("linux", "ns-3", "rfc"):
        text = f'{links}[transport]\nprofile = "{profile}"\nprotocol = "mptcp"\n'
        settings = ropewalk.explain(ropewalk.Scenario(text)).settings
        in_force.append({each.key: each.value for each in settings if each.table == "transport"})
    page = (ROOT / "docs/guide/transport.md").read_text().partition("## Profiles")[2]
    rows = re.findall(r"^\| (`.*) \| (.*) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    note = {key: row[1:] for row in rows for key in re.findall(r"`([a-z_]+)`", row[0])}
    differing = {key for key in in_force[0] if len({each[key] for each in in_force}) > 1}
    differing.remove("profile")
    assert differing <= set(note)
    for key in differing:
        for each, cell in zip(in_force, note[key], strict=True):
            assert each[key] in cell, key


def test_every_option_of_simulate_is_in_the_guide(command):
    options = re.findall(r"^  (--[a-z-]+)", command("simulate", "--help").stdout, re.MULTILINE)
    page = (ROOT / "docs/guide/command.md").read_text()
    assert len(options) > 5
    assert [option for option in options if option not in page] == []


def test_every_key_of_the_results_is_in_the_guide(results):
    page = (ROOT / "docs/guide/results.md").read_text()
    run = results.runs[0]
    keys = {*run, *run["delay_ms"], *run["reordering"], *run["links"][0], *run["subflows"][0]}
    keys |= {*run["stats"], *run["reordering"]["metrics"]}
    assert [key for key in sorted(keys) if key not in page] == []


def test_every_key_of_the_gateways_status_is_on_its_page():
    source = (ROOT / "crates/gateway/src/status/document.rs").read_text()
    keys = set(re.findall(r"^    pub (\w+): ", source, re.MULTILINE))
    page = set(re.findall(r"\w+", (ROOT / "docs/gateway/status.md").read_text()))
    assert len(keys) > 40
    assert keys - page == set()


def test_the_readme_shows_the_columns_of_the_gateways_status():
    source = (ROOT / "crates/gateway/src/status/table.rs").read_text()
    columns = source.partition("LINK_COLUMNS")[2].partition("];")[0]
    known = re.findall(r'\b(text|number|optional)\("([^"]+)"', columns)
    (heads,) = re.findall(r"^ +(link  .*)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    shown = re.split(r" {2,}", heads)
    assert [head for _, head in known if head in shown] == shown
    assert {head for kind, head in known if kind != "optional"} <= set(shown)


def test_every_option_of_study_is_in_its_page(command):
    options = re.findall(r"^  (--[a-z0-9-]+)", command("study", "--help").stdout, re.MULTILINE)
    page = (ROOT / "docs/studies.md").read_text()
    known = {"--json", "--set", "--help", "--out"}  # options of every verb
    assert len(options) > 8
    assert [option for option in options if option not in page and option not in known] == []


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorials_show_current_output(page, tmp_path):
    tutorials = runpy.run_path(str(ROOT / "docs/make_tutorials.py"))
    text = page.read_text()
    assert tutorials["renewed"](text, tmp_path) == text, "run: make docs"
    pictures = re.findall(r"images/tutorials/([\w-]+\.png)", text)
    assert pictures
    for picture in pictures:
        assert (tmp_path / picture).exists()
        assert (tutorials["PICTURES"] / picture).exists(), "run: make docs"


def test_each_picture_has_its_command():
    pictures, silent = 0, []
    for page in EVERY_PAGE:
        for picture, next_words in re.findall(
            r"^!\[[^\]]*\]\(([^)]+)\)\n+(.*)", page.read_text(), re.MULTILINE
        ):
            pictures += 1
            if not re.match(r"Made by (`(make|ropewalk|python) |these lines:)", next_words):
                silent.append(f"{page.name}: {picture}")
    assert pictures > 30
    assert silent == []


def shown_commands():
    """Yield the commands of code blocks without shell syntax."""
    for page in EVERY_PAGE:
        text = page.read_text().replace("\\\n", " ")
        for line in re.findall(r"^(?:    |\$ )?(?:\S*/)?ropewalk (.*)", text, re.MULTILINE):
            words = shlex.split(line, comments=True)
            ends = [words.index(word) for word in words if word in {"|", ">", "&&", "&"}]
            ends += [at + 1 for at, word in enumerate(words) if word.endswith(";")]
            words = [word.rstrip(";") for word in words[: min(ends, default=None)]]
            if words and words[0] not in gateway.VERBS:
                yield pytest.param(words, id=f"{page.stem}: {line[:60]}")


@pytest.mark.parametrize("words", [*shown_commands()])
def test_a_shown_command_is_one(words):
    group = typer.main.get_command(commands.application())
    _, verb, arguments = group.resolve_command(click.Context(group), commands._verb_first(words))
    verb.make_context(verb.name, arguments)


def test_the_site_of_pages_is_made_without_a_warning(tmp_path):
    for name in ("sphinx", "furo", "myst_parser", "numpydoc"):
        pytest.importorskip(name, reason="missing: pip install 'ropewalk[docs]'")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", ROOT / "docs", tmp_path]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "index.html").exists()
