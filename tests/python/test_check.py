"""The capture checker shares no code with the programs that write captures."""

import structure

WORDS = "python/ropewalk/support/plurals.py"
"""Formatting of counts in reports."""


def test_it_shares_no_code_with_the_simulator():
    edges = structure.python_edges(structure.ROOT / "python" / "ropewalk")
    room = "python/ropewalk/analysis/check/"
    own = {name: others for name, others in edges.items() if name.startswith(room)}
    assert len(own) > 10
    imported = {other for others in own.values() for other in others}
    assert [name for name in imported if not name.startswith(room)] in ([], [WORDS])
