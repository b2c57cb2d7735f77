"""Invalid input: one clear message, exit status 2, no traceback."""

import os

import pytest

import ropewalk

GOOD = """
[[link]]
name = "dsl"
rate = "16 Mbit/s"
delay = "20 ms"
"""

WRONG = {
    "an unknown key": (GOOD + 'dely = "20 ms"\n', ["link.dsl.dely", "unknown key", '"delay"']),
    "a unit that is none": (
        GOOD.replace("20 ms", "20 lightyears"),
        ["lightyears", "units: ns us"],
    ),
    "a negative delay": (GOOD.replace("20 ms", "-20 ms"), ["link.dsl.delay", "negative"]),
    "a missing trace": (
        GOOD.replace('rate = "16 Mbit/s"', 'trace = "none.down"'),
        ["none.down", "no such file"],
    ),
    "an empty link list": ("link = []\n", ["link"]),
    "no link at all": ('title = "nothing"\n', ["link"]),
    "a link named twice": (GOOD + GOOD, ["dsl"]),
    "a loss of 120 %": (GOOD + 'loss = "120 %"\n', ["link.dsl.loss", "120 %"]),
    "aggregation with a coupled congestion control": (
        GOOD + '[transport]\nprotocol = "aggregation"\ncongestion = "lia"\n',
        [":8:", 'transport.congestion = "lia"', 'protocol = "mptcp"', '"newreno", "cubic"'],
    ),
    "MPTCP with the scheduler of aggregation": (
        GOOD + '[transport]\nprotocol = "mptcp"\nscheduler = "earliest-arrival"\n',
        ['transport.scheduler = "earliest-arrival"', 'protocol = "aggregation"', '"min-rtt"'],
    ),
    "a main buffer without aggregation": (
        GOOD + '[transport]\nmain_buffer = "150 packets"\n',
        ['transport.main_buffer = "150 packets"', 'protocol = "aggregation"'],
    ),
    "more messages than a clock may offer": (
        GOOD + '[traffic]\nkind = "cbr"\nrate = "100000 Gbit/s"\n',
        [":8:", 'traffic.rate = "100000 Gbit/s"', "messages of 1 kB in 30 s", "26.6 Gbit/s"],
    ),
    "a cost beyond all sums": (GOOD + "cost = 1e308\n", [":6:", "link.dsl.cost", "at most"]),
    "a send buffer that holds no packet": (
        GOOD + '[transport]\nprotocol = "aggregation"\npacket = "2 KiB"\nsend_buffer = "2048 B"\n',
        ["transport.send_buffer", "at least a packet with its header (2064 B)"],
    ),
    "not TOML": ("<scenario><link/></scenario>\n", [":1:"]),
}


@pytest.fixture(params=WRONG, ids=lambda case: case)
def case(request, tmp_path):
    text, words = WRONG[request.param]
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    return path, words


def test_command_names_error_and_place(refused, case):
    path, words = case
    text = refused("simulate", path, "--json")
    assert str(path) in text
    for word in words:
        assert word in text
    assert len(text.splitlines()) == 1


def test_python_raises_a_scenario_error(case):
    path, words = case
    with pytest.raises(ropewalk.ScenarioError) as raised:
        ropewalk.Scenario.load(path)
    assert all(word in str(raised.value) for word in words)


def test_all_errors_are_shown_at_once(command, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(GOOD.replace("20 ms", "-1 s").replace("rate", "rat") + "cost = -1\n")
    lines = command("simulate", path).stderr.splitlines()
    assert len(lines) >= 3


def test_set_passes_the_same_checks(refused, tmp_path):
    path = tmp_path / "good.toml"
    path.write_text(GOOD)
    text = refused("simulate", path, "--set", "link.dsl.loss=120%", "--set", "tittle=x")
    assert "--set" in text
    assert "link.dsl.loss" in text
    assert '"title"' in text


def test_with_names_itself_and_not_an_option():
    with pytest.raises(ropewalk.ScenarioError) as raised:
        ropewalk.Scenario(GOOD).with_({"link.dsl.loss": "120 %", "tittle": "x"})
    lines = str(raised.value).splitlines()
    assert len(lines) == 2
    assert all(line.startswith("with_: ") for line in lines)


def test_algorithm_of_wrong_key_is_rejected_with_the_right_keys():
    with pytest.raises(ValueError, match=r"key = 'schedulers': allowed: .*scheduler"):
        ropewalk.algorithms("schedulers")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["--seed", 2**64 - 1, "--runs", 2],
            f"--seed {2**64 - 1}: with runs = 2, all seeds must be",
        ),
        (["--step", "0s"], '--step "0s": must be greater than zero; allowed: a time of at least'),
        (["--step", "1us"], '--step "1us": would be more than 1000000 steps in 30 s; allowed:'),
        (["--step", "soon"], '--step "soon": must begin with a number'),
    ],
)
def test_an_option_is_named(refused, tmp_path, arguments, says):
    path = tmp_path / "good.toml"
    path.write_text(GOOD)
    text = refused("simulate", path, *arguments, "--out", tmp_path / "out")
    assert text.startswith(says)


