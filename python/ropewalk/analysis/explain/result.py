"""Result type of `explain`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...provenance import with_origin
from ...results.displayable import Displayable
from ...scenario import Scenario
from .settings import Setting

if TYPE_CHECKING:
    from ...engines.wireless.layout import RadioLayout
    from ...engines.wireless.link_budget import Budget
    from ...model.wifi import Hop
    from ...provenance import Origin


@dataclass(frozen=True)
class Explanation(Displayable):
    """A scenario's settings with their sources, and the budgets of its radio links.

    Attributes
    ----------
    scenario : Scenario
        The scenario explained.
    settings : tuple of Setting
        Every key with its value and its source.
    place : Place or None
        Positions of its radios; None if all links are wired.
    budgets : tuple of Budget
        Link budgets of its wireless links, both directions each.
    hidden : tuple of (Hop, str)
        Hops with a hidden station: one that does not hear the sender but reaches the receiver.
    origin : Origin or None
        Origin of the results.

    Examples
    --------
    >>> import ropewalk
    >>> explanation = ropewalk.explain("start/two-links")
    >>> explanation.json()["engine"]
    'explain'
    """

    scenario: Scenario
    settings: tuple[Setting, ...]
    place: RadioLayout | None = None
    budgets: tuple[Budget, ...] = ()
    hidden: tuple[tuple[Hop, str], ...] = ()
    origin: Origin | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        radio = f", {len(self.budgets)} wireless links" if self.budgets else ""
        return f"<Explanation of {self.scenario.title!r}: {len(self.settings)} settings{radio}>"

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        known: dict[str, Any] = {
            "engine": "explain",
            "scenario": self.scenario.title,
            "settings": [each.json() for each in self.settings],
            "wireless_links": [each.json() for each in self.budgets],
            "hidden": [
                {"channel": hop.channel, "from": hop.sender, "to": hop.receiver, "station": node}
                for hop, node in self.hidden
            ],
            "warnings": list(self.scenario.warnings),
        }
        known = {key: value for key, value in known.items() if value}
        return with_origin(known, self.origin)
