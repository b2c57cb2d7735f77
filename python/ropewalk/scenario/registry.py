"""The algorithms that a scenario may name, with their parameters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from .. import _core
from ..support.arguments import choice


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an algorithm.

    Parameters
    ----------
    name : str
        Name in scenario files.
    doc : str
        Meaning.
    source : str
        Source that defines it.
    allowed : str
        Allowed values, in words.
    default : str
        Default value, as scenario files spell it.
    """

    name: str
    doc: str
    source: str
    allowed: str
    default: str


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An algorithm that a scenario may name.

    Parameters
    ----------
    name : str
        Name in scenario files.
    doc : str
        Description.
    source : str
        Specification.
    tags : frozenset of str
        ``coupled``: a congestion control that couples subflows' windows. ``single-path``: also
        available for TCP. ``blind``: a scheduler that a virtual device can use. ``many-streams``:
        only for bandwidth aggregation. ``queueing``: only for MPTCP.
    parameters : tuple of Parameter
        In the order of their declaration.
    """

    name: str
    doc: str
    source: str
    tags: frozenset[str]
    parameters: tuple[Parameter, ...]


@cache
def algorithms(key: str) -> tuple[Algorithm, ...]:
    """Return the algorithms that a key of ``[transport]`` may name.

    Parameters
    ----------
    key : str
        ``"congestion"``, ``"subflow"``, ``"scheduler"``, ...

    Raises
    ------
    ValueError
        The key takes no algorithm; the message lists the keys that do.

    Examples
    --------
    >>> [each.name for each in algorithms("subflow")][:2]
    ['newreno', 'cubic']
    >>> blest = next(each for each in algorithms("scheduler") if each.name == "blest")
    >>> blest.parameters[0].default
    '1.2'
    """
    declared = _declared()
    choice("key", key, declared)
    return tuple(
        Algorithm(
            each["name"],
            each["doc"],
            each["source"],
            frozenset(each["tags"]),
            tuple(Parameter(**parameter) for parameter in each["parameters"]),
        )
        for each in declared[key]
    )


def is_coupled(congestion: str) -> bool:
    """Return whether a congestion control couples the windows of subflows.

    Examples
    --------
    >>> is_coupled("lia"), is_coupled("cubic")
    (True, False)
    """
    return any(
        each.name == congestion and "coupled" in each.tags for each in algorithms("congestion")
    )


def algorithm_keys() -> tuple[str, ...]:
    """Return the keys of ``[transport]`` that take an algorithm.

    Examples
    --------
    >>> "scheduler" in algorithm_keys()
    True
    """
    return tuple(_declared())


@cache
def _declared() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(_core.algorithms_json())
    return found
