"""Least cost of a rate within a delay: problem (10) of Park et al. 2014."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._core import ScenarioError
from ...engines.predict.paths import paths as described
from ...scenario import Scenario
from ...scenario.setup import Link, Setup
from ...units import BITS_TO_MBPS
from .evaluator import CandidateResult, Evaluator
from .result import Advice, Evidence
from .subsets import Paths, use_paths

if TYPE_CHECKING:
    from ...model.park2014.splitting import Split

SOURCE = (
    "split: Park et al. 2014, problem (10), whose bound (9) on the mean delay assumes that paths"
    " share no link and that one fast retransmission repairs a loss"
)
MAX_PATHS = 10  # largest number of paths with all subsets tried: 1023
NEGLIGIBLE_SHARE = 1e-6  # shares of the demand below this value are the solver's tolerance
DELAY_FACTORS = (1.25, 2.0, 4.0, 8.0)  # delays to try if none is given, in least delays
QUANTITIES = {"rate": "traffic.rate", "delay": "link.a.delay"}
BLANK = """
[[link]]
name = "a"
rate = "1 Mbit/s"
[traffic]
kind = "cbr"
rate = "1 Mbit/s"
"""


def parse_quantity(kind: str, value: str, name: str) -> float:
    """Parse a rate (bit/s) or delay (s) above 0 in the syntax of scenario files.

    Raises ValueError with the name, the value and the allowed range.

    Examples
    --------
    >>> parse_quantity("rate", "6 Mbit/s", "--rate")
    6000000.0
    >>> parse_quantity("delay", "soon", "--delay")
    Traceback (most recent call last):
    ValueError: --delay "soon": must begin with a number; allowed: a time such as "10 ms" \
