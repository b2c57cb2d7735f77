"""Origin of results, and results loaded from a folder or a pickle."""

import json
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk import provenance

SHORT = ("--set", "duration=1s")
VERBS = {
    "simulate": ("simulate", TWO_LINKS, *SHORT, "--runs", 2),
    "predict": ("predict", TWO_LINKS, *SHORT),
    "compare": ("compare", TWO_LINKS, *SHORT, "--ways", "predict,simulate"),
    "advise": ("advise", TWO_LINKS, *SHORT),
    "mesh": ("mesh", "--nodes", "32", "--graphs", 5, "--deployments", 2),
    "reproduce": ("reproduce", "song-2018", "fig10"),
}
ALWAYS = {"version", "date", "command", "machine", "wall_s"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A results folder of each verb, with its output."""
    made = {}
    for verb, arguments in VERBS.items():
        folder = tmp_path_factory.mktemp("kept") / verb
        program = [Path(sys.executable).with_name("ropewalk"), *map(str, arguments)]
        done = subprocess.run(
            [*program, "--json", "--out", folder],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        made[verb] = (folder, json.loads(done.stdout))
    return made


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_stores_its_origin(kept, verb):
    folder, printed = kept[verb]
    text = printed["origin"]
    assert text.keys() >= ALWAYS
    assert text["version"] == ropewalk.__version__
    assert text["command"].startswith(f"ropewalk {verb}")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text["date"])
    assert text["wall_s"] > 0
    if verb != "reproduce":
        # As run, with the changes of --set.
        assert ropewalk.Scenario(text["scenario"]).title == printed["scenario"]
        assert ("1s" in text["scenario"]) == (verb != "mesh")
    assert json.loads((folder / "result.json").read_text()) == printed


@pytest.mark.parametrize("verb", VERBS)
def test_every_folder_has_the_same_layout(kept, verb):
    folder, _ = kept[verb]
    there = {entry.name for entry in folder.iterdir()}
    assert {"result.json", "tables"} <= there
    assert there <= {
        "result.json", "scenario.toml", "tables", "pictures", "scenarios", "traces", "nodes.csv",
        "deployments",
    }  # fmt: skip
    assert all(file.suffix == ".parquet" for file in (folder / "tables").iterdir())
    assert "pictures" in there
    assert ("scenario.toml" in there) == (verb != "reproduce")


@pytest.mark.parametrize("verb", VERBS)
def test_a_folder_is_read_back(kept, verb):
    folder, printed = kept[verb]
    again = ropewalk.load(folder)
    assert again.json() == printed
    assert again.origin.command == printed["origin"]["command"]
    assert pickle.loads(pickle.dumps(again)).json() == printed


def test_read_back_results_are_drawn_as_the_first_ones(results, tmp_path):
    from ropewalk.output.storage import keep

    first = keep(results, tmp_path / "first")
    again = keep(ropewalk.load(tmp_path / "first"), tmp_path / "again")
    assert [file.name for file in first] == [file.name for file in again]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_pickled_results_have_the_same_frames(results):
    again = pickle.loads(pickle.dumps(results))
    for name in ("summary", "links", "subflows", "timeline", "connection", "delays", "reordering"):
        assert getattr(again, name).equals(getattr(results, name)), name
    assert again.runs == results.runs
    assert again.mean == results.mean
    assert again.origin == results.origin


def test_flows_are_read_back_with_their_names(tmp_path):
    from ropewalk.output.storage import keep

    three = ropewalk.Scenario.load(ROOT / "scenarios/start/three-flows.toml", [("duration", "4s")])
    results = ropewalk.simulate(three, step="200 ms")
    keep(results, tmp_path / "kept")
    again = ropewalk.load(tmp_path / "kept")
    for name in ("flows", "link_flows", "subflows", "timeline", "connection", "delays"):
        assert getattr(again, name).equals(getattr(results, name)), name


def test_a_pickled_reproduction_still_has_its_picture():
    made = ropewalk.reproduce("song-2018", "fig10")
    again = pickle.loads(pickle.dumps(made))
    assert again.json() == made.json()
    assert isinstance(again.figure, Figure)
    assert again.figure.axes[0].images, "the kept picture is shown"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, r"has no result.json"),
        ("{", r"result.json: line 1: "),
        ("[]", r"result.json: has no key engine"),
        ('{"engine": "loom"}', r"engine is 'loom': only simulate, testbed, .* can be read back"),
        ('{"engine": "mesh"}', r"result.json: not as this version writes it: 'mesh'"),
    ],
)
def test_load_rejects_other_folders(tmp_path, content, says):
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    if content == '{"engine": "mesh"}':
        import polars as pl

        (tmp_path / "tables").mkdir()
        pl.DataFrame({"nodes": [1]}).write_parquet(tmp_path / "tables/graphs.parquet")
    with pytest.raises(ValueError, match=says):
        ropewalk.load(tmp_path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OSError, match="nowhere: no such folder"):
        ropewalk.load(tmp_path / "nowhere")


def test_a_folder_of_before_is_replaced(tmp_path):
    from ropewalk.output.storage import keep

    for name in ("result.json", "scenario.toml", "summary.parquet", "goodput.png"):
        (tmp_path / name).write_text("")
    keep(ropewalk.simulate(TWO_LINKS), tmp_path)
    assert not (tmp_path / "goodput.png").exists()
    assert (tmp_path / "tables/summary.parquet").exists()


def test_the_commit_is_that_which_the_build_wrote(tmp_path, monkeypatch):
    file = tmp_path / "commit.txt"
    file.write_text("0123abcd\n")
    monkeypatch.setattr(provenance, "COMMIT_FILE", file)
    provenance.commit.cache_clear()
    assert provenance.commit() == "0123abcd"
    provenance.commit.cache_clear()


def test_the_commit_of_a_checkout_is_gits():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("no git, or no repository")
    provenance.commit.cache_clear()
    known = provenance.commit()
    head = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert known in (head, f"{head}+changes")
