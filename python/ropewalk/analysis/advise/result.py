"""Result types of `advise`: answers, recommended settings and evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...provenance import with_origin
from ...results.displayable import Displayable
from ...scenario.toml_syntax import Value

if TYPE_CHECKING:
    from ...provenance import Origin
    from ...scenario import Scenario
    from .evaluator import CandidateResult


@dataclass(frozen=True)
class Evidence:
    """An examined candidate and its values.

    Attributes
    ----------
    what : str
        Name of the candidate, such as a scheduler or names of links.
    numbers : mapping of str to float
        ``goodput_mbps``, ``ci95_mbps``, ``delay_p95_ms`` and ``cost`` are simulated;
        ``predicted_mbps`` comes from a model. Other names contain their unit.
    settings : mapping of str to value
        Keys of the scenario that define the candidate.
    remarks : tuple of str
        Role of the candidate: ``"advised"``, ``"present"``, ``"all links"``, ...
    """

    what: str
    numbers: Mapping[str, float]
    settings: Mapping[str, Value] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def json(self) -> dict[str, Any]:
        """Return the JSON form, without unknown values."""
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
        Short name of the question, such as ``"links"``.
    title : str
        The question in words.
    answer : str
        The answer in words.
    settings : mapping of str to value
        Recommended settings; empty for no change.
    numbers : mapping of str to float
        Gains and costs: fractions (``gain_...``), or values with the unit in their name.
    evidence : tuple of Evidence
        The examined candidates, the best first if they have an order.
    notes : tuple of str
        Method and caveats.
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
        """Return the JSON form, an object of ``advice``."""
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
    """A subset of the paths and its goodput.

    Attributes
    ----------
    paths : tuple of str
        Names in the scenario's order.
    predicted_mbps : float or None
        Prediction of the model; None if it was not evaluated or has no answer.
    simulated_mbps : float or None
        Mean over the runs; None if not simulated.
    """

    paths: tuple[str, ...]
    predicted_mbps: float | None = None
    simulated_mbps: float | None = None


@dataclass(frozen=True)
class Check:
    """Rank of the recommended links among all simulated subsets.

    Attributes
    ----------
    subsets : int
        Number of subsets.
    rank : int
        Rank of the recommended subset, 1 for the best.
    ratio : float
        Goodput of the recommended subset divided by that of the best.
    best : Evidence
        The best subset.
    advised : Evidence
        The recommended subset.
    model : mapping of str to float
        ``rank`` and ``ratio`` of the model's own first choice, and the Spearman correlation of
        prediction and simulation; empty without a model.
    simulated : mapping of tuple of str to CandidateResult
        Results of each subset.
    """

    subsets: int
    rank: int
    ratio: float
    best: Evidence
    advised: Evidence
    model: Mapping[str, float] = field(default_factory=dict)
    simulated: Mapping[tuple[str, ...], CandidateResult] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        known: dict[str, Any] = {
            "subsets": self.subsets,
            "rank": self.rank,
            "ratio": self.ratio,
            "best": self.best.json(),
            "advised": self.advised.json(),
        }
        return known | ({"model": dict(self.model)} if self.model else {})


@dataclass(frozen=True)
class AdviceResults(Displayable):
    """All recommendations for one scenario.

    Attributes
    ----------
    scenario : Scenario
        The examined scenario.
    seed : int
        Seed of the first run of each candidate.
    runs : int
        Runs of each candidate; 1 if nothing is random.
    simulated : int
        Number of simulated candidates.
    advice : tuple of Advice
        One answer for each question that the scenario leaves open.
    subsets : tuple of Subset
        All predicted or simulated subsets of the links.
    advised : tuple of str
        Recommended paths.
    model : str or None
        Name of the predicting model; None if no model gives a goodput.
    check : Check or None
        Exhaustive check of the recommended links, if requested.
    origin : Origin or None
        Origin of the results.

    Examples
    --------
    >>> import ropewalk
    >>> results = ropewalk.advise("start/two-links")
    >>> results.advised, results.about("links").numbers["links"]
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
            f"<AdviceResults on {self.scenario.title!r}: {len(self.advice)} answers, "
            f"{self.simulated} candidates simulated; use {links}>"
        )

    def about(self, question: str) -> Advice:
        """Return the advice on one question, by its short name.

        Raises ValueError if there is no advice by that name.

        Examples
        --------
        >>> import ropewalk
        >>> ropewalk.advise("start/two-links").about("weather")
        Traceback (most recent call last):
        ValueError: no advice on 'weather'; allowed: links, weakest, scheduler, congestion, \
buffers, together
        """
        for each in self.advice:
            if each.question == question:
                return each
        there = ", ".join(each.question for each in self.advice)
        raise ValueError(f"no advice on {question!r}; allowed: {there}")

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
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
