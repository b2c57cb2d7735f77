"""What is in force in a scenario: every setting with its source."""

from __future__ import annotations

import os

from ..scenario import Scenario
from .results import Explanation
from .settings import Setting, settings

__all__ = ["Explanation", "Setting", "explain"]


def explain(scenario: Scenario | str | os.PathLike[str]) -> Explanation:
    """Say what is in force in a scenario, defaults included.

    Parameters
    ----------
    scenario : Scenario or path
        What to explain.

    Returns
    -------
    Explanation
        Every setting with its source.

    Raises
    ------
    ScenarioError
        The scenario is wrong.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import ropewalk
    >>> explanation = ropewalk.explain("scenarios/start/two-links.toml")
    >>> [each.value for each in explanation.settings if each.source == "file"][:2]
    ['Two unequal links', '30 s']
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.load(scenario)
    return Explanation(scenario, tuple(settings(scenario)))
