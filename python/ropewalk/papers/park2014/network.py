"""Network model (2) to (4) of Park et al. 2014 compared with one simulated subflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...engines.simulate import simulate
from ...model.park2014 import network_delay, round_trip, window_rate
from ...scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

CAPACITY = 1000.0
"""Packets of 1500 bytes per second: 12 Mbit/s."""
RTT_MIN = 0.04
PAYLOAD = 1448
WARMUP_S = 5.0
DURATION_S = 25.0
WINDOWS = (2, 4, 8, 12, 20, 30, 40, 50, 60, 80, 120, 200)
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
RUNS = len(WINDOWS) + 2 * len(LOADS)


def network(
    seed: int, progress: Callable[[], object]
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Scenario]]:
    """Simulate one subflow over a link of 12 Mbit/s and 40 ms, limited in two ways.

    Returns two tables and the scenarios by name: round trip and rate of each receive window, with
    (2) and (3); one-way delay of each rate, with (4).
    """
    import polars as pl

    windows, rates, scenarios = [], [], {}
    for window in WINDOWS:
        name = f"window-{window:03}"
        scenarios[name] = _limited_by_window(window)
        run = simulate(scenarios[name], seed=seed, threads=1).json()["subflows"][0]
        progress()
        windows.append(
            {
                "window": window,
                "rtt_ms": run["srtt_ms"],
                "rtt_model_ms": float(round_trip(window, CAPACITY, RTT_MIN)[0]) * 1e3,
                "rate": run["segments_sent"] / (DURATION_S - WARMUP_S),
                "rate_model": float(window_rate(window, CAPACITY, RTT_MIN)[0]),
            }
        )
    for kind in ("cbr", "poisson"):
        for load in LOADS:
            name = f"{kind}-{load * 100:02.0f}"
            scenarios[name] = _limited_by_rate(kind, load)
            delay = simulate(scenarios[name], seed=seed, threads=1).json()["delay_ms"]
            progress()
            rates.append(
                {
                    "traffic": kind,
                    "load": load,
                    "delay_ms": delay["mean"],
                    "delay_model_ms": float(network_delay(load * CAPACITY, CAPACITY, RTT_MIN)[0])
                    * 1e3,
                }
            )
    return pl.DataFrame(windows), pl.DataFrame(rates), scenarios


def _limited_by_window(window: int) -> Scenario:
    return _scenario(
        f"a window of {window} packets",
        f'receive_buffer = "{window * PAYLOAD} B"\nreceive_window_share = 1.0',
        'kind = "bulk"',
    )


def _limited_by_rate(kind: str, load: float) -> Scenario:
    mbps = load * CAPACITY * PAYLOAD * 8 / 1e6
    return _scenario(
        f"{kind} at {load * 100:.0f} % of the capacity",
        "",
        f'kind = "{kind}"\nrate = "{mbps:.6f} Mbit/s"\nmessage = "{PAYLOAD} B"',
    )


def _scenario(title: str, transport: str, traffic: str) -> Scenario:
    text = f"""title = "{title}"
duration = "{DURATION_S:g} s"
warmup = "{WARMUP_S:g} s"

[[link]]
name = "link"
rate = "{CAPACITY * 1500 * 8 / 1e6:g} Mbit/s"
delay = "{RTT_MIN * 500:g} ms"
queue = "2000 packets"

[transport]
protocol = "tcp"
congestion = "newreno"
{transport}

[traffic]
{traffic}
"""
    return Scenario(text, name=title)
