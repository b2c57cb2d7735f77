"""The function `explain`: settings with sources, and budgets of radio links."""

from __future__ import annotations

from ...provenance import Stopwatch
from ...scenario import Given, Scenario
from .result import Explanation
from .settings import settings


def explain(scenario: Given) -> Explanation:
    """List every setting of a scenario, defaults included, with its source.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to explain.

    Returns
    -------
    Explanation
        Every setting with its source. For radios also positions, and for each wireless link power,
        margin, frame times and largest goodput.

    Raises
    ------
    ScenarioError
        The scenario is invalid.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import ropewalk
    >>> explanation = ropewalk.explain("start/two-links")
    >>> [each.value for each in explanation.settings if each.source == "file"][:2]
    ['Two unequal links', '30 s']
    """
    began = Stopwatch()
    scenario = Scenario.of(scenario)
    setup = scenario.setup
    found = tuple(settings(scenario))
    if not any(link.channel is not None for link in setup.links):
        return Explanation(scenario, found, origin=began.origin(scenario))
    from ...engines.wireless.from_scenario import radio_layout
    from ...engines.wireless.link_budget import budgets

    place = radio_layout(setup)
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
