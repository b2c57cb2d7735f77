"""Random scenarios in which MPTCP carries a demand, simulated, to compare with the bounds."""

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
"""In seconds, by `DELAYS`."""

PAYLOAD = 1424
"""Bytes of the application in a packet of `PACKET` bytes, and in each of its messages."""
PACKET = 1500
STEP_S = 0.05
DRAWN_WITH = 2014
"""Seed of the scenarios, which are the same for all seeds of the runs."""
WARMUP_S = 10.0
DURATION_S = 40.0

DELAYS = ("mean", "p95", "p99", "max")

CONGESTION = {
    "uncoupled, newreno": 'congestion = "uncoupled"\nsubflow = "newreno"',
    "uncoupled, cubic": 'congestion = "uncoupled"\nsubflow = "cubic"',
    "lia": 'congestion = "lia"',
}


@dataclass(frozen=True)
class Drawn:
    """A random scenario: 2 to 4 links, and a demand below what they carry.

    Attributes
    ----------
    name, congestion, traffic : str
        What it is called, and what was drawn.
    rates_mbps, delays_ms, losses : numpy.ndarray, shape (n,)
        Rate, delay and loss of each link.
    demand_mbps : float
        Payload that the application offers.
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
        """Packets per second of each link, c."""
        return self.rates_mbps * 1e6 / 8 / PACKET

    @property
    def rtt_min(self) -> Floats:
        """Propagation there and back of each link, seconds."""
        return 2e-3 * self.delays_ms

    @property
    def demand(self) -> float:
        """Packets per second, f."""
        return self.demand_mbps * 1e6 / 8 / PAYLOAD

    def scenario(self, *, warmup_s: float = WARMUP_S, ahead: bool = False) -> Scenario:
        """Return it as a scenario.

        Parameters
        ----------
        warmup_s : float
            Seconds before what is measured begins.
        ahead : bool
            Whether data is assigned to subflows ahead of their windows, as Linux does it. The
            paper has a subflow fetch a packet when it can send one.
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


def drawn(count: int) -> list[Drawn]:
    """Draw scenarios: always the same ones, the first of them if fewer are asked for.

    Rates from 2 to 20 Mbit/s in equal ratios, delays from 5 to 80 ms, no loss in half of the
    scenarios and up to 0.1 % in the other half, demand from 20 to 90 % of what the links carry.
    """
    return [_draw(number) for number in range(count)]


def _draw(number: int) -> Drawn:
    dice = np.random.default_rng((DRAWN_WITH, number))
    links = int(dice.integers(2, 5))
    rates = np.exp(dice.uniform(np.log(2), np.log(20), links))
    delays = dice.uniform(5, 80, links)
    losses = dice.uniform(0, 1e-3, links) * (dice.random() < 0.5)
    congestion = list(CONGESTION)[int(dice.integers(len(CONGESTION)))]
    traffic = ("cbr", "poisson")[int(dice.integers(2))]
    demand = dice.uniform(0.2, 0.9) * float(rates.sum()) * PAYLOAD / PACKET
    return Drawn(
        f"scenario-{number + 1:03}", congestion, traffic, rates, delays, losses, float(demand)
    )


@dataclass(frozen=True)
class Measured:
    """What the simulator measured of a scenario after the warm-up.

    Attributes
    ----------
    drawn : Drawn
        The scenario.
    seed : int
        The run's seed.
    rates : numpy.ndarray, shape (n,)
        What each subflow sent, packets per second, x.
    window_rates : numpy.ndarray, shape (n,)
        What its window allowed, the mean of window over round trip, packets per second, x_cw.
    carried : numpy.ndarray, shape (n,)
        The same with the capacity for it whenever that is less.
    rtt : numpy.ndarray, shape (n,)
        Mean of its smoothed round trip, seconds.
    loss : numpy.ndarray, shape (n,)
        Share of its packets that were lost or dropped, p.
    recoveries : numpy.ndarray, shape (n,)
        Fast recoveries per second.
    timeouts : int
        Timeouts of all subflows.
    backlog_s : float
        Mean wait that comes of the windows allowing less than the demand for a while: of a fluid
        that they drain.
    delay_s : dict
        From the application's write to delivery in order: mean, p95, p99, max.
    """

    drawn: Drawn
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


def measure(drawn: Drawn, seed: int, *, ahead: bool = False) -> Measured:
    """Simulate a scenario; `ahead` as in `Drawn.scenario`."""
    scenario = drawn.scenario(ahead=ahead)
    results = simulate(scenario, seed=seed, step=f"{STEP_S} s", threads=1)
    run = results.json()
    seconds = DURATION_S - WARMUP_S
    subflows, links = run["subflows"], run["links"]
    lost = np.array([link["lost_packets"] + link["dropped_packets"] for link in links])
    offered = np.array([link["sent_packets"] + link["dropped_packets"] for link in links])
    windows, trips = _timeline(results, len(links))
    allowed = windows / PAYLOAD / trips  # NaN before a first sample
    carried = np.minimum(allowed, drawn.capacity)
    backlog = _backlog(np.nansum(carried, axis=1), drawn.demand)
    late = slice(round(WARMUP_S / STEP_S), None)
    return Measured(
        drawn,
        seed,
        rates=np.array([each["segments_sent"] for each in subflows]) / seconds,
        window_rates=np.nanmean(allowed[late], axis=0),
        carried=np.nanmean(carried[late], axis=0),
        rtt=np.nanmean(trips[late], axis=0),
        loss=lost / np.maximum(offered, 1),
        recoveries=np.array([each["fast_recoveries"] for each in subflows]) / seconds,
        timeouts=sum(each["timeouts"] for each in subflows),
        backlog_s=float(backlog[late].mean()) / drawn.demand,
        delay_s=_delays(run),
    )


def delay_from_the_start(drawn: Drawn, seed: int) -> Delays:
    """Return the delays with the start of the subflows counted, seconds."""
    run = simulate(drawn.scenario(warmup_s=0.0), seed=seed, threads=1).json()
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
    """Return the packets that a fluid has in the send buffer at the end of each step."""
    grown = np.cumsum((demand - allowed) * STEP_S)
    return grown - np.minimum(np.minimum.accumulate(grown), 0.0)
