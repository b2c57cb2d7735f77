"""Request traffic in results, tables, pictures and errors."""

import pytest

import ropewalk
from places import ROOT
from ropewalk.output import plot

STALLED = """\
duration = "20 s"
[[link]]
name = "slow"
rate = "1 Mbit/s"
delay = "10 ms"
[transport]
protocol = "tcp"
[traffic]
kind = "chunks"
rate = "3 Mbit/s"
chunk = "2 s"
buffer_max = "10 s"
"""


@pytest.fixture(scope="module")
def film():
    scenario = ropewalk.Scenario.load(ROOT / "scenarios/video/chunks.toml")
    return ropewalk.simulate(scenario.with_({"duration": "30 s"}), step="500 ms", runs=2)


def told(command, path, name):
    """Return the table's text for a name, on one line."""
    done = command("simulate", path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith(f"{name} "))
    rest = [line for line in lines[first + 1 : first + 3] if line.startswith("  ")]
    return " ".join(" ".join([lines[first].removeprefix(name), *rest]).split())


def test_player_is_in_table_and_picture(film):
    for run in film.runs:
        chunks = run["chunks"]
        assert chunks["count"] > 5
        assert 0.5 <= chunks["rate_mbps"] <= 3.5
        assert chunks["stall"] == {"count": 0, "total_s": 0.0, "share": 0.0}
        assert sum(subflow["share"] for subflow in run["subflows"]) == pytest.approx(1)
    held = film.connection["player_buffer_s"]
    assert held.min() == 0
    assert 4 <= held.max() <= 30
    axes = plot.player_buffer(film).axes[0]
    assert axes.get_ylabel() == "player's buffer (s)"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["held", "95 % interval", "at most", "empty in a run"]
    assert len(plot.overview(film).axes) == 6


def test_stall_is_in_the_table():
    results = ropewalk.simulate(ropewalk.Scenario(STALLED), step="100 ms")
    stall = results.runs[0]["chunks"]["stall"]
    assert stall["count"] >= 2
    assert stall["share"] > 0.4
    held = results.connection.filter(results.connection["time_s"] > 7)["player_buffer_s"]
    # The buffer is empty for about as long as reported.
    empty = (held <= 0).sum() / len(held)
    assert empty == pytest.approx(stall["share"], abs=0.15)


def test_without_a_player_there_is_no_picture(results):
    with pytest.raises(ValueError, match="no player"):
        plot.player_buffer(results)


@pytest.mark.parametrize(
    ("path", "name", "part"),
    [
        (
            "video/chunks.toml",
            "chunks",
            "later than the player had set or never; stalled 0.0 times",
        ),
        ("web/requests.toml", "requests", "later than 300 ms or never"),
        ("web/pages.toml", "pages", "objects, median"),
    ],
)
def test_table_has_request_statistics(command, path, name, part):
    assert part in told(command, ROOT / "scenarios" / path, name)


def test_out_keeps_the_picture(command, tmp_path):
    path = ROOT / "scenarios/video/chunks.toml"
    done = command(
        "simulate", path, "--set", "duration=10s", "--step", "1s", "--out", tmp_path / "kept"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kept/pictures/player-buffer.png").stat().st_size > 4000


def test_a_film_in_a_file_is_played(tmp_path):
    (tmp_path / "film.json").write_text(
        '{"segment_duration_ms": 1000, "bitrates_kbps": [400, 800],'
        ' "segment_sizes_bits": [[400000, 800000], [300000, 600000]]}'
    )
    (tmp_path / "page.json").write_text('[{"size": 9000}, {"size": 500, "parent": 0}]')
    head = '[[link]]\nname = "a"\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
    scenario = tmp_path / "film.toml"
    scenario.write_text(
        f'duration = "9 s"\n{head}[traffic]\nkind = "chunks"\ntrace = "film.json"\nquality = 1\n'
    )
    results = ropewalk.simulate(ropewalk.Scenario.load(scenario))
    assert results.runs[0]["chunks"]["rate_mbps"] == 0.8
    page = tmp_path / "page.toml"
    page.write_text(f'duration = "9 s"\n{head}[traffic]\nkind = "web"\ntrace = "page.json"\n')
    web = ropewalk.simulate(ropewalk.Scenario.load(page)).runs[0]["web"]
    assert web["objects"] == 2 * web["pages"] > 0


@pytest.mark.parametrize(
    ("traffic", "said"),
    [
        ('kind = "chunks"', 'traffic.rate: missing; allowed: a rate such as "20 Mbit/s"'),
        ('kind = "chunks"\nrate = "1mbit"\nchunk = "9 s"\nbuffer_max = "5 s"', "at least 9 s"),
        ('kind = "chunks"\nrate = "1mbit"\nquality = 1', "at most 0, the highest quality"),
        ('kind = "chunks"\nrates = ["2mbit", "1mbit"]', "the lowest quality comes first"),
        (
            'kind = "chunks"\nrate = "1mbit"\nquality = "bela"',
            'allowed: "bola", or a whole number from 0 to 63',
        ),
        ('kind = "chunks"\ntrace = "x.json"\nchunk = "1 s"', 'together with "trace"'),
        ('kind = "web"\nrate = "1mbit"', 'only with kind = "cbr"'),
        ('kind = "request"\nparallel = 0', "at least 1"),
        ('kind = "web"\nobjects = 20000', "at most 10000"),
    ],
)
def test_wrong_request_traffic_is_named(traffic, said):
    text = f'[[link]]\nname = "a"\nrate = "5 Mbit/s"\ndelay = "5 ms"\n[traffic]\n{traffic}\n'
    with pytest.raises(ropewalk.ScenarioError) as error:
        ropewalk.Scenario(text)
    assert said in str(error.value)


def test_datagrams_are_not_asked_for():
    text = STALLED.replace('"tcp"', '"udp"')
    with pytest.raises(ropewalk.ScenarioError, match="only with a protocol that carries a stream"):
        ropewalk.Scenario(text)
