"""What an explanation of a scenario has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..scenario import Scenario
from .settings import Setting


@dataclass(frozen=True)
class Explanation:
    """A scenario with all that its file leaves to defaults.

    Attributes
    ----------
    scenario : Scenario
        Which.
    settings : tuple of Setting
        Every key in force, with its value and whence it is.

    Examples
    --------
    >>> import ropewalk
    >>> explanation = ropewalk.explain("scenarios/start/two-links.toml")
    >>> explanation.json()["engine"]
    'explain'
    """

    scenario: Scenario
    settings: tuple[Setting, ...]

    def json(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        known: dict[str, Any] = {
            "engine": "explain",
            "scenario": self.scenario.title,
            "settings": [each.json() for each in self.settings],
            "warnings": list(self.scenario.warnings),
        }
        return {key: value for key, value in known.items() if value}
