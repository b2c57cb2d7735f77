"""Data classes of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...provenance import with_origin
from ...results.displayable import Displayable

if TYPE_CHECKING:
    from ...provenance import Origin


@dataclass(frozen=True)
class Prediction:
    """Prediction of one model for a scenario; unknown quantities are absent.

    Attributes
    ----------
    name : str
        Short name of the model, such as ``"song-2018"``.
    source : str
        Its source, with the numbers of equations.
    goodput_mbps : float or None
        Goodput of the application, Mbit/s.
    delay_ms : mapping of str to float
        Delay and its parts in ms: ``mean``, ``p95``, ``bound``, ``network``, ...
    bottleneck : str or None
        Limit of the goodput, in words.
    validity : str
        Assumptions of the model, in words.
    warnings : tuple of str
        Assumptions that the scenario breaks.
    quantities : mapping of str to number or list of them
        Further outputs, with the unit in each name.
    cost : float or None
        Sum over the links of price times Mbit/s of IP packets; None without prices.
    """

    name: str
    source: str
    validity: str
    goodput_mbps: float | None = None
    delay_ms: Mapping[str, float] = field(default_factory=dict)
    bottleneck: str | None = None
    warnings: tuple[str, ...] = ()
    quantities: Mapping[str, Any] = field(default_factory=dict)
    cost: float | None = None

    def __repr__(self) -> str:
        goodput = "none" if self.goodput_mbps is None else f"{self.goodput_mbps:.2f} Mbit/s"
        return f"<Prediction of {self.name}: {goodput}>"

    def json(self) -> dict[str, Any]:
        """Return the entry of ``models`` in the ``--json`` output."""
        known: dict[str, Any] = {
            "name": self.name,
            "source": self.source,
            "goodput_mbps": self.goodput_mbps,
            "delay_ms": dict(self.delay_ms) or None,
            "cost": self.cost,
            "bottleneck": self.bottleneck,
            "validity": self.validity,
            "warnings": list(self.warnings) or None,
            "quantities": dict(self.quantities) or None,
        }
        return {key: value for key, value in known.items() if value is not None}


class NoFormulaError(Exception):
    """A model applies, but lacks a formula for an algorithm of the scenario."""


@dataclass(frozen=True)
class Predictions(Displayable):
    """Predictions of all models that apply to a scenario.

    Attributes
    ----------
    scenario : str
        Title of the scenario.
    models : tuple of Prediction
        One prediction per model, most credible first.
    asymmetry : mapping of str to float
        Mean absolute difference of two paths (Song et al. 2018, section 4.3): ``delay_ms`` for the
        round-trip propagation delay, ``bandwidth_mbps`` for the rate.
    believed : str or None
        Name of the most credible model; None if no model gives a goodput.
    reason : str or None
        Reason for `believed`.
    warnings : tuple of str
        Warnings of the scenario, and models without a formula for one of its algorithms.
    origin : Origin or None

    Examples
    --------
    >>> import ropewalk
    >>> predictions = ropewalk.predict("start/two-links")
    >>> predictions.best.name
    'fluid'
    >>> predictions.json()["engine"]
    'predict'
    """

    scenario: str
    models: tuple[Prediction, ...]
    asymmetry: Mapping[str, float] = field(default_factory=dict)
    believed: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    origin: Origin | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        told = [
            each.name
            if each.goodput_mbps is None
            else f"{each.name} {each.goodput_mbps:.2f} Mbit/s"
            for each in self.models
        ]
        believed = f"; believed: {self.believed}" if self.believed else ""
        return f"<Predictions of {self.scenario!r}: {', '.join(told) or 'no model'}{believed}>"

    @property
    def best(self) -> Prediction | None:
        """The most credible prediction; None if no model gives a goodput."""
        return None if self.believed is None else self.model(self.believed)

    def model(self, name: str) -> Prediction:
        """Return the prediction of the model with this short name.

        Raises
        ------
        ValueError
            The model does not exist, or does not apply to the scenario.

        Examples
        --------
        >>> import ropewalk
        >>> ropewalk.predict("start/two-links").model("song-2018")
        Traceback (most recent call last):
        ValueError: no prediction 'song-2018'; there are: fluid, loss-limits
        """
        for prediction in self.models:
            if prediction.name == name:
                return prediction
        there = ", ".join(prediction.name for prediction in self.models)
        raise ValueError(f"no prediction {name!r}; there are: {there or 'none'}")

    def json(self) -> dict[str, Any]:
        """Return the output of ``--json``: the known keys of a run, and the models."""
        best = self.best
        of_best = {} if best is None else best.json()
        known: dict[str, Any] = {"engine": "predict", "scenario": self.scenario}
        for key in ("goodput_mbps", "cost", "delay_ms"):
            if key in of_best:
                known[key] = of_best[key]
        if best is not None:
            known |= {"best": self.believed, "reason": self.reason}
        if self.asymmetry:
            known["asymmetry"] = dict(self.asymmetry)
        known["models"] = [prediction.json() for prediction in self.models]
        warned = (*self.warnings, *(best.warnings if best is not None else ()))
        return with_origin(known | ({"warnings": list(warned)} if warned else {}), self.origin)
