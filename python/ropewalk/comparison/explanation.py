"""Why two ways of running a scenario differ, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .numbers import entries, total

if TYPE_CHECKING:
    from .results import Comparison

MUCH = 0.05  # differences in goodput from which on reasons are given
MANY = 0.01  # of segments sent again, that are worth a word


def explain(comparison: Comparison) -> tuple[str, ...]:
    """Return why ways differ: what each knows of it, in sentences.

    A difference of less than 5 % in goodput, or one within both intervals, asks for none.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = ropewalk.Scenario.load("scenarios/start/two-links.toml")
    >>> short = scenario.with_({"traffic.size": "100 kB"})
    >>> explain(ropewalk.compare(short))[0]  # doctest: +ELLIPSIS
    'predict is ...% ... simulate...'
    """
    said: list[str] = []
    for pair in comparison.accuracy:
        judged, _, against = pair.partition("_against_")
        if _differ(comparison, judged, against):
            said += _pair(comparison, judged, against)
    return tuple(dict.fromkeys(said))


def _differ(comparison: Comparison, judged: str, against: str) -> bool:
    one, other = (comparison.means[way]["goodput_mbps"] for way in (judged, against))
    by_chance = sum(comparison.ci95[way].get("goodput_mbps", 0.0) for way in (judged, against))
    return abs(one - other) > max(MUCH * other, by_chance)


def _pair(comparison: Comparison, judged: str, against: str) -> Iterator[str]:
    one, other = (comparison.means[way]["goodput_mbps"] for way in (judged, against))
    above = "above" if one > other else "below"
    place = _place(comparison, judged, against)
    yield f"{judged} is {abs(one / other - 1):.1%} {above} {against}{place}."
    if judged == "predict" and comparison.predictions is not None:
        yield from _model(comparison)
    for way in (judged, against):
        yield from _repairs(comparison, way)


def _place(comparison: Comparison, judged: str, against: str) -> str:
    """Name the subflow that most of the difference lies on."""
    known, others = (comparison.means[way] for way in (judged, against))
    both = [
        (known[key] - others[key], name, known[key], others[key])
        for name in entries(known, "subflows")
        if (key := f"subflows.{name}.goodput_mbps") in known and key in others
    ]
    if len(both) < 2:
        return ""
    _, name, one, other = max(both, key=lambda each: abs(each[0]))
    return f", most of it on {name}: {one:,.2f} against {other:,.2f} Mbit/s"


def _model(comparison: Comparison) -> Iterator[str]:
    """Say what the model sees as the bottleneck, and in what it does not hold here."""
    predictions = comparison.predictions
    best = None if predictions is None else predictions.best
    if best is None:
        return
    if best.bottleneck is not None:
        yield f"What {best.name} sees as the bottleneck: {best.bottleneck}."
    for warning in best.warnings:
        yield f"Where {best.name} does not hold: {warning}."


def _repairs(comparison: Comparison, way: str) -> Iterator[str]:
    """Say what a way sent again, if that is much."""
    known = comparison.means[way]
    sent, again = total(known, "segments_sent"), total(known, "retransmissions")
    timeouts, spurious = total(known, "timeouts"), total(known, "spurious_retransmissions")
    told = []
    if sent and again and again / sent > MANY:
        told.append(f"sent {again / sent:.1%} of its segments again")
        if spurious:
            told.append(f"{spurious / again:.0%} of them for nothing")
    if timeouts:
        told.append(f"had {timeouts:,.0f} timeout{'' if round(timeouts) == 1 else 's'}")
    if told:
        yield f"{way} {', '.join(told)}."
