"""Profile mptcp-ns3 on the command line."""

import json

import pytest

TEXT = """\
duration = "10 s"
[[link]]
name = "fast"
rate = "15 Mbit/s"
delay = "12 ms"
queue = "400 packets"
[[link]]
name = "slow"
rate = "1.65 Mbit/s"
delay = "12.1 ms"
queue = "400 packets"
[transport]
profile = "mptcp-ns3"
reordering = "tcp-door"
segment = "1400 B"
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "module.toml"
    path.write_text(TEXT)
    return path


def test_mptcp_ns3_prints_the_papers_measures(command, scenario):
    text = command("simulate", scenario)
    assert "not RFC 8684" in text.stderr + text.stdout
    assert "% out of order" in text.stdout
    assert "gThroughput" in text.stdout
    run = json.loads(command("simulate", scenario, "--json").stdout)
    module = run["mptcp_ns3"]
    assert module["reordering"] == "tcp-door"
    assert module["buffer_max_kib"] == module["buffer_max_segments"] * 1400 / 1024
    assert run["goodput_mbps"] < module["gthroughput_mbps"] < 1.2 * run["goodput_mbps"]
    assert any("not RFC 8684" in warning for warning in run["warnings"])


def test_captures_are_refused_with_the_reason(refused, scenario, tmp_path):
    text = refused("simulate", scenario, "--capture", tmp_path / "a.pcapng")
    assert 'transport.profile = "mptcp-ns3" is not captured or logged' in text
    assert "no form on the wire" in text
    assert not (tmp_path / "a.pcapng").exists()
