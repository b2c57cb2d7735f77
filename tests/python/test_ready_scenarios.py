"""Every scenario in scenarios/ matches the schema and runs."""

import shutil
import subprocess
import tomllib

import jsonschema
import pytest

import ropewalk
from places import READY, ROOT


def test_there_are_some():
    assert len(READY) >= 4


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_the_schema_accepts_it(path):
    schema = ropewalk.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(tomllib.loads(path.read_text()), schema)


def test_the_schema_refuses_an_unknown_key():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            {"link": [{"name": "a", "rate": "1 Mbit/s", "dely": "1 ms"}]}, ropewalk.schema()
        )


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_it_runs_and_delivers(path):
    run = ropewalk.simulate(ropewalk.Scenario.load(path).with_({"duration": "6 s"})).runs[0]
    assert run["delivered_bytes"] > 0
    assert run["goodput_mbps"] > 0


def test_aggregation_delivers_the_rate_measured_by_elahi():
    results = ropewalk.simulate(ROOT / "scenarios/papers/elahi-2011.toml", runs=3)
    for run in results.runs:
        packets = run["delivered_bytes"] / 2048 / run["duration_s"]
        # Table 1, first row: 567. The gateway's frames have 8 bytes more of header (2 packets/s),
        # and window acknowledgements share the fastest link.
        assert packets == pytest.approx(567, rel=0.01)
        assert packets == pytest.approx(565.7, abs=1.2)
        assert all(link["utilization"] > 0.99 for link in run["links"])


def test_synthetic_traces_match_their_script(tmp_path):
    source = ROOT / "scenarios/start/traces/make_traces.py"
    script = tmp_path / source.name
    script.write_text(source.read_text())
    exec(compile(script.read_text(), script, "exec"), {"__name__": "__main__", "__file__": script})
    made = {file.name: file.read_text() for file in tmp_path.glob("*.*") if file != script}
    assert len(made) == 4
    for name, content in made.items():
        assert (source.parent / name).read_text() == content


WIFI = ROOT / "scenarios/wifi"


def mean_over_the_air(name, changes=()):
    """Return the mean goodput of the only flow over ten runs, in Mbit/s."""
    scenario = ropewalk.Scenario.load(WIFI / f"{name}.toml").with_(dict(changes))
    return ropewalk.simulate(scenario, runs=10).mean["goodput_mbps"]


def over_the_air(name, changes=()):
    """Return each flow's goodput in Mbit/s, and the share of collided tries."""
    scenario = ropewalk.Scenario.load(WIFI / f"{name}.toml").with_(dict(changes))
    run = ropewalk.simulate(scenario).runs[0]
    flows = run.get("flows", [run])
    got = [flow["goodput_mbps"] for flow in flows]
    return got, max(channel["collision_ratio"] for channel in run["channels"])


@pytest.mark.parametrize(
    ("changes", "together", "collides"),
    [
        ({}, 9.2, (0.4, 0.7)),
        ({"wifi.rts": "0 B"}, 14.0, (0.0, 0.2)),
        ({"node.right.at": ["10 m", "0 m"]}, 17.0, (0.05, 0.2)),
    ],
)
def test_rts_helps_a_hidden_pair_at_24_mbps(changes, together, collides):
    got, ratio = over_the_air("hidden-pair", changes)
    assert sum(got) == pytest.approx(together, rel=0.05)
    assert collides[0] < ratio < collides[1]
    # No flow starves.
    assert got[0] == pytest.approx(got[1], rel=0.1)


def test_two_hops_share_a_channel_and_lose_more_if_their_ends_are_hidden():
    both, two, hidden = (
        mean_over_the_air("two-hops", changes)
        for changes in (
            {},
            {"link.R-D.channel": "two"},
            {"node.D.at": ["30 m", "0 m"]},
        )
    )
    assert both == pytest.approx(2.2, rel=0.04)
    # Two channels carry at most the rate of one hop alone.
    assert 1.85 * both < two < 5.13
    assert 0.6 * both < hidden < 0.9 * both


def test_the_second_path_of_a_diamond_needs_a_channel_of_its_own():
    shared = {"link.S-R2.channel": "one", "link.R2-D.channel": "one"}
    two, one = (over_the_air("diamond", changes)[0][0] for changes in ({}, shared))
    assert two == pytest.approx(11.6, rel=0.05)
    assert one == pytest.approx(two / 2, rel=0.2)


def test_the_line_behind_an_access_point_is_full_until_the_air_is_slower():
    download, stream = over_the_air("access-point")[0]
    # 1448 of 1500 bytes of 16 Mbit/s.
    assert download == pytest.approx(15.445, rel=0.01)
    assert stream == pytest.approx(3, rel=0.01)
    slow = over_the_air("access-point", {"wifi.rate": "6 Mbit/s"})[0]
    assert slow[0] < 3


def test_a_slow_station_drags_a_fast_one_down():
    fast, slow = over_the_air("slow-station")[0]
    assert fast == pytest.approx(slow, rel=0.1)
    assert fast == pytest.approx(0.77, rel=0.05)
    equal = {"node.slow.radios": [{"channel": "air", "rate": "11 Mbit/s"}]}
    same_kind = over_the_air("slow-station", equal)[0]
    assert same_kind[0] == pytest.approx(3.2, rel=0.05)


def test_a_saturated_cell_is_bianchis():
    got, ratio = over_the_air("saturated-cell")
    best = ropewalk.predict(WIFI / "saturated-cell.toml").best
    assert best.name == "bianchi"
    assert sum(got) == pytest.approx(best.quantities["together_mbps"], rel=0.03)
    assert ratio == pytest.approx(best.quantities["collision_ratio"], abs=0.02)
    # Jain's index.
    assert sum(got) ** 2 / (len(got) * sum(each**2 for each in got)) > 0.99


@pytest.mark.skipif(
    not (shutil.which("ffmpeg") and shutil.which("ffprobe")), reason="ffmpeg is not installed"
)
def test_a_video_that_is_encoded_plays(tmp_path):
    frames = tmp_path / "frames.txt"
    subprocess.run([ROOT / "scenarios/video/encode.sh", frames], check=True, timeout=300)
    sizes = [int(line) for line in frames.read_text().splitlines() if not line.startswith("#")]
    assert len(sizes) == 600
    scenario = ropewalk.Scenario.load(ROOT / "scenarios/video/wifi-lte.toml")
    scenario = scenario.with_({"duration": "20 s", "traffic.trace": str(frames)})
    run = ropewalk.simulate(scenario).runs[0]
    # Frames of the last 200 ms are still pending.
    assert 593 <= run["video"]["frames"] <= 600
    assert run["goodput_mbps"] == pytest.approx(3.5, rel=0.03)
