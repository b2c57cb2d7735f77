"""Gómez et al. 2014, equations (1) to (5): windows of simulated subflows against the equations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

from ...analysis.reproduction import ComparedValue, Reproduction
from ...output.style import COLOURS, picture
from ..published import published
from .windows import Change, changes

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Rule: TypeAlias = Callable[[Change], float]

BAND = (0.98, 1.02)
NAMES = ("upper", "lower")


def alpha(change: Change) -> float:
    """Return the aggressiveness factor, equation (5), from windows and round trips."""
    pairs = list(zip(change.windows, change.rtts_ms, strict=True))
    fastest = max(window / rtt**2 for window, rtt in pairs)
    return sum(change.windows) * fastest / sum(window / rtt for window, rtt in pairs) ** 2


def half(change: Change) -> float:
    """Return the window after a loss by (1), (3) and (4)."""
    return change.before / 2


def half_of_all(change: Change) -> float:
    """Return the window after a loss by (2), with the total window w for its lost symbol."""
    return max(change.before - sum(change.windows) / 2, 1)


# Number, congestion control, growth by an acknowledgement, window after a loss.
RULES: tuple[tuple[str, str, Rule, Rule], ...] = (
    ("(1)", "uncoupled", lambda change: 1 / change.before, half),
    ("(2)", "fully-coupled", lambda change: 1 / sum(change.windows), half_of_all),
    ("(3)", "linked-increases", lambda change: alpha(change) / change.before, half),
    (
        "(4)",
        "lia",
        lambda change: min(alpha(change) / sum(change.windows), 1 / change.before),
        half,
    ),
)
PRINTED = {"lia": "RTT compensator"}


def reproduce() -> Reproduction:
    """Compare growth and losses of two simulated subflows with each equation."""
    import polars as pl

    rows: list[ComparedValue] = []
    parts, scenarios = [], {}
    for number, congestion, growth, loss in RULES:
        found, scenarios[congestion] = changes(congestion)
        name = f"{number} {PRINTED.get(congestion, congestion.replace('-', ' '))}"
        rows += _rows(name, found, growth, loss)
        if congestion == "lia":
            rows.append(_alpha_row(found))
        parts += [
            {
                "congestion": congestion,
                "subflow": NAMES[each.path],
                "loss": each.loss,
                "window": each.before,
                "change": each.after - each.before,
                "by_equation": loss(each) - each.before if each.loss else growth(each),
            }
            for each in found
        ]
    table = pl.DataFrame(parts)
    return Reproduction(
        paper="gomez-2014",
        item="equations",
        title="Gómez et al. 2014, equations (1) to (5)",
        source=published("gomez-2014")["citation"],
        comparisons=tuple(rows),
        draw=lambda: _draw(table),
        tables={"windows": table},
        scenarios=scenarios,
    )


def _rows(name: str, found: list[Change], growth: Rule, loss: Rule) -> list[ComparedValue]:
    grown = [each for each in found if not each.loss]
    lost = [each for each in found if each.loss]
    reason = (
        f"Mean of {len(grown)} acknowledgements in congestion avoidance. Windows are whole bytes."
    )
    return [
        ComparedValue(
            f"{name}: growth by an acknowledgement over the equation's",
            _ratio((each.after - each.before, growth(each)) for each in grown),
            published=1,
            digits=4,
            band=BAND,
            reason=reason,
        ),
        ComparedValue(
            f"{name}: window after a loss over the equation's",
            _ratio((each.after, loss(each)) for each in lost),
            published=1,
            digits=4,
            reason=f"Mean of {len(lost)} losses. RFC 5681 takes the data in flight for the "
            f"window, {100 * _ratio((each.flight, each.before) for each in lost):.0f} % of it.",
        ),
    ]


def _alpha_row(found: list[Change]) -> ComparedValue:
    """Return the factor that the growth of the RTT compensator shows, over (5)."""
    linked = [
        each for each in found
        if not each.loss and alpha(each) / sum(each.windows) < 1 / each.before
    ]  # fmt: skip
    return ComparedValue(
        "(5) alpha from the growth of the RTT compensator over the equation's",
        _ratio(((each.after - each.before) * sum(each.windows), alpha(each)) for each in linked),
        published=1,
        digits=4,
        band=BAND,
        reason=f"Mean of {len(linked)} acknowledgements. Windows are whole bytes.",
    )


def _ratio(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the ratio of the sums of both values."""
    ours, theirs = map(sum, zip(*pairs, strict=True))
    return ours / theirs


def _draw(table: pl.DataFrame) -> Figure:
    import polars as pl

    with picture(8, 6) as figure:
        panels = figure.subplots(2, 2)
        for axes, (number, congestion, _, _) in zip(panels.flat, RULES, strict=True):
            part = table.filter((pl.col("congestion") == congestion) & ~pl.col("loss"))
            for colour, subflow in zip((COLOURS[0], COLOURS[4]), NAMES, strict=True):
                own = part.filter(pl.col("subflow") == subflow)
                axes.plot(own["by_equation"], own["change"], ".", color=colour, label=subflow,
                          markersize=2)  # fmt: skip
            axes.axline((0, 0), slope=1, color="black", linewidth=0.6)
            axes.set_title(f"{number} {PRINTED.get(congestion, congestion)}")
        panels[0, 0].legend(title="subflow")
        figure.supxlabel("growth by an acknowledgement, the equation's (segments)")
        figure.supylabel("simulated (segments)")
    return figure