def refuse(refused, path, *words):
    text = refused("simulate", path)
    assert len(text.splitlines()) == 1
    for word in (str(path), *words):
        assert word in text


def test_100_megabytes_of_zeros(refused, tmp_path):
    path = tmp_path / "zeros.toml"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    refuse(refused, path, "32 MiB")


def test_a_small_file_of_zeros(refused, tmp_path):
    path = tmp_path / "zeros.toml"
    path.write_bytes(bytes(1000))
    refuse(refused, path)


def test_an_endless_file(refused):
    refuse(refused, "/dev/zero", "32 MiB")


def test_a_file_that_is_not_utf8(refused, tmp_path):
    path = tmp_path / "latin-1.toml"
    path.write_bytes('title = "Zürich"\n'.encode("latin-1"))
    refuse(refused, path, "UTF-8")


def test_a_missing_file(refused, tmp_path):
    refuse(refused, tmp_path / "none.toml", "no such file")


def test_a_folder(refused, tmp_path):
    refuse(refused, tmp_path, "is a directory")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(refused, tmp_path):
    path = tmp_path / "secret.toml"
    path.write_text(GOOD)
    path.chmod(0)
    refuse(refused, path, "permission denied")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["the file is empty", "mahimahi"]),
        (b"time,Mbit/s\n0,10\n", ["line 1", "mahimahi"]),
        (b"0\n5\n3\n", ["line 3"]),
        (b"0\nfive\n", ["line 2"]),
        (b"\xff\xfe", ["UTF-8"]),
    ],
)
def test_invalid_trace_is_rejected(refused, tmp_path, content, words):
    (tmp_path / "bad.down").write_bytes(content)
    path = tmp_path / "traced.toml"
    path.write_text(GOOD.replace('rate = "16 Mbit/s"', 'trace = "bad.down"'))
    refuse(refused, path, "bad.down", *words)


def test_a_trace_that_is_a_folder(refused, tmp_path):
    path = tmp_path / "traced.toml"
    path.write_text(GOOD.replace('rate = "16 Mbit/s"', 'trace = "."'))
    refuse(refused, path, "is a directory")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["study", "good.toml", "--vary", "duration=1s", "--vary", "duration=2s"],
            "--vary duration=2s: duration is varied twice; give all its values at once",
        ),
        (
            ["study", "good.toml", "--vary", "duration=1s", "--on", "tcp://"],
            "--on 'tcp://': allowed: a number of processes, 'local', the address of a Dask",
        ),
        (
            ["study", "good.toml", "--vary", "duration=,"],
            '--vary duration = ["", ""]: nothing occurs twice',
        ),
        (["reproduce", "--plot", "x.png"], "--plot x.png: only with a paper and an item"),
        (["reproduce", "song-2018", "--out", "x"], "--out x: only with a paper and an item"),
        (["reproduce", "--runs", "3"], "--runs 3: only with a paper and an item"),
        (["scenarios", "start/two-links", "--copy", "good.toml"], "good.toml: file exists"),
        (["advise", "good.toml", "--rate", "nan"], '--rate "nan": must have a unit; allowed'),
        (["advise", "good.toml", "--rate", ""], '--rate "": must not be empty; allowed'),
        (
            ["advise", "good.toml", "--rate", "1 Mbit/s", "--delay", "a: b"],
            '--delay "a: b": must begin with a number; allowed',
        ),
    ],
)
def test_an_option_that_is_wrong_is_named_with_its_value(refused, tmp_path, arguments, says):
    (tmp_path / "good.toml").write_text(GOOD)
    text = refused(*arguments, cwd=tmp_path)
    assert text.startswith(says)
    assert len(text.splitlines()) == 1
