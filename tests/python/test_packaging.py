"""Content and requirements of an installed Ropewalk: scenarios, libraries, licences, sdist."""

import importlib.util
import json
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib

import pytest
from scipy.special import stdtrit
from scipy.stats import spearmanr

import ropewalk
from places import ROOT
from ropewalk.results import statistics
from ropewalk.scenario import bundled
from ropewalk.support import optional_deps

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def without(libraries, *arguments, cwd=ROOT):
    """Run the command without access to these libraries."""
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({libraries!r}))\n"
        "from ropewalk.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


ABSENT = ["scipy", "polars", "matplotlib", "pandas", "pyarrow", "distributed"]


@pytest.mark.parametrize("name", bundled.names())
def test_every_ready_scenario_is_known_by_its_name(name):
    assert bundled.file(name) == ROOT / "scenarios" / f"{name}.toml"
    loaded = ropewalk.Scenario.load(name)
    assert loaded.title == bundled.titles()[name]


def test_a_name_runs_from_anywhere_and_a_file_goes_before_it(command, tmp_path):
    by_name = command("simulate", "start/two-links", "--json", cwd=tmp_path)
    by_file = command("simulate", ROOT / "scenarios/start/two-links.toml", "--json")
    numbers = [json.loads(done.stdout) for done in (by_name, by_file)]
    for each in numbers:
        del each["stats"]["wall_s"], each["origin"]  # the origin contains the command
    assert numbers[0] == numbers[1]
    (tmp_path / "start").mkdir()
    own = (ROOT / "scenarios/start/two-links.toml").read_text().replace("Two unequal", "My own")
    (tmp_path / "start/two-links").write_text(own)
    assert "My own links" in command("simulate", "start/two-links", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "start/two-link",
            "start/two-link: no such file, and no bundled scenario; start/two-links?",
        ),
        ("nothing", "nothing: no such file, and no bundled scenario; `ropewalk scenarios`"),
        ("start/two-link.toml", "start/two-link.toml: no such file or directory"),
        ("../start/two-links", "../start/two-links: no such file, and no bundled scenario;"),
    ],
)
def test_unknown_name_suggests_the_nearest(command, tmp_path, name, told):
    done = command("explain", name, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1


def test_the_verb_lists_prints_and_copies(command, tmp_path):
    listed = json.loads(command("scenarios", "--json").stdout)
    assert list(listed["scenarios"]) == bundled.names()
    assert all(title in command("scenarios").stdout for title in listed["scenarios"].values())
    text = (ROOT / "scenarios/start/two-links.toml").read_text()
    assert command("scenarios", "start/two-links").stdout == text

    copied = command("scenarios", "start/wifi-lte-traces", "--copy", tmp_path / "mine")
    files = sorted(path.name for path in (tmp_path / "mine").rglob("*") if path.is_file())
    assert files == ["lte.down", "lte.up", "wifi-lte-traces.toml", "wifi.down", "wifi.up"]
    assert copied.stdout == f"{tmp_path}/mine/start/wifi-lte-traces.toml\n"
    assert command("explain", copied.stdout.strip()).returncode == 0

    again = command("scenarios", "--copy", tmp_path / "mine")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == f"{tmp_path}/mine/start/wifi-lte-traces.toml: file exists\n"
    assert len([*(tmp_path / "mine").rglob("*.toml")]) == 1  # nothing of the others
    assert command("scenarios", "start/two-link").returncode == 2
    assert command("scenarios", "start/two-links", "--json").returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["simulate", "start/two-links", "--runs", "2"],
        ["simulate", "wifi/two-hops", "--set", "duration=3s", "--json"],
        ["predict", "start/two-links"],
        ["predict", "papers/elahi-2011"],
        ["predict", "wifi/saturated-cell"],
        ["predict", "video/wifi-lte"],
        ["explain", "wifi/access-point"],
        ["scenarios"],
        ["schema"],
        ["relay", "--help"],
    ],
    ids=" ".join,
)
def test_simulation_needs_no_optional_libraries(arguments):
    done = without(ABSENT, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_missing_library_error_names_the_package():
    text = " ".join(without(["scipy"], "predict", "papers/elahi-2011").stdout.split())
    assert 'needs scipy, which is not installed: pip install "ropewalk[models]"' in text
    assert "needs scipy" not in without([], "predict", "papers/elahi-2011").stdout


@pytest.mark.parametrize(
    ("library", "arguments"),
    [
        ("polars", ["--out", "kept"]),
        ("matplotlib", ["--out", "kept"]),
        ("matplotlib", ["--plot", "kept.png"]),
    ],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_tables_and_pictures_are_refused_before_the_work(tmp_path, library, arguments):
    done = without([library], "simulate", "start/two-links", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"{arguments[0]} needs {library}, which is not installed: pip install {library}\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_study_in_python_names_missing_polars(monkeypatch):
    monkeypatch.setattr(optional_deps, "find_spec", lambda name: None)
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    text = "study needs polars, which is not installed: pip install polars"
    with pytest.raises(optional_deps.MissingLibraryError, match=text):
        ropewalk.study("start/two-links", {"link.dsl.delay": ["10 ms"]})


def test_study_command_names_missing_polars(command, tmp_path):
    arguments = ["start/two-links", "--vary", "link.dsl.delay=10ms", "--set", "duration=1s"]
    done = without(["polars"], "study", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "study needs polars, which is not installed: pip install polars\n"
    assert [*tmp_path.iterdir()] == []
    done = command("study", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/two-links").is_dir()


def test_an_error_names_an_extra_that_there_is():
    extras = PROJECT["optional-dependencies"]
    ordinary = " ".join(PROJECT["dependencies"])
    for library, how in optional_deps.INSTALLED_BY.items():
        if found := re.search(r"ropewalk\[(\w+)\]", how):
            named = [each.replace("-", "_") for each in extras[found[1]]]
            assert any(each.startswith(library) for each in named)
            assert library not in ordinary
        else:
            assert how == f"pip install {library}"
            assert library in ordinary
    pinned = (ROOT / "constraints.txt").read_text()
    for each in (*PROJECT["dependencies"], *(one for many in extras.values() for one in many)):
        assert re.search(rf"^{re.split('[>=<]', each)[0]}==", pinned, re.M | re.I), each


@pytest.mark.parametrize("freedom", [*range(1, 40), 99, 500, 999, 1000, 1001, 2000, 10**6])
def test_the_quantile_of_student_is_scipys(freedom):
    exact = float(stdtrit(freedom, 0.975))
    assert statistics.student_t(freedom) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    "other", [[1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [2, 2, 1, 7, 7], [9, 1, 9, 1, 3]]
)
def test_the_rank_correlation_is_scipys(other):
    one = [3.0, 1.0, 4.0, 1.0, 5.0]
    expected = float(spearmanr(one, other).statistic)
    assert statistics.rank_correlation(one, other) == pytest.approx(expected, abs=1e-12)


def test_the_licences_are_of_every_crate_that_is_linked(tmp_path):
    licences = runpy.run_path(str(ROOT / "packaging/licences.py"))
    licences["main"](tmp_path / "licences.txt")
    text = (tmp_path / "licences.txt").read_text()
    tree = subprocess.run(
        ["cargo", "tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}"]
        + [each for crate in licences["BUILT"] for each in ("--package", crate)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    crates = {
        tuple(line.split()[:2]) for line in tree.splitlines() if line and "/crates/" not in line
    }
    assert len(crates) > 50
    for name, version in crates:
        assert f"  {name} {version.removeprefix('v')}: " in text
    assert text.count("TERMS AND CONDITIONS FOR USE") < len(crates) / 8  # not once a crate
    assert "LLVM Exceptions to the Apache 2.0 License" in text


COMMIT = "python/ropewalk/commit.txt"


@pytest.mark.skipif(
    not importlib.util.find_spec("maturin") or not (ROOT / ".git").exists(),
    reason="it takes maturin and a clone",
)
def test_the_sdist_has_all_that_a_wheel_is_made_of(tmp_path):
    clone = tmp_path / "clone"

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("git", "clone", "--quiet", ROOT, clone)
    run(sys.executable, clone / "packaging/backend.py", "sdist", "--out", tmp_path)
    (file,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        files = {name.partition("/")[2]: name for name in archive.getnames()}
        commit = archive.extractfile(files[COMMIT]).read().decode()
    assert commit == run("git", "-C", clone, "rev-parse", "HEAD")
    assert not (clone / COMMIT).exists()
    needed = {"PKG-INFO", "Cargo.toml", "Cargo.lock", "LICENSE-MIT", "LICENSE-APACHE", "README.md"}
    needed |= {"packaging/backend.py", "packaging/licences.py", "pyproject.toml"}
    for folder in ("crates", "scenarios", "python/ropewalk"):
        needed |= set(run("git", "-C", clone, "ls-files", folder).splitlines())
    assert len(needed) > 400
    assert needed - files.keys() == set()
