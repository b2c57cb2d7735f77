"""``ropewalk explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import explanation
from .failures import failures, wrong_input
from .options import Changes, Json, ScenarioFile, load
from .output import answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..explanation import Explanation


def explain(scenario: ScenarioFile, as_json: Json = False, changes: Changes = None) -> None:
    """Say what is in force in a scenario: every key, its value, and whence it is.

    Example: ropewalk explain scenarios/start/two-links.toml
    """
    with wrong_input():
        loaded = load(scenario, changes)
    with failures():
        explained = explanation.explain(loaded)
    answer(explained, _table, [], as_json=as_json)


def _table(explained: Explanation) -> RenderableType:
    from ..explanation.table import table

    return table(explained)
