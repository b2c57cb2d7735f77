"""Explain a scenario: every setting with its source, and the budget of each radio link."""

from __future__ import annotations

from ...provenance import Beginning
from ...scenario import Given, Scenario
from .result import Explanation
from .settings import settings


def explain(scenario: Given) -> Explanation:
    """Explain a scenario: every setting, defaults included, with its source.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to explain.

    Returns
    -------
    Explanation
        Every setting with its source; where there are radios, their place, and for each wireless
        link power, margin, times of a frame, and the most that it gives.

    Raises
    ------
    ScenarioError
        The scenario is wrong.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import ropewalk
    >>> explanation = ropewalk.explain("start/two-links")
    >>> [each.value for each in explanation.settings if each.source == "file"][:2]
    ['Two unequal links', '30 s']
    """
    began = Beginning()
    scenario = Scenario.of(scenario)
    setup = scenario.setup
    found = tuple(settings(scenario))
    if not any(link.channel is not None for link in setup.links):
        return Explanation(scenario, found, origin=began.origin(scenario))
    from ...engines.wireless.from_scenario import place_of
    from ...engines.wireless.link_budget import budgets

    place = place_of(setup)
    flow = setup.first
    payload = flow.segment
    packet = payload + flow.header_bytes
    return Explanation(
        scenario,
        found,
        place,
        tuple(budgets(place, packet, payload)),
        tuple(place.hidden()),
        began.origin(scenario),
    )