(units: ns us ms s min h d)
    """
    key = QUANTITIES[kind]
    try:
        setup = Scenario(BLANK).with_({key: value}).setup
    except ScenarioError as error:
        # The core's message: `with_: KEY = VALUE: reason`. VALUE may have been parsed as another
        # type.
        text = re.sub(rf'^(with_: )?{re.escape(key)} = ("(\\.|[^"\\])*"|[^:]*): ', "", str(error))
        raise ValueError(f'{name} "{value}": {text}') from None
    if kind == "rate":
        return float(setup.first.traffic.rate)
    delay = float(setup.links[0].forward.delay)
    if delay == 0:
        raise ValueError(f'{name} "{value}": must be greater than zero')
    return delay


@dataclass(frozen=True)
class RateRequirement:
    """Requirement: a rate in bit/s, and optionally a largest delay in seconds."""

    rate: float
    delay: float | None = None


def advise_least_cost(evaluator: Evaluator, paths: Paths, wish: RateRequirement) -> Advice:
    """Split a rate over paths at least cost within a delay; compare with the present scheduler."""
    setup = evaluator.scenario.setup
    wanted = f"{wish.rate * BITS_TO_MBPS:,.4g} Mbit/s"
    title = "Which split carries a rate within a delay at least cost?"
    if not setup.has_prices:
        title = "Which links carry a rate within a delay?"
    if any(path.wireless for path in described(setup.with_paths(paths))):
        return _unanswered(
            title,
            "A link is on an 802.11 channel. Its rate depends on all stations of the channel, so"
            " no split is computed.",
        )
    offer = _SplitProblem.of(setup, paths, wish.rate)
    if offer is None:
        return _unanswered(title, f"A link is unlimited, so {wanted} has no least cost.")
    if wish.rate >= offer.most:
        most = f"{offer.most * BITS_TO_MBPS:,.4g} Mbit/s"
        return _unanswered(
            title,
            f"No split carries {wanted}: the links carry less than {most} in such messages.",
            {"rate_mbps": wish.rate * BITS_TO_MBPS, "most_mbps": offer.most * BITS_TO_MBPS},
        )
    least = offer.least_delay()
    numbers = {"rate_mbps": wish.rate * BITS_TO_MBPS, "least_delay_ms": 1e3 * least.delay}
    reachable = f"The least attainable bound is {1e3 * least.delay:,.4g} ms."
    plain, notes = _simulate_present(evaluator, paths, wish.rate, offer.message)
    notes = [*notes, *_violated_assumptions(setup, paths)]
    if wish.delay is not None and wish.delay <= least.delay:
        return Advice(
            question="least-cost",
            title=title,
            answer=(
                f"No split has a bound of {1e3 * wish.delay:,.4g} ms at {wanted}. {reachable}"
                f"{_bound_note(plain, wish.delay)}"
            ),
            numbers=numbers | {"delay_ms": 1e3 * wish.delay},
            evidence=(
                offer.evidence(f"least delay, {1e3 * least.delay:,.4g} ms", least),
                *_simulated(evaluator, plain),
            ),
            notes=(SOURCE, *notes),
        )
    bounds = (
        [wish.delay] if wish.delay is not None else [step * least.delay for step in DELAY_FACTORS]
    )
    splits = [offer.least_cost(bound) for bound in bounds]
    rows = [
        offer.evidence(f"split within {1e3 * bound:,.4g} ms", split)
        for bound, split in zip(bounds, splits, strict=True)
    ]
    cheapest = splits[0] if wish.delay is not None else splits[1]
    within = bounds[0] if wish.delay is not None else bounds[1]
    numbers |= {"delay_ms": 1e3 * within}
    cheaper = False
    if offer.has_prices:
        numbers["cost"] = offer.cost_of(cheapest)
        says = f"cost at least {numbers['cost']:,.4g}"
        cheaper = plain is not None and plain.numbers.get("cost", math.inf) < numbers["cost"]
    else:
        says = "is possible"
        notes.append("no link has a cost, so a Mbit/s counts the same on each")
    answer = (
        f"By the bound, {wanted} within {1e3 * within:,.4g} ms {says}: {offer.shares(cheapest)}. "
    )
    if plain is not None:
        does = "carries"
        if "cost" in plain.numbers:
            numbers["plain_cost"] = plain.numbers["cost"]
            does = f"costs {plain.numbers['cost']:,.4g} for"
        scheduler = setup.first.scheduler
        answer += f"The plain {scheduler} {does} {plain.goodput:,.4g} Mbit/s"
        if "delay_p95_ms" in plain.numbers:
            answer += f", 95 % of messages within {plain.delay:,.4g} ms"
        answer += ". "
    return Advice(
        question="least-cost",
        title=title,
        answer=answer + reachable + (_bound_note(plain, within) if cheaper else ""),
        numbers=numbers,
        evidence=(*rows, *_simulated(evaluator, plain)),
        notes=(SOURCE, *notes),
    )


@dataclass(frozen=True)
class _SplitProblem:
    """Input of problem (10): the paths, with rates in packets for one message per second."""

    names: Paths
    message: int
    wire: float
    demand: float
    capacity: list[float]
    rtt: list[float]
    hops: list[float]
    loss: list[float]
    cost: list[float]
    has_prices: bool

    @staticmethod
    def of(setup: Setup, names: Paths, rate: float) -> _SplitProblem | None:
        flow, traffic = setup.first, setup.first.traffic
        used = described(setup.with_paths(names))
        if any(math.isinf(path.rate) for path in used):
            return None
        message = traffic.message or flow.segment
        packets = math.ceil(message / flow.segment)
        wire = 8 * (message + packets * flow.header_bytes)
        return _SplitProblem(
            names=names,
            message=message,
            wire=wire,
            demand=rate / (8 * message),
            capacity=[path.rate / wire for path in used],
            rtt=[path.rtt + wire / path.rate for path in used],
            hops=[float(len(path.hops)) for path in used],
            loss=[min(path.loss, 1 - 1e-9) for path in used],
            cost=[
                sum(_price(setup.links[hop]) for hop in path.hops) * wire * BITS_TO_MBPS
                for path in used
            ],
            has_prices=setup.has_prices,
        )

    @property
    def most(self) -> float:
        """Largest rate of application data over all paths, bit/s."""
        return sum(self.capacity) * 8 * self.message

    def least_delay(self) -> Split:
        from ...model.park2014.splitting import least_delay

        return least_delay(
            self.demand, self.capacity, self.rtt, self.hops, self.loss, leave_out=self._leave_out
        )

    def least_cost(self, delay: float) -> Split:
        from ...model.park2014.splitting import least_cost

        return least_cost(
            self.demand,
            delay,
            self.cost,
            self.capacity,
            self.rtt,
            self.hops,
            self.loss,
            leave_out=self._leave_out,
        )

    @property
    def _leave_out(self) -> bool:
        return len(self.names) <= MAX_PATHS

    def cost_of(self, split: Split) -> float:
        return float(sum(rate * cost for rate, cost in zip(split.rates, self.cost, strict=True)))

    def shares(self, split: Split) -> str:
        """Format each path's rate in Mbit/s of IP packets."""
        text = (f"{name} {share:,.3g}" for name, share in self.used(split).items())
        return f"{', '.join(text)} Mbit/s of IP packets"

    def used(self, split: Split) -> dict[str, float]:
        """Return the rate in Mbit/s of each path with a share above the tolerance."""
        return {
            name: float(rate) * self.wire * BITS_TO_MBPS
            for name, rate in zip(self.names, split.rates, strict=True)
            if rate > NEGLIGIBLE_SHARE * self.demand
        }

    def evidence(self, what: str, split: Split) -> Evidence:
        rates = {f"split_{name}_mbps": share for name, share in self.used(split).items()}
        bound = {"delay_bound_ms": 1e3 * split.delay}
        if self.has_prices:
            bound = {"cost": self.cost_of(split), **bound}
        return Evidence(what, bound | rates, remarks=("predicted by park-2014",))


