"""Explanations in words of differences between two ways of running a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol

from ...engines.testbed.own_error import in_words
from ...support.numerals import decimal
from .agreement import Agreement
from .numbers import entry_names, total

if TYPE_CHECKING:
    from ...engines.predict import Predictions
    from ...results import Results

LARGE_DIFFERENCE = 0.05  # relative difference from which reasons are given
# Kernel counters of effects that the simulator omits or models differently: end, nstat's name,
# description.
COUNTERS = (
    ("client", "MPTcpExtMPTCPRetrans", "reinjections on another subflow"),
    ("client", "MPTcpExtSubflowStale", "subflows taken for stale"),
    ("client", "TcpExtTCPLossProbes", "tail loss probes"),
    ("client", "TcpExtTCPSpuriousRTOs", "timeouts found spurious (F-RTO)"),
    ("client", "TcpExtTCPDSACKUndo", "recoveries undone by D-SACK"),
    ("client", "TcpExtTCPTSReorder", "signs of reordering by time stamps"),
    ("client", "TcpExtTCPSACKReorder", "signs of reordering by SACK"),
    ("server", "TcpExtTCPRcvCollapsed", "segments collapsed in a full receive buffer"),
    ("server", "TcpExtPruneCalled", "times that the receive buffer was pruned"),
    ("server", "TcpExtTCPRcvQDrop", "segments dropped by a full receive buffer"),
)
# Name in `flat` of each compared quantity.
KEYS = {
    "goodput": "goodput_mbps",
    "mean delay": "delay_ms.mean",
    "median delay": "delay_ms.p50",
    "95 % delay": "delay_ms.p95",
    "99 % delay": "delay_ms.p99",
}
MANY_RETRANSMISSIONS = 0.01  # retransmission share from which it is mentioned


class ExplainedComparison(Protocol):
    """Inputs of an explanation: the compared parts."""

    @property
    def predictions(self) -> Predictions | None:
        """The predictions."""

    @property
    def simulated(self) -> Results | None:
        """The simulated results."""

    @property
    def measured(self) -> Results | None:
        """The results of the testbed."""

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """Each way's numbers by flat names."""

    @property
    def ci95(self) -> dict[str, dict[str, float]]:
        """Half-widths of their intervals."""

    @property
    def agreements(self) -> tuple[Agreement, ...]:
        """Agreement of the ways in each quantity."""


def reasons(compared: ExplainedComparison) -> tuple[str, ...]:
    """Return sentences that explain the differences between ways.

    For each pair of ways, the largest difference in goodput, delay or a subflow's share is
    explained if it is at least 5 % and significant (with few runs: wider than both intervals).
    Differences without a counted cause are named as such.

    Examples
    --------
    >>> import ropewalk
    >>> scenario = ropewalk.Scenario.load("start/two-links")
    >>> short = scenario.with_({"traffic.size": "100 kB"})
    >>> reasons(ropewalk.compare(short, ways=["predict", "simulate"]))[0]  # doctest: +ELLIPSIS
    'The largest difference is in the share of ...: predict has ... %, simulate ... %.'
    """
    text: list[str] = []
    for pair in dict.fromkeys((each.judged, each.against) for each in compared.agreements):
        of_pair = [each for each in compared.agreements if (each.judged, each.against) == pair]
        large = [
            each for each in of_pair if each.of != "retransmitted" and _differ(compared, each)
        ]
        if large:
            text += _pair(compared, min(large, key=lambda each: each.accuracy or 0.0))
    return tuple(dict.fromkeys(text))


def _differ(compared: ExplainedComparison, agreement: Agreement) -> bool:
    if agreement.accuracy is not None and agreement.accuracy > 1 - LARGE_DIFFERENCE:
        return False
    if agreement.differs is not None:
        return agreement.differs
    one, other = (fmean(runs) for runs in (agreement.ones, agreement.others))
    key = KEYS.get(agreement.of)
    half = sum(
        compared.ci95[way].get(key, 0.0) if key else 0.0
        for way in (agreement.judged, agreement.against)
    )
    return abs(one - other) > half


