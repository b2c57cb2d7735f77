"""Paths of flows over a scenario's links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...scenario.setup import Setup


@dataclass(frozen=True)
class FlowPath:
    """A path of a flow, with the names of its links in order."""

    flow: str
    path: str
    links: tuple[str, ...]


def flow_paths(setup: Setup) -> Iterator[FlowPath]:
    """Yield the paths of all flows in order.

    Examples
    --------
    >>> import ropewalk
    >>> setup = ropewalk.Scenario.load("start/two-links").setup
    >>> [way.links for way in flow_paths(setup)]
    [('dsl',), ('cable',)]
    """
    for flow in setup.every_flow:
        for path in flow.paths:
            yield FlowPath(flow.name, path, setup.hops.get(path, (path,)))


def distinct_paths(used: Sequence[FlowPath]) -> list[tuple[str, ...]]:
    """Return the distinct paths, for parallel drawing.

    Examples
    --------
    >>> from ropewalk.output.report.paths import FlowPath
    >>> distinct_paths([FlowPath("a", "dsl", ("dsl",)), FlowPath("b", "dsl", ("dsl",))])
    [('dsl',)]
    """
    return list(dict.fromkeys(way.links for way in used))
