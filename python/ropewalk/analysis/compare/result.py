"""Results of several ways of running one scenario, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...engines.testbed.own_error import bounds
from ...provenance import with_origin, without_origin
from ...results.displayable import Displayable
from ...support.numerals import decimal
from .agreement import Agreement, agreements, flat_runs
from .numbers import flat_numbers, predicted
from .reasons import reasons

if TYPE_CHECKING:
    import polars as pl

    from ...engines.predict import Predictions
    from ...provenance import Origin
    from ...results import Results
    from ...scenario import Scenario

# Pairs: judged way, reference way.
PAIRS = (("predict", "simulate"), ("simulate", "testbed"), ("predict", "testbed"))


@dataclass(frozen=True)
class Comparison(Displayable):
    """One scenario, predicted, simulated, and measured on the kernel.

    Attributes
    ----------
    scenario : Scenario
        The compared scenario.
    predictions : Predictions or None
        Predictions; None if not requested or without a goodput.
    simulated : Results or None
        Simulation; None if not requested or not possible.
    measured : Results or None
        Testbed measurement; None if not requested or not possible here.
    left_out : mapping of str to str
        Reasons, one line each, why ways do not apply.
    origin : Origin or None
        Origin of the results.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = "start/two-links"
    >>> comparison = ropewalk.compare(scenario, ways=["predict", "simulate"])
    >>> comparison.ways
    ('predict', 'simulate')
    >>> comparison.accuracy["predict_against_simulate"] > 0.9
    True
    """

    scenario: Scenario
    predictions: Predictions | None = None
    simulated: Results | None = None
    measured: Results | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    origin: Origin | None = field(default=None, compare=False)

    @property
    def ran(self) -> dict[str, Results]:
        """The packet-level ways with results, by name."""
        of = {"simulate": self.simulated, "testbed": self.measured}
        return {way: results for way, results in of.items() if results is not None}

    @property
    def ways(self) -> tuple[str, ...]:
        """The compared ways."""
        return (*(("predict",) if self.predictions is not None else ()), *self.ran)

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """Mean numbers of each way over its runs, by flat names.

        Names join the keys of the JSON object with dots: ``"goodput_mbps"``, ``"delay_ms.p95"``,
        ``"subflows.wifi.goodput_mbps"``, ``"links.wifi.dropped_packets"``.
        """
        known = {} if self.predictions is None else {"predict": predicted(self.predictions)}
        return known | {way: flat_numbers(results.mean) for way, results in self.ran.items()}

    @cached_property
    def ci95(self) -> dict[str, dict[str, float]]:
        """Half the width of the 95 % confidence interval of each mean; empty for one run."""
        return {way: {} for way in self.ways} | {
            way: flat_numbers(results.ci95) for way, results in self.ran.items()
        }

    @cached_property
    def undisturbed(self) -> dict[str, tuple[float, float]]:
        """Range of the testbed's means without the machine's disturbance.

        By flat names: ``"goodput_mbps"``, ``"delay_ms.mean"``, ... Empty without the testbed.
        """
        error = {} if self.measured is None else self.measured.mean.get("own_error", {})
        return bounds(error) if error else {}

    @cached_property
    def accuracy(self) -> dict[str, float]:
        """Accuracy of one way's goodput against another's, 1 if they are equal.

        ``"predict_against_simulate"`` is ``1 - |P - S| / S`` for the mean goodputs P and S, the
        prediction accuracy of Song et al. 2018, section 5.1.4. ``"simulate_against_testbed"`` and
        ``"predict_against_testbed"`` are analogous. Pairs with an unknown goodput are absent.
        """
        from ...model.song2018 import prediction_accuracy

        found = {}
        for judged, against in PAIRS:
            one, other = (self.means.get(way, {}).get("goodput_mbps") for way in (judged, against))
            if one is not None and other:
                found[f"{judged}_against_{against}"] = float(prediction_accuracy(one, other))
        return found

    @cached_property
    def agreements(self) -> tuple[Agreement, ...]:
        """Agreement of each pair of ways in all common quantities, with significance.

        Covers goodput, delays, the share of each subflow and retransmissions. A formula counts as
        one run.
        """
        known = {way: flat_runs(results) for way, results in self.ran.items()}
        if self.predictions is not None:
            known["predict"] = [self.means["predict"]]
        return tuple(
            each
            for judged, against in PAIRS
            if judged in known and against in known
            for each in agreements(judged, against, known)
        )

    @cached_property
    def explanation(self) -> tuple[str, ...]:
        """Sentences that explain the differences between ways; empty if they agree."""
        return reasons(self)

    @cached_property
    def numbers(self) -> pl.DataFrame:
        """Table of all quantities, a row each: ``quantity``, each way, and its ``ci95_``.

        Ways with several runs have an interval column. ``low_testbed`` and ``high_testbed`` are
        the ends of `undisturbed`. Names contain units.
        """
        import polars as pl

        names = dict.fromkeys(name for way in self.ways for name in self.means[way])
        columns: dict[str, Any] = {"quantity": list(names)}
        for way in self.ways:
            columns[way] = [self.means[way].get(name) for name in names]
            if self.ci95[way]:
                columns[f"ci95_{way}"] = [self.ci95[way].get(name) for name in names]
            if way == "testbed" and self.undisturbed:
                ends = [self.undisturbed.get(name, (None, None)) for name in names]
                columns[f"low_{way}"], columns[f"high_{way}"] = map(list, zip(*ends, strict=True))
        floats = dict.fromkeys([*columns][1:], pl.Float64)
        return pl.DataFrame(columns, schema={"quantity": pl.String, **floats})

    def json(self) -> dict[str, Any]:
        """Return the JSON form: each way's object, and the accuracy."""
        made = {} if self.predictions is None else {"predict": self.predictions.json()}
        made |= {way: results.json() for way, results in self.ran.items()}
        known: dict[str, Any] = {
            "engine": "compare",
            "scenario": self.scenario.title,
            "ways": {way: without_origin(each) for way, each in made.items()},
            "accuracy": self.accuracy,
            "agreements": [each.json() for each in self.agreements],
        }
        optional = {"explanation": list(self.explanation), "left_out": dict(self.left_out)}
        known |= {key: value for key, value in optional.items() if value}
        return with_origin(known, self.origin)

    def __repr__(self) -> str:
        text = ", ".join(
            f"{way} {decimal(self.means[way].get('goodput_mbps', float('nan')))}"
            for way in self.ways
        )
        return f"<Comparison of {self.scenario.title!r}: {text} Mbit/s>"