def _pair(compared: ExplainedComparison, agreement: Agreement) -> Iterator[str]:
    judged, against = agreement.judged, agreement.against
    one, other = (fmean(runs) for runs in (agreement.ones, agreement.others))
    above = "above" if one > other else "below"
    if agreement.of == "goodput":
        place = _place(compared, judged, against)
        yield f"{judged} is {abs(one / other - 1):.1%} {above} {against}{place}."
    else:
        yield (
            f"The largest difference is in the {agreement.of}: {judged} has {one:,.1f}"
            f" {agreement.unit}, {against} {other:,.1f} {agreement.unit}."
        )
    text: list[str] = []
    if judged == "predict" and compared.predictions is not None:
        text += _model(compared)
    for way in (judged, against):
        text += _repairs(compared, way)
    if against == "testbed":
        text += _kernel(compared)
    yield from text or [f"Nothing that {judged} or {against} counted explains it."]


def _place(compared: ExplainedComparison, judged: str, against: str) -> str:
    """Name the subflow with most of the difference."""
    known, others = (compared.means[way] for way in (judged, against))
    both = [
        (known[key] - others[key], name, known[key], others[key])
        for name in entry_names(known, "subflows")
        if (key := f"subflows.{name}.goodput_mbps") in known and key in others
    ]
    if len(both) < 2:
        return ""
    _, name, one, other = max(both, key=lambda each: abs(each[0]))
    return f", most of it on {name}: {decimal(one)} against {decimal(other)} Mbit/s"


def _model(compared: ExplainedComparison) -> Iterator[str]:
    """Name the model's bottleneck and its violated assumptions."""
    predictions = compared.predictions
    best = None if predictions is None else predictions.best
    if best is None:
        return
    if best.bottleneck is not None:
        yield f"Bottleneck according to {best.name}: {best.bottleneck}."
    for warning in best.warnings:
        yield f"{best.name} does not hold: {warning}."


def _repairs(compared: ExplainedComparison, way: str) -> Iterator[str]:
    """Report a way's retransmissions if there are many."""
    known = compared.means[way]
    sent, again = total(known, "segments_sent"), total(known, "retransmissions")
    timeouts, spurious = total(known, "timeouts"), total(known, "spurious_retransmissions")
    text = []
    if sent and again and again / sent > MANY_RETRANSMISSIONS:
        text.append(f"retransmitted {again / sent:.1%} of its segments")
        if spurious:
            text.append(f"{spurious / again:.0%} of them unnecessarily")
    if timeouts:
        text.append(f"had {timeouts:,.0f} timeout{'' if round(timeouts) == 1 else 's'}")
    if text:
        yield f"{way} {', '.join(text)}."


def _kernel(compared: ExplainedComparison) -> Iterator[str]:
    """Report the emulator's lateness, properties of the testbed, and the kernel's counters."""
    if compared.measured is None:
        return
    runs = compared.measured.runs
    links = [run["emulator"] for run in runs if "emulator" in run]
    untrusted = [each for each in links if not each["trusted"]]
    if untrusted:
        worst = max(each["lateness_ms"]["p99"] for each in untrusted)
        yield (
            f"The emulator handed packets on up to {worst:,.1f} ms late at 99 % in"
            f" {len(untrusted)} of {len(runs)} runs: the machine was too busy to trust them."
        )
    error = compared.measured.mean.get("own_error")
    if error:
        yield f"Without the machine's disturbance, the testbed would have {in_words(error)}."
    simulated = [] if compared.simulated is None else compared.simulated.runs
    known = {warning for run in simulated for warning in run.get("warnings", ())}
    text = (warning for run in runs for warning in run.get("warnings", ()))
    note = (warning for warning in text if warning not in known)
    yield from (f"The testbed says: {warning}." for warning in note)
    counted = [
        f"{count:,.0f} {what}"
        for end, name, what in COUNTERS
        if (count := _counted(runs, end, name)) > 0
    ]
    if counted:
        yield f"Counters of the kernel in a run: {', '.join(counted)}."


def _counted(runs: Sequence[Mapping[str, Any]], end: str, name: str) -> float:
    """Return the mean of a counter over the runs; 0 if it is absent."""
    counts = [float(run["kernel"]["counters"][end].get(name, 0)) for run in runs]
    return sum(counts) / len(counts)
