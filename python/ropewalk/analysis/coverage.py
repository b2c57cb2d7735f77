"""Result types of the coverage of papers: each statement, its rows and its state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ..results.displayable import Displayable
from .reproduction import MARGIN

if TYPE_CHECKING:
    from .reproduction import ComparedValue

Kind: TypeAlias = Literal["mechanism", "equation", "experiment", "figure", "claim"]
State: TypeAlias = Literal[
    "met", "not met", "shown", "tested", "not here", "no result", "no row", "no item"
]
STATES: tuple[State, ...] = (
    "met", "not met", "shown", "tested", "not here", "no result", "no row", "no item",
)  # fmt: skip
FAULTS: tuple[State, ...] = ("no row", "no item")  # faults of the list, not of a result


@dataclass(frozen=True)
class Statement:
    """A statement of a paper, and where Ropewalk shows it.

    Exactly one of `item`, `test` and `not_here` is given.

    Attributes
    ----------
    paper : str
        Such as ``"song-2018"``.
    number : int
        Place in the paper's list, from 1.
    kind : {"mechanism", "equation", "experiment", "figure", "claim"}
        Kind of the statement.
    statement : str
        The statement, in our words.
    where : str
        Section, equation, figure or table.
    item : str or None
        Item of ``ropewalk reproduce`` with the statement's rows.
    rows : tuple of str
        Patterns of the rows' quantities; ``*`` stands for any text.
    test : str or None
        Test that shows the statement, as file and name: ``"tests/python/test_exec.py::test_x"``.
    not_here : str or None
        Reason why Ropewalk cannot show it.
    """

    paper: str
    number: int
    kind: Kind
    statement: str
    where: str
    item: str | None = None
    rows: tuple[str, ...] = ("*",)
    test: str | None = None
    not_here: str | None = None

    def claims(self, quantity: str) -> bool:
        """Return whether a row of the item with this quantity belongs to the statement.

        Examples
        --------
        >>> gain = Statement("p", 1, "claim", "", "", item="fig3", rows=("gain, *",))
        >>> gain.claims("gain, two channels"), gain.claims("loss")
        (True, False)
        """
        return matches(self.rows, quantity)


@dataclass(frozen=True)
class CoveredStatement:
    """A statement with its rows.

    Attributes
    ----------
    statement : Statement
        The statement.
    rows : tuple of ComparedValue
        Rows of its item that show it.
    state : str
        ``"met"`` if all rows with a band are within it, ``"not met"`` if one is not, ``"shown"``
        if no row has a band, ``"tested"``, ``"not here"``, ``"no result"`` if the item was not
        made, ``"no row"`` if no row of the item matches, ``"no item"`` if there is no such item.
    """

    statement: Statement
    rows: tuple[ComparedValue, ...]
    state: State

    @property
    def judged(self) -> list[bool]:
        """Whether each row with a band is within it."""
        return [each.met for each in self.rows if each.met is not None]

    @property
    def reason(self) -> str | None:
        """The reason of the unmet row that is farthest from its band; otherwise `not_here`."""
        unmet = [each for each in self.rows if each.met is False and each.reason]
        if not unmet:
            return self.statement.not_here
        return max(unmet, key=lambda each: distance(each) or 0.0).reason

    def json(self) -> dict[str, Any]:
        """Return the JSON form, without unknown values."""
        known = self.statement
        values = {
            "paper": known.paper,
            "number": known.number,
            "kind": known.kind,
            "statement": known.statement,
            "where": known.where,
            "item": known.item,
            "test": known.test,
            "state": self.state,
            "reason": self.reason,
            "rows": [each.json() for each in self.rows] if known.item else None,
        }
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True)
class Coverage(Displayable):
    """The statements of one or several papers, with their states.

    Attributes
    ----------
    statements : tuple of CoveredStatement
        Grouped by paper, in the papers' order.
    missing : tuple of (str, str)
        Paper and item without a result.
    unclaimed : tuple of (str, str, str)
        Paper, item and quantity of rows with a band that no statement claims. Rows of other
        readings than the chosen one are left out.
    """

    statements: tuple[CoveredStatement, ...]
    missing: tuple[tuple[str, str], ...] = ()
    unclaimed: tuple[tuple[str, str, str], ...] = ()

    def __repr__(self) -> str:
        return f"<Coverage of {len(self.statements)} statements: {self.counts()['met']} met>"

    @property
    def papers(self) -> list[str]:
        """Names of the papers."""
        return list(dict.fromkeys(each.statement.paper for each in self.statements))

    @property
    def faults(self) -> list[CoveredStatement]:
        """Statements whose item or rows do not exist."""
        return [each for each in self.statements if each.state in FAULTS]

    def of(self, paper: str) -> list[CoveredStatement]:
        """Return the statements of a paper."""
        return [each for each in self.statements if each.statement.paper == paper]

    def counts(self, paper: str | None = None) -> dict[str, int]:
        """Return the number of statements of a paper, or of all, in all and by state."""
        found = [each for each in self.statements if paper in (None, each.statement.paper)]
        states = Counter(each.state for each in found)
        return {"statements": len(found)} | {state: states[state] for state in STATES}

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "engine": "reproduce",
            "statements": [each.json() for each in self.statements],
            "papers": [
                {"paper": paper} | {key.replace(" ", "_"): n for key, n in counts.items() if n}
                for paper, counts in ((paper, self.counts(paper)) for paper in self.papers)
            ],
            "missing": [f"{paper} {item}" for paper, item in self.missing],
            "unclaimed": [
                {"paper": paper, "item": item, "quantity": quantity}
                for paper, item, quantity in self.unclaimed
            ],
        }


def matches(patterns: Iterable[str], quantity: str) -> bool:
    """Return whether a quantity matches one of some patterns; ``*`` stands for any text.

    Examples
    --------
    >>> matches(["gain, *", "loss"], "gain, two channels")
    True
    """
    return any(
        re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), quantity, re.DOTALL)
        for pattern in patterns
    )


def distance(row: ComparedValue) -> float | None:
    """Return how far a value is outside the band of its statement, in half widths of the band.

    0 within the band. A band without one of its ends, or of a single value, counts as wide as the
    default margin, a tenth of its end.

    Returns
    -------
    float or None
        None without a number or a band.

    Examples
    --------
    >>> from ropewalk.reproduction import ComparedValue
    >>> distance(ComparedValue("gain", 65.0, published=50, unit="%"))
    2.0
    >>> distance(ComparedValue("throughput", 3.5, published="at least 4", band=(4, None)))
    1.25
    """
    if row.limits is None or isinstance(row.ours, str) or row.holds is not None:
        return None
    least, greatest = row.limits
    if least is not None and greatest is not None and least < greatest:
        half = (greatest - least) / 2
    else:
        half = MARGIN * abs(least or greatest or 1.0)
    outside = max(
        0.0 if least is None else least - row.ours,
        0.0 if greatest is None else row.ours - greatest,
        0.0,
    )
    return outside / half


def farthest(
    rows: Iterable[tuple[str, ComparedValue]], count: int = 10
) -> Sequence[tuple[str, ComparedValue, float]]:
    """Return the named rows that are farthest outside their bands, the farthest first."""
    away = ((name, row, distance(row)) for name, row in rows)
    outside = [(name, row, far) for name, row, far in away if far]
    return sorted(outside, key=lambda each: -each[2])[:count]
