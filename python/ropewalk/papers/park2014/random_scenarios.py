"""Simulated random scenarios in which MPTCP carries a demand, for comparison with the bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...engines.simulate import simulate
from ...scenario import Scenario

if TYPE_CHECKING:
    from ...results import Results

Floats = NDArray[np.float64]
Delays = dict[str, float]
"""Delays in seconds, by `DELAYS`."""

PAYLOAD = 1424
"""Payload of a packet of `PACKET` bytes, and of each message."""
PACKET = 1500
STEP_S = 0.05
DRAWN_WITH = 2014
"""Seed of the scenarios, independent of the runs' seeds."""
WARMUP_S = 10.0
DURATION_S = 40.0

DELAYS = ("mean", "p95", "p99", "max")

CONGESTION = {
    "uncoupled, newreno": 'congestion = "uncoupled"\nsubflow = "newreno"',
    "uncoupled, cubic": 'congestion = "uncoupled"\nsubflow = "cubic"',
    "lia": 'congestion = "lia"',
}


@dataclass(frozen=True)
class RandomScenario:
    """A random scenario: 2 to 4 links, and a demand below their capacity.

    Attributes
    ----------
    name, congestion, traffic : str
        Name and drawn algorithms.
    rates_mbps, delays_ms, losses : numpy.ndarray, shape (n,)
        Rate, delay and loss of each link.
    demand_mbps : float
        Payload rate of the application.
    """

    name: str
    congestion: str
    traffic: str
    rates_mbps: Floats
    delays_ms: Floats
    losses: Floats
    demand_mbps: float

    @property
    def capacity(self) -> Floats:
        """Capacity c of each link, packets per second."""
        return self.rates_mbps * 1e6 / 8 / PACKET

    @property
    def rtt_min(self) -> Floats:
        """Round-trip propagation delay of each link, seconds."""
        return 2e-3 * self.delays_ms

    @property
    def demand(self) -> float:
        """Demand f, packets per second."""
        return self.demand_mbps * 1e6 / 8 / PAYLOAD

    def scenario(self, *, warmup_s: float = WARMUP_S, ahead: bool = False) -> Scenario:
        """Return the scenario.

        `warmup_s` are seconds before the measurement. With `ahead`, data is assigned to subflows
        ahead of their windows, as in Linux. In the paper a subflow fetches a packet when it can
        send one.
        """
        lines = [
            f'title = "{self.name}: {self.congestion}, {self.traffic}"',
            f'duration = "{DURATION_S:g} s"',
            f'warmup = "{warmup_s:g} s"',
        ]
        links = zip(self.rates_mbps, self.delays_ms, self.losses, strict=True)
        for number, (rate, delay, loss) in enumerate(links, start=1):
            lines += [
                "[[link]]",
                f'name = "{number}"',
                f'rate = "{rate:.6f} Mbit/s"',
                f'delay = "{delay:.6f} ms"',
                f'loss = "{100 * loss:.6f} %"',
            ]
        scheduler = "linux" if ahead else "min-rtt"
        lines += ["[transport]", 'protocol = "mptcp"', f'scheduler = "{scheduler}"']
        lines += [CONGESTION[self.congestion], "[traffic]", f'kind = "{self.traffic}"']
        lines += [f'rate = "{self.demand_mbps:.6f} Mbit/s"', f'message = "{PAYLOAD} B"']
        return Scenario("\n".join(lines) + "\n", name=self.name)


def random_scenarios(count: int) -> list[RandomScenario]:
    """Generate scenarios; a smaller count gives the first ones of a larger count.

    Rates are 2 to 20 Mbit/s (log-uniform), delays 5 to 80 ms. Half of the scenarios have no loss,
    the others up to 0.1 %. The demand is 20 to 90 % of the links' capacity.
    """
    return [_draw(number) for number in range(count)]


