"""The drawn architecture matches the workspace's crates and dependencies."""

import html
import re
import shutil
from itertools import pairwise

import pytest

import structure

SOURCE = structure.ROOT / "docs/design"
PICTURES = structure.ROOT / "docs/images"


def drawn(name: str) -> set[tuple[str, str]]:
    """Return the arrows of a drawing in docs/design; ``a -> b -> c`` is two arrows."""
    lines = re.findall(r"^ *(.* -> .*)$", (SOURCE / f"{name}.dot").read_text(), re.MULTILINE)
    names = [[node.strip('"') for node in line.split(" -> ")] for line in lines]
    return {pair for chain in names for pair in pairwise(chain)}


def reduced(edges: structure.Edges) -> set[tuple[str, str]]:
    """Return the transitive reduction of an acyclic graph."""

    def reachable(start: str) -> set[str]:
        return {start}.union(*(reachable(node) for node in edges.get(start, ())))

    return {
        (start, end)
        for start, ends in edges.items()
        for end in ends
        if not any(end in reachable(other) for other in ends - {end})
    }


def test_arrows_are_the_dependencies_of_the_crates() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing")
    crates = {path.name for path in structure.crates()}
    edges = {
        start: ends & crates
        for start, ends in structure.crate_edges(with_tests=False).items()
        if start in crates
    }
    assert drawn("architecture") - {("python", "binding")} == reduced(edges)


@pytest.mark.parametrize("name", ["architecture", "packet-path"])
def test_picture_has_the_arrows_of_its_source(name: str) -> None:
    titles = re.findall(r"<title>(.*?)</title>", (PICTURES / f"{name}.svg").read_text())
    found = {tuple(html.unescape(title).split("->")) for title in titles if "&gt;" in title}
    assert found == drawn(name), "run: make architecture"


def test_an_edge_that_follows_from_others_is_left_out() -> None:
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {("a", "b"), ("b", "c")}
