"""Chooses the formula for flows over 802.11 channels, if there is one."""

from __future__ import annotations

from .coverage import is_wireless
from .paths import Values, others
from .result import NoFormulaError, Prediction


def predict(values: Values) -> Prediction | None:
    """Predict bulk goodput over wireless hops; None where no path has one."""
    if not is_wireless(values):
        return None
    flows = [values["transport"], *others(values)]
    traffics = [values["traffic"], *(flow["traffic"] for flow in others(values))]
    for flow, traffic in zip(flows, traffics, strict=True):
        if traffic["kind"] != "bulk":
            raise NoFormulaError(f"no formula has {traffic['kind']} messages over 802.11 channels")
        if flow["protocol"] == "striped-tcp":
            raise NoFormulaError("no formula has striped-tcp over 802.11 channels")
    from ..wireless.from_scenario import place_of
    from .wifi_airtime import airtime, cell

    place = place_of(values)
    alone = len(flows) == 1 and values["transport"]["count"] == 1
    return airtime(values, place) if alone else cell(values, place, flows)