def _draw(number: int) -> RandomScenario:
    dice = np.random.default_rng((DRAWN_WITH, number))
    links = int(dice.integers(2, 5))
    rates = np.exp(dice.uniform(np.log(2), np.log(20), links))
    delays = dice.uniform(5, 80, links)
    losses = dice.uniform(0, 1e-3, links) * (dice.random() < 0.5)
    congestion = list(CONGESTION)[int(dice.integers(len(CONGESTION)))]
    traffic = ("cbr", "poisson")[int(dice.integers(2))]
    demand = dice.uniform(0.2, 0.9) * float(rates.sum()) * PAYLOAD / PACKET
    return RandomScenario(
        f"scenario-{number + 1:03}", congestion, traffic, rates, delays, losses, float(demand)
    )


@dataclass(frozen=True)
class MeasuredRun:
    """Measurements of a scenario after the warm-up, arrays by subflow.

    `rates` are x and `window_rates` x_cw, the mean of window over round trip, in packets per
    second; `carried` is the smaller of x_cw and the capacity. `rtt` is the mean smoothed round
    trip in seconds, `loss` the share p of lost or dropped packets, `recoveries` the fast
    recoveries per second. `timeouts` count all subflows. `backlog_s` is the mean delay from
    windows temporarily below the demand, for a fluid. `delay_s` has mean, p95, p99 and max of the
    delay from the application's write to delivery in order.
    """

    case: RandomScenario
    seed: int
    rates: Floats
    window_rates: Floats
    carried: Floats
    rtt: Floats
    loss: Floats
    recoveries: Floats
    timeouts: int
    backlog_s: float
    delay_s: Delays


def measure(case: RandomScenario, seed: int, *, ahead: bool = False) -> MeasuredRun:
    """Simulate a scenario; `ahead` as in `RandomScenario.scenario`."""
    scenario = case.scenario(ahead=ahead)
    results = simulate(scenario, seed=seed, step=f"{STEP_S} s", threads=1)
    run = results.json()
    seconds = DURATION_S - WARMUP_S
    subflows, links = run["subflows"], run["links"]
    lost = np.array([link["lost_packets"] + link["dropped_packets"] for link in links])
    offered = np.array([link["sent_packets"] + link["dropped_packets"] for link in links])
    windows, trips = _timeline(results, len(links))
    allowed = windows / PAYLOAD / trips  # NaN before a first sample
    carried = np.minimum(allowed, case.capacity)
    backlog = _backlog(np.nansum(carried, axis=1), case.demand)
    late = slice(round(WARMUP_S / STEP_S), None)
    return MeasuredRun(
        case,
        seed,
        rates=np.array([each["segments_sent"] for each in subflows]) / seconds,
        window_rates=np.nanmean(allowed[late], axis=0),
        carried=np.nanmean(carried[late], axis=0),
        rtt=np.nanmean(trips[late], axis=0),
        loss=lost / np.maximum(offered, 1),
        recoveries=np.array([each["fast_recoveries"] for each in subflows]) / seconds,
        timeouts=sum(each["timeouts"] for each in subflows),
        backlog_s=float(backlog[late].mean()) / case.demand,
        delay_s=_delays(run),
    )


def delay_from_the_start(case: RandomScenario, seed: int) -> Delays:
    """Return the delays including the start of the subflows, seconds."""
    run = simulate(case.scenario(warmup_s=0.0), seed=seed, threads=1).json()
    return _delays(run)


def _delays(run: dict[str, Any]) -> Delays:
    return {key: run["delay_ms"][key] / 1e3 for key in DELAYS}


def _timeline(results: Results, links: int) -> tuple[Floats, Floats]:
    """Return windows (bytes) and smoothed round trips (s), steps by subflows."""
    timeline = results.timeline.sort("time_s", "subflow")
    windows = timeline["cwnd_bytes"].to_numpy().astype(np.float64).reshape(-1, links)
    trips = timeline["srtt_ms"].to_numpy().astype(np.float64).reshape(-1, links) / 1e3
    return windows, trips


def _backlog(allowed: Floats, demand: float) -> Floats:
    """Return the packets of a fluid in the send buffer at the end of each step."""
    grown = np.cumsum((demand - allowed) * STEP_S)
    return grown - np.minimum(np.minimum.accumulate(grown), 0.0)
