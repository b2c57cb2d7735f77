"""Captures of Linux pass: the checks accept everything that a working TCP does.

Both ends of two transfers of the pattern between network namespaces on Linux 6.18, through a
router with short queues; MPTCP over two paths, with checksums. Offloads are off, and link headers
are removed.
"""

import gzip
from pathlib import Path

import pytest

from ropewalk.analysis import check

CAPTURES = Path(__file__).parent / "linux"
REFERENCE = Path(__file__).parents[1] / "reference"


def report(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(gzip.decompress((CAPTURES / f"{name}.pcapng.gz").read_bytes()))
    return check.capture(path, pattern=True)


@pytest.mark.parametrize("end", ["client", "server"])
def test_tcp_passes(end, tmp_path):
    found = report(f"tcp-at-{end}", tmp_path)
    assert found.violations == []
    (connection,) = found.connections
    assert connection.unique_bytes == (40000, 0)
    assert connection.fin_acked == (True, True)
    (subflow,) = found.subflows
    assert (subflow.sent[0].retransmitted > 0) == (end == "client")


@pytest.mark.parametrize("end", ["client", "server"])
def test_mptcp_passes(end, tmp_path):
    found = report(f"mptcp-at-{end}", tmp_path)
    assert found.violations == []
    (connection,) = found.connections
    assert connection.subflows == 2
    assert connection.unique_bytes == (80000, 0)
    assert connection.fin_acked == (True, True)
    assert [subflow.kind for subflow in found.subflows] == ["MP_CAPABLE", "MP_JOIN"]
    assert all(subflow.sent[0].data_segments for subflow in found.subflows)


@pytest.mark.parametrize("name", ["linux-mptcp", "linux-mptcp-checksums"])
def test_an_advertised_address_is_taken_for_a_dss(name):
    # RFC 8684 requires a DSS here; Linux's omission is noted.
    found = check.capture(REFERENCE / f"{name}.pcap", pattern=True)
    assert found.violations == []
    [count] = [note.count for note in found.notes if note.kind == "add-addr-proof"]
    assert count == 3
    (connection,) = found.connections
    assert connection.subflows == 3
    assert connection.unique_bytes == (12800, 0)
    assert connection.fin_acked == (True, True)
