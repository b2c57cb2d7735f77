"""Paths of flows over a scenario's links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...scenario.setup import Setup


@dataclass(frozen=True)
class Way:
    """A path of a flow.

    Attributes
    ----------
    flow : str
        Name of the flow.
    path : str
        Name of the path.
    links : tuple of str
        Names of its links in order.
    """

    flow: str
    path: str
    links: tuple[str, ...]


def ways(setup: Setup) -> Iterator[Way]:
    """Yield the paths of all flows in order.

    Examples
    --------
    >>> import ropewalk
    >>> setup = ropewalk.Scenario.load("start/two-links").setup
    >>> [way.links for way in ways(setup)]
    [('dsl',), ('cable',)]
    """
    for flow in setup.every_flow:
        for path in flow.paths:
            yield Way(flow.name, path, setup.hops.get(path, (path,)))


def rows(used: Sequence[Way]) -> list[tuple[str, ...]]:
    """Return the distinct paths, for parallel drawing.

    Examples
    --------
    >>> from ropewalk.output.report.paths import Way
    >>> rows([Way("a", "dsl", ("dsl",)), Way("b", "dsl", ("dsl",))])
    [('dsl',)]
    """
    return list(dict.fromkeys(way.links for way in used))
