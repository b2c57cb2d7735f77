"""Prediction of a scenario by all applicable models: `predict`."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ...provenance import Stopwatch
from ...scenario import Given, Scenario
from ...support.optional_deps import MissingLibraryError
from ...units import BITS_TO_MBPS
from .result import NoFormulaError, Prediction, Predictions

if TYPE_CHECKING:
    from ...scenario.setup import Setup


# For each protocol the models that give a goodput, most credible first, with the reason.
BELIEVED = {
    "striped-tcp": (("striped-cycle", "it simulates the packets, and nothing is random"),),
}
OTHERS = (
    ("datagrams", "no congestion control, and each link acts independently"),
    ("fluid", "only this model includes queues, windows and start-up"),
    ("wifi-airtime", "it includes the airtime that the hops share"),
    ("bianchi", "it includes the collisions of saturated stations"),
)


def predict(scenario: Given) -> Predictions:
    """Predict a scenario's results by all models that apply.

    Parameters
    ----------
    scenario : Scenario, path or mapping

    Returns
    -------
    Predictions
        One prediction per model, and the most credible one.

    Raises
    ------
    ScenarioError
        The scenario is wrong.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import ropewalk
    >>> ropewalk.predict("start/two-links").best.name
    'fluid'
    """
    from . import datagrams, deadline_bound, fluid, wifi
    from .coverage import has_further_flows, is_wireless, uncovered_reasons
    from .models import MODELS

    began = Stopwatch()
    scenario = Scenario.of(scenario)
    setup = scenario.setup
    models = MODELS
    found: dict[str, Prediction] = {}
    left_out: list[str] = []
    if is_wireless(setup):
        models = (wifi.predict,)
        left_out.append(
            "flows use 802.11 channels: models of wired links are left out, and delays are not"
            " predicted; use ropewalk simulate"
        )
    elif left_out := uncovered_reasons(setup):
        models = ()
    elif setup.first.protocol == "udp":
        models = (datagrams.predict,)
    elif has_further_flows(setup):
        models = (fluid.predict,)
        name = setup.first.name
        left_out.append(
            f"the numbers are for flow {name!r}, one of several; models of a single connection"
            " are left out"
        )
    if any(link.quota is not None for link in setup.links):
        left_out.append("no formula covers quotas: links are predicted without them")
    if any(link.strips_mptcp is not None for link in setup.links):
        left_out.append(
            "no formula covers strips_mptcp: MPTCP is predicted as if its options passed all links"
        )
    if models and not has_further_flows(setup) and not is_wireless(setup):
        models = (*models, lambda _: deadline_bound.predict(scenario))
    for model in models:
        try:
            made = model(setup)
        except (NoFormulaError, MissingLibraryError) as error:
            left_out.append(str(error))
            continue
        if made is not None:
            found[made.name] = made
    best = reason = None
    for name, why in BELIEVED.get(setup.first.protocol, OTHERS):
        if name in found and found[name].goodput_mbps is not None:
            best, reason = name, why
            break
    order = sorted(found.values(), key=lambda prediction: prediction.name != best)
    return Predictions(
        scenario=scenario.title,
        models=tuple(order),
        asymmetry=_asymmetry(setup),
        believed=best,
        reason=reason,
        warnings=(*scenario.warnings, *left_out),
        origin=began.origin(scenario),
    )


def _asymmetry(setup: Setup) -> dict[str, float]:
    """Return the mean absolute difference of two paths, Song et al. 2018, section 4.3."""
    from .paths import paths

    used = paths(setup)
    if len(used) == 1 or any(path.wireless for path in used):
        return {}
    known = {"delay_ms": 1e3 * _difference([path.rtt for path in used])}
    rates = [path.rate for path in used]
    if max(rates) < float("inf"):
        known["bandwidth_mbps"] = BITS_TO_MBPS * _difference(rates)
    return known


def _difference(of: list[float]) -> float:
    pairs = list(combinations(of, 2))
    return sum(abs(one - other) for one, other in pairs) / len(pairs)
