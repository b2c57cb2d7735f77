"""Healthy captures of Linux pass, for all ways of capturing.

See README.md in kinds/ for how they were made.
"""

import gzip
from pathlib import Path

import pytest

from ropewalk.analysis import check

KINDS = sorted((Path(__file__).parent / "kinds").glob("*.pcap.gz"))
NOTES = {
    "anonymised-sums-kept": {"anonymised"},
    "anonymised-payload-zeroed": {"payload-changed"},
    "any-at-router": {"duplicate"},
    "bbr-cut-128": {"snapped", "above-mss"},
    "bpf-data-only": {"midway"},
    "count-cut-middle": {"midway"},
    "gro-forced-at-receiver": {"above-mss"},
    "mptcp-add-address-with-port": {"add-addr-proof"},
    "mptcp-any-at-router": {"duplicate"},
    "mptcp-fallback-after-syns": {"fallback"},
    "mptcp-snapped-100": {"snapped"},
    "one-direction-acks": {"one-direction"},
    "one-direction-in": {"one-direction"},
    "syn-fin-only": {"not-captured"},
}
"""Kinds of notes about how a capture was taken, or about its hosts."""


def name(path: Path) -> str:
    return path.name.removesuffix(".pcap.gz")


@pytest.mark.parametrize("path", KINDS, ids=name)
def test_healthy_capture_has_no_violation(path, tmp_path):
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    found = check.capture(plain)
    assert [str(each) for each in found.violations] == []
    assert found.connections
    assert NOTES.get(name(path), set()) <= {note.kind for note in found.notes}


def test_every_kind_with_notes_exists():
    assert set(NOTES) <= set(map(name, KINDS))
