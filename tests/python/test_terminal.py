"""The command in a shell: closed streams, pipes, interrupts, hostile titles, full disks."""

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk.cli import progress

PROGRAM = Path(sys.executable).with_name("ropewalk")
HOSTILE = "wi\x1b[2J\x9b\x07"


def scenario(title: str) -> str:
    link = 'name = "[b]x"\nrate = "10 Mbit/s"\ndelay = "10 ms"\nqueue = "10 packets"'
    return f'title = {json.dumps(title)}\nduration = "1 s"\n[[link]]\n{link}\n'


@pytest.mark.parametrize(
    "verb", [["simulate"], ["predict"], ["advise"], ["compare", "--ways", "predict,simulate"]]
)
def test_no_escape_code_of_a_title_reaches_the_terminal(command, tmp_path, verb):
    file = tmp_path / f"{HOSTILE}.toml"
    file.write_text(scenario(f"two {HOSTILE} links"))
    picture = tmp_path / f"{HOSTILE}.svg"
    more = ["--plot", picture] if verb != ["predict"] else ["--out", tmp_path / f"{HOSTILE} out"]
    done = command(*verb, file, *more)
    assert done.returncode == 0
    assert done.stderr == ""
    assert "two wi[2J links" in done.stdout
    assert "[b]x" in done.stdout or verb == ["predict"]
    assert not set("\x1b\x9b\x07") & set(done.stdout)


def test_no_escape_code_of_a_file_reaches_the_terminal_in_an_error(command, tmp_path):
    missing = command("simulate", tmp_path / f"{HOSTILE}.toml")
    wrong = tmp_path / f"{HOSTILE}.toml"
    wrong.write_text(scenario("").replace("10 ms", HOSTILE.encode("unicode_escape").decode()))
    for done in (missing, command("simulate", wrong)):
        assert done.returncode == 2
        assert r"wi\x1b[2J\x9b\x07.toml" in done.stderr
        assert not set("\x1b\x9b\x07") & set(done.stderr)


def test_a_title_is_no_formula(command, tmp_path):
    file = tmp_path / "prices.toml"
    file.write_text(scenario("from $5 to $x^{ a link"))
    done = command("simulate", file, "--plot", tmp_path / "prices.svg", "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "verb",
    [
        ["simulate"],
        ["predict"],
        ["advise"],
        ["compare", "--ways", "predict,simulate"],
        ["testbed", "doctor"],
    ],
)
def test_a_scenario_comes_from_standard_input(command, verb):
    done = command(*verb, "-", "--json", input=scenario("piped"))
    assert done.returncode in (0, 1) if verb[0] == "testbed" else done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)


def test_errors_of_standard_input_name_it(command, tmp_path):
    done = command("simulate", "-", input="duration = 1\n")
    assert done.returncode == 2
    assert "<stdin>:1:12: duration = 1" in done.stderr
    file = tmp_path / "a.trace"
    file.write_text("1\n")
    traced = scenario("traced").replace('rate = "10 Mbit/s"', 'trace = "a.trace"')
    assert command("predict", "-", input=traced, cwd=tmp_path).returncode == 0
    assert "cannot be read: no such file" in command("predict", "-", input=traced).stderr
    other = subprocess.run(
        [PROGRAM, "simulate", "-"], input=b"\xff", capture_output=True, check=False
    )
    assert other.stderr.startswith(b"<stdin>")


def redirected(how: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    line = " ".join([str(PROGRAM), *map(str, arguments), how])
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )


@pytest.mark.parametrize("verb", ["simulate", "predict", "schema", "--version", "--help"])
def test_closed_standard_output_gives_one_line(verb):
    arguments = [] if verb in ("schema", "--version", "--help") else [TWO_LINKS]
    done = redirected(">&-", verb, *arguments)
    assert (done.returncode, done.stderr) == (1, "standard output: bad file descriptor\n")


