"""Selection of the formula for flows over 802.11 channels."""

from __future__ import annotations

from ...scenario.setup import Setup
from .coverage import is_wireless
from .result import NoFormulaError, Prediction


def predict(setup: Setup) -> Prediction | None:
    """Predict bulk goodput over wireless hops; None where no path has one."""
    if not is_wireless(setup):
        return None
    flows = setup.every_flow
    for flow in flows:
        kind = flow.traffic.kind
        if kind != "bulk":
            raise NoFormulaError(f"no formula covers {kind} messages over 802.11 channels")
        if flow.protocol == "striped-tcp":
            raise NoFormulaError("no formula covers striped-tcp over 802.11 channels")
    from ..wireless.from_scenario import radio_layout
    from .wifi_airtime import airtime, cell

    layout = radio_layout(setup)
    alone = len(flows) == 1 and setup.first.count == 1
    return airtime(setup, layout) if alone else cell(setup, layout, flows)
