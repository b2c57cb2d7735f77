"""Data classes of advice: an answer, the settings that it recommends, and its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...provenance import with_origin
from ...results.shown import Shown
from ...scenario.spelling import Value

if TYPE_CHECKING:
    from ...provenance import Origin
    from ...scenario import Scenario
    from .evaluator import Measured


@dataclass(frozen=True)
class Evidence:
    """One candidate that was considered, and the numbers that it gave in this run.

    Attributes
    ----------
    what : str
        What it is, such as a scheduler's name or the names of links.
    numbers : mapping of str to float
        ``goodput_mbps``, ``ci95_mbps``, ``delay_p95_ms`` and ``cost`` are simulated,
        ``predicted_mbps`` is a model's; others have their unit in their name.
    settings : mapping of str to value
        Keys of the scenario that were set to look at it.
    remarks : tuple of str
        What it is among the others: ``"advised"``, ``"present"``, ``"all links"``, ...
    """

    what: str
    numbers: Mapping[str, float]
    settings: Mapping[str, Value] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return it for ``--json``; what is not known is absent."""
        known: dict[str, Any] = {"what": self.what, **self.numbers}
        if self.settings:
            known["settings"] = dict(self.settings)
        return known | ({"remarks": list(self.remarks)} if self.remarks else {})


@dataclass(frozen=True)
class Advice:
    """An answer to one question.

    Attributes
    ----------
    question : str
        Its short name, such as ``"links"``.
    title : str
        The question, in words.
    answer : str
        The answer, in words.
    settings : mapping of str to value
        Keys of the scenario to set, and to what; empty where nothing is to change.
    numbers : mapping of str to float
        What it gains or costs: shares of one (``gain_...``), or with their unit.
    evidence : tuple of Evidence
        What the answer rests on, the best first where there is an order.
    notes : tuple of str
        How it was found, and what to know before following it.
    """

    question: str
    title: str
    answer: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Advice on {self.question}: {self.answer}>"

    def json(self) -> dict[str, Any]:
        """Return it as an object of ``advice`` in what ``--json`` prints."""
        known: dict[str, Any] = {
            "question": self.question,
            "title": self.title,
            "answer": self.answer,
        }
        if self.settings:
            known["settings"] = dict(self.settings)
        known |= self.numbers
        known["evidence"] = [each.json() for each in self.evidence]
        return known | ({"notes": list(self.notes)} if self.notes else {})


@dataclass(frozen=True)
class Subset:
    """A subset of the paths, and the goodput of a connection over them.

    Attributes
    ----------
    paths : tuple of str
        Their names, in the scenario's order.
    predicted_mbps : float or None
        By the model; None where it was not asked or has no answer.
    simulated_mbps : float or None
        Mean over the runs; None where it was not simulated.
    """

    paths: tuple[str, ...]
    predicted_mbps: float | None = None
    simulated_mbps: float | None = None


@dataclass(frozen=True)
class Check:
    """How good the advised links are among all subsets, each of them simulated.

    Attributes
    ----------
    subsets : int
        Number of subsets.
    rank : int
        Place of the advised one, 1 for the best.
    ratio : float
        Its goodput over that of the best.
    best : Evidence
        The best one.
    advised : Evidence
        The advised one.
    model : mapping of str to float
        The same of the model's own first choice, ``rank`` and ``ratio``, and the rank correlation
        (Spearman) of prediction and simulation; empty without a model.
    simulated : mapping of tuple of str to Measured
        Results of each subset.
    """

    subsets: int
    rank: int
    ratio: float
    best: Evidence
    advised: Evidence
    model: Mapping[str, float] = field(default_factory=dict)
    simulated: Mapping[tuple[str, ...], Measured] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        known: dict[str, Any] = {
            "subsets": self.subsets,
            "rank": self.rank,
            "ratio": self.ratio,
            "best": self.best.json(),
            "advised": self.advised.json(),
        }
        return known | ({"model": dict(self.model)} if self.model else {})


@dataclass(frozen=True)
class Counsel(Shown):
    """All advice on one scenario.

    Attributes
    ----------
    scenario : Scenario
        The scenario of the advice.
    seed : int
        Seed of the first run of each candidate.
    runs : int
        Runs of each candidate; 1 where nothing is random.
    simulated : int
        How many candidates were simulated.
    advice : tuple of Advice
        One for each question that the scenario leaves open.
    subsets : tuple of Subset
        All that was predicted or simulated of which links to use.
    advised : tuple of str
        The paths that are advised.
    model : str or None
        Which model predicted; None if none gives a goodput.
    check : Check or None
        How good the advised links are among all subsets, if that was asked for.
    origin : Origin or None
        Origin of the results.

    Examples
    --------
    >>> import ropewalk
    >>> counsel = ropewalk.advise("start/two-links")
    >>> counsel.advised, counsel.about("links").numbers["links"]
    (('dsl', 'cable'), 2)
    """

    scenario: Scenario
    seed: int
    runs: int
    simulated: int
    advice: tuple[Advice, ...]
    subsets: tuple[Subset, ...]
    advised: tuple[str, ...]
    model: str | None = None
    check: Check | None = None
    origin: Origin | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        links = ", ".join(self.advised)
        return (
            f"<Counsel on {self.scenario.title!r}: {len(self.advice)} answers,"
            f" {self.simulated} candidates simulated; use {links}>"
        )

    def about(self, question: str) -> Advice:
        """Return the advice on one question.

        Parameters
        ----------
        question : str
            Its short name.

        Raises
        ------
        ValueError
            Nothing was asked by that name.

        Examples
        --------
        >>> import ropewalk
        >>> ropewalk.advise("start/two-links").about("weather")
        Traceback (most recent call last):
        ValueError: no advice on 'weather'; there is: links, weakest, scheduler, congestion, \
buffers, together
        """
        for each in self.advice:
            if each.question == question:
                return each
        there = ", ".join(each.question for each in self.advice)
        raise ValueError(f"no advice on {question!r}; there is: {there}")

    def json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        known: dict[str, Any] = {
            "engine": "advise",
            "scenario": self.scenario.title,
            "seed": self.seed,
            "runs": self.runs,
            "simulated": self.simulated,
        }
        if self.model is not None:
            known["model"] = self.model
        known["advised"] = list(self.advised)
        known["advice"] = [each.json() for each in self.advice]
        if self.check is not None:
            known["check"] = self.check.json()
        warnings = self.scenario.warnings
        known |= {"warnings": list(warnings)} if warnings else {}
        return with_origin(known, self.origin)