def test_other_closed_streams_are_no_trouble(tmp_path):
    done = redirected("<&-", "simulate", "-")
    assert (done.returncode, done.stderr) == (2, "<stdin>: bad file descriptor\n")
    for how in ("2>&-", "<&- 2>&-"):
        done = redirected(how, "simulate", "missing.toml")
        assert (done.returncode, done.stdout) == (2, "")
    # The next opened file must not become standard output.
    kept = tmp_path / "kept"
    done = redirected("<&- >&- 2>&-", "simulate", TWO_LINKS, "--json", "--out", kept)
    assert done.returncode == 1
    assert json.loads((kept / "result.json").read_text())["engine"] == "simulate"


@pytest.mark.parametrize("after_ms", [*range(0, 200, 20), 400])
def test_an_interrupt_at_any_time_is_no_traceback(after_ms):
    """After Ropewalk's own code has started; earlier interrupts are Python's."""
    code = f"""
import _signal, sys
from ropewalk.cli import main
sys.argv = ["ropewalk", "simulate", {str(ROOT / TWO_LINKS)!r}, "--runs", "20000"]
_signal.signal(_signal.SIGALRM, lambda *_: _signal.raise_signal(_signal.SIGINT))
_signal.setitimer(_signal.ITIMER_REAL, {after_ms / 1000 + 1e-3})
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert "Traceback" not in done.stderr


def test_an_interrupt_that_cannot_be_raised_comes_again():
    """In a callback Python discards the exception."""
    code = f"""
import signal, sys, time, weakref
import ropewalk.engines.simulate
from ropewalk import cli
class Thing: pass
def simulate(*_, **__):
    thing = Thing()
    seen = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    time.sleep(8)
ropewalk.engines.simulate.simulate = simulate
sys.argv = ["ropewalk", "simulate", {str(ROOT / TWO_LINKS)!r}]
cli.main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_little_is_imported_before_interrupts_are_minded():
    code = """
import sys
before = set(sys.modules)
import ropewalk.cli
print(*sorted(set(sys.modules) - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "ropewalk",
        "ropewalk.cli",
        "ropewalk.cli.statuses",
        "ropewalk.support",
        "ropewalk.support.hooks",
    ]


def test_the_command_itself_can_be_interrupted():
    running = subprocess.Popen(
        [PROGRAM, "simulate", TWO_LINKS, "--runs", "100000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=60) == ("", "")
    assert running.returncode == 130


def small_disk(kilobytes: int):
    """Limit file sizes, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10,) * 2)


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.pdf"])
def test_a_full_disk_leaves_the_picture_of_before(command, tmp_path, name):
    picture = tmp_path / name
    picture.write_text("before")
    done = command("simulate", TWO_LINKS, "--plot", picture, preexec_fn=small_disk(2))
    assert (done.returncode, done.stderr) == (1, f"{picture}: file too large\n")
    assert picture.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("kilobytes", [0, 1, 4, 16])
def test_a_full_disk_leaves_the_folder_of_before(command, tmp_path, kilobytes):
    kept = tmp_path / "kept"
    assert command("simulate", TWO_LINKS, "--out", kept).returncode == 0
    before = (kept / "result.json").read_text()
    done = command(
        "simulate", TWO_LINKS, "--seed", 2, "--out", kept, preexec_fn=small_disk(kilobytes)
    )
    assert (done.returncode, done.stderr) == (1, f"{kept}: file too large\n")
    assert (kept / "result.json").read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["kept"]


def test_a_picture_goes_into_a_pipe_and_through_a_link(command, tmp_path):
    target, link = tmp_path / "target.svg", tmp_path / "link.svg"
    target.write_text("before")
    link.symlink_to(target)
    assert command("simulate", TWO_LINKS, "--plot", link).returncode == 0
    assert link.is_symlink()
    assert "<svg" in target.read_text()
    fifo = tmp_path / "fifo.svg"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True)
    assert command("simulate", TWO_LINKS, "--plot", fifo).returncode == 0
    assert "<svg" in reader.communicate(timeout=60)[0]


