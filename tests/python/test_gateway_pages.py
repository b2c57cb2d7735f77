"""The gateway's pages match its status output and units."""

import re

import pytest

from places import ROOT

UNITS = ["relay", "proxy", "tunnel"]


def test_keys_of_the_status_page_are_keys_of_the_document():
    source = (ROOT / "crates/gateway/src/status/document.rs").read_text()
    keys = set(re.findall(r"^    pub (\w+): ", source, re.MULTILINE))
    page = (ROOT / "docs/gateway/status.md").read_text()
    rows = page.partition("| key | meaning |")[2].partition("\n\n")[0].splitlines()[2:]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    parts = {part.removesuffix("[]") for name in named for part in name.split(".")} - {""}
    assert len(parts) > 40
    assert parts - keys == set()


@pytest.mark.parametrize("verb", UNITS)
def test_unit_matches_its_page(verb):
    unit = (ROOT / f"packaging/systemd/ropewalk-{verb}.service").read_text()
    lines = unit.splitlines()
    assert f"ConditionPathExists=/etc/ropewalk/{verb}.toml" in lines
    # A tunnel is restarted, so that its kill switch stays.
    is_tried_again = "RestartPreventExitStatus=2" not in lines
    assert is_tried_again == (verb == "tunnel")
    assert ("Restart=always" in lines) == (verb == "tunnel")
    assert any(line.startswith("DynamicUser=") for line in lines)
    assert any(line.startswith("LoadCredential=") for line in lines)


def test_package_starts_no_service_and_has_the_units():
    manifest = (ROOT / "crates/gateway/Cargo.toml").read_text()
    for verb in UNITS:
        found = re.findall(rf'{{ unit-name = "ropewalk-{verb}", .* }}', manifest)
        assert len(found) == 1
        assert "enable = false" in found[0]
        assert "start = false" in found[0]