def _simulate_present(
    evaluator: Evaluator, paths: Paths, rate: float, message: int
) -> tuple[CandidateResult | None, list[str]]:
    """Simulate the scenario's own scheduler at that rate."""
    changes = use_paths(evaluator.scenario, paths)
    traffic = evaluator.scenario.setup.first.traffic
    if traffic.kind == "bulk":
        changes |= {"traffic.kind": "cbr", "traffic.message": f"{message} B"}
    if traffic.rate != rate:
        changes |= {"traffic.rate": f"{rate:.0f} bit/s"}
    try:
        return evaluator.one(changes), []
    except ScenarioError as error:
        return None, [f"the present scheduler was not simulated: {error}"]


def _price(link: Link) -> float:
    return 1.0 if link.cost is None else link.cost


def _violated_assumptions(setup: Setup, paths: Paths) -> list[str]:
    """List the assumptions of problem (10) that the scenario violates."""
    used = described(setup.with_paths(paths))
    hops = [hop for path in used for hop in path.hops]
    notes = []
    if len(hops) > len(set(hops)):
        notes.append("paths share a link here, so the split may exceed its capacity")
    if setup.others:
        notes.append("others use the links, but the split assumes exclusive use")
    return notes


def _bound_note(plain: CandidateResult | None, within: float) -> str:
    """Note a simulated delay below the bound."""
    if plain is None or plain.delay > 1e3 * within:
        return ""
    return (
        " In the simulator the present scheduler keeps that delay: a bound on a mean is cautious"
        " if queues stay short."
    )


def _simulated(evaluator: Evaluator, plain: CandidateResult | None) -> list[Evidence]:
    if plain is None:
        return []
    scheduler = evaluator.scenario.setup.first.scheduler
    return [Evidence(f"plain {scheduler}", plain.numbers, plain.changes, ("present",))]


def _unanswered(title: str, answer: str, numbers: dict[str, float] | None = None) -> Advice:
    return Advice("least-cost", title, answer, numbers=numbers or {})