@pytest.mark.parametrize(
    ("option", "place"), [("--out", "/proc/x"), ("--plot", "/proc/x.svg"), ("--qlog", "/proc/x")]
)
def test_write_errors_name_the_given_path(refused, option, place):
    text = refused("simulate", TWO_LINKS, option, place)
    assert text.splitlines() == [text.strip()]
    assert text.startswith(f"{place}: ")


def test_pipe_gets_occasional_progress_lines(capsys):
    with progress.progress("advising", every_s=0.01) as update:
        update(3, 12)
        time.sleep(0.2)
    text = capsys.readouterr().err.splitlines()
    assert text
    assert all(line.startswith("advising: 3 of 12 after ") for line in text[1:])
    with progress.progress("advising", every_s=60):
        pass
    assert capsys.readouterr().err == ""


def test_the_bar_of_advise_is_full_only_at_the_end():
    seen: list[tuple[int, int]] = []
    short = ropewalk.Scenario.load(ROOT / TWO_LINKS).with_({"duration": "100 ms"})
    ropewalk.advise(short, progress=lambda *told: seen.append(told))
    assert [finished for finished, _ in seen] == list(range(1, len(seen) + 1))
    assert all(finished < of for finished, of in seen[:-3])
    many = "\n".join(
        f'[[link]]\nname = "{number}"\nrate = "{number + 1} Mbit/s"\ndelay = "5 ms"'
        for number in range(14)
    )
    seen.clear()
    ropewalk.advise(
        ropewalk.Scenario(f'duration = "50 ms"\n{many}\n[transport]\nprotocol = "mptcp"'),
        progress=lambda *told: seen.append(told),
    )
    assert all(finished < of for finished, of in seen[: len(seen) * 9 // 10])


def completed(*words: object) -> list[str]:
    done = subprocess.run(
        [PROGRAM],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=ROOT,
        env=os.environ
        | {
            "_ROPEWALK_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(map(str, ["ropewalk", *words])),
            "COMP_CWORD": str(len(words)),
        },
    )
    return done.stdout.split()


def test_the_shell_completes_verbs_options_and_keys(command):
    assert completed("si") == ["simulate"]
    assert {"--seed", "--set", "--step"} <= set(completed("simulate", TWO_LINKS, "--s"))
    keys = completed("simulate", TWO_LINKS, "--set", "link.dsl.de")
    assert keys == ["link.dsl.delay="]
    assert "transport.congestion=" in completed("predict", "--set", "transport.c")
    assert completed("simulate", TWO_LINKS, "--set", "link.wifi.") == []
    # `--show-completion` depends on the shell that runs the program, if any.
    for shell in ("bash", "zsh", "fish"):
        environment = os.environ | {"_ROPEWALK_COMPLETE": f"source_{shell}"}
        script = command(env=environment).stdout
        assert "_ROPEWALK_COMPLETE=complete_" + shell in script


def test_frames_convert_to_pandas_or_name_the_missing_library(results, monkeypatch):
    frame = results.to_pandas("links")
    assert frame["link"].tolist() == results.links["link"].to_list()
    with pytest.raises(ValueError, match=r"frame = 'sumary': allowed: summary, links"):
        results.to_pandas("sumary")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "ropewalk\[pandas\]"'):
        results.to_pandas()


def test_all_public_names_exist():
    for name in ropewalk.__all__:
        assert getattr(ropewalk, name) is not None
    assert set(ropewalk.__all__) <= set(dir(ropewalk))
    with pytest.raises(AttributeError, match="no attribute 'simulte'"):
        _ = ropewalk.simulte
    assert ropewalk.provenance.command()


def test_a_scenario_is_read_from_an_open_file():
    file = io.BytesIO(scenario("in memory").encode())
    assert ropewalk.Scenario.read(file, name="<memory>").title == "in memory"
    with pytest.raises(ropewalk.ScenarioError, match="<memory>:1:"):
        ropewalk.Scenario.read(io.BytesIO(b"title = 1"), name="<memory>")
