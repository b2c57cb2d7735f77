"""Every scenario in scenarios/ is right by the schema, and runs."""

import tomllib

import jsonschema
import pytest

import ropewalk
from places import ROOT

READY = sorted((ROOT / "scenarios").rglob("*.toml"))


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


def test_aggregation_delivers_what_elahi_et_al_measured():
    results = ropewalk.simulate(ROOT / "scenarios/papers/elahi-2011.toml", runs=3)
    for run in results.runs:
        packets = run["delivered_bytes"] / 2048 / run["duration_s"]
        # Table 1, first row: 567. The gateway's frames have 8 bytes more of header, which is
        # 2 packets/s, and acknowledgements of windows share the fastest link.
        assert packets == pytest.approx(567, rel=0.01)
        assert packets == pytest.approx(565.7, abs=1.2)
        assert all(link["utilization"] > 0.99 for link in run["links"])


def test_the_made_traces_are_what_their_script_makes(tmp_path):
    source = ROOT / "scenarios/start/traces/make_traces.py"
    script = tmp_path / source.name
    script.write_text(source.read_text())
    exec(compile(script.read_text(), script, "exec"), {"__name__": "__main__", "__file__": script})
    made = {file.name: file.read_text() for file in tmp_path.glob("*.*") if file != script}
    assert len(made) == 4
    for name, content in made.items():
        assert (source.parent / name).read_text() == content
