"""Network model (2) to (4) of Park et al. 2014 compared with one simulated subflow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...engines.simulate import simulate
from ...model.park2014 import network_delay, round_trip, window_rate
from ...scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

CAPACITY = 1000.0
"""Packets of 1500 bytes per second of the wired link: 12 Mbit/s."""
RTT_MIN = 0.04
PAYLOAD = 1448
WARMUP_S = 5.0
DURATION_S = 25.0
WINDOWS = (2, 4, 8, 12, 20, 30, 40, 50, 60, 80, 120, 200)
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)

WIRED = f"""[[link]]
name = "link"
rate = "{CAPACITY * 1500 * 8 / 1e6:g} Mbit/s"
delay = "{RTT_MIN * 500:g} ms"
queue = "2000 packets"
"""
# Data and acknowledgements share the channel; the wire behind it has the delay.
RADIO = f"""[[channel]]
name = "air"

[[node]]
name = "server"
at = ["0 m", "0 m"]
radios = ["air"]

[[node]]
name = "station"
at = ["5 m", "0 m"]
radios = ["air"]

[[link]]
name = "wifi"
channel = "air"
from = "server"
to = "station"

[[link]]
name = "wire"
rate = "1 Gbit/s"
delay = "{RTT_MIN * 500:g} ms"
from = "station"
to = "receiver"
"""
NETWORKS = {"a wired link": WIRED, "802.11b": RADIO}
RUNS = len(NETWORKS) * len(WINDOWS) + 2 * len(LOADS)


def network(
    seed: int, progress: Callable[[], object]
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Scenario]]:
    """Simulate one subflow with a least round trip of 40 ms, limited in two ways.

    Returns two tables and the scenarios by name:

    - round trip and rate of each receive window, over a wired link and over 802.11, with (2), (3),
      and the round trip if packets queue only beyond the bandwidth-delay product;
    - one-way delay of each rate over the wired link, with (4).
    """
    import polars as pl

    windows, rates, scenarios = [], [], {}
    for link, links in NETWORKS.items():
        measured: list[dict[str, Any]] = []
        for window in WINDOWS:
            name = f"window-{window:03}-{link.split()[-1]}"
            scenarios[name] = _limited_by_window(window, links)
            run = simulate(scenarios[name], seed=seed, threads=1).json()["subflows"][0]
            progress()
            sent = run["segments_sent"] / (DURATION_S - WARMUP_S)
            measured.append(
                {"link": link, "window": window, "rtt_ms": run["srtt_ms"], "rate": sent}
            )
        # The radio's capacity is its saturated rate.
        capacity = CAPACITY if links == WIRED else max(each["rate"] for each in measured)
        for each in measured:
            window = each["window"]
            each["rtt_model_ms"] = float(round_trip(window, capacity, RTT_MIN)[0]) * 1e3
            each["rate_model"] = float(window_rate(window, capacity, RTT_MIN)[0])
            each["rtt_beyond_ms"] = max(RTT_MIN, window / capacity) * 1e3
        windows += measured
    for kind in ("cbr", "poisson"):
        for load in LOADS:
            name = f"{kind}-{load * 100:02.0f}"
            scenarios[name] = _limited_by_rate(kind, load)
            delay = simulate(scenarios[name], seed=seed, threads=1).json()["delay_ms"]
            progress()
            model = float(network_delay(load * CAPACITY, CAPACITY, RTT_MIN)[0])
            rates.append(
                {
                    "traffic": kind,
                    "load": load,
                    "delay_ms": delay["mean"],
                    "delay_model_ms": model * 1e3,
                }
            )
    return pl.DataFrame(windows), pl.DataFrame(rates), scenarios


def _limited_by_window(window: int, links: str) -> Scenario:
    ends = "" if links == WIRED else 'from = "server"\nto = "receiver"\n'
    return _scenario(
        f"a window of {window} packets",
        links,
        f'{ends}receive_buffer = "{window * PAYLOAD} B"\nreceive_window_share = 1.0',
        'kind = "bulk"',
    )


def _limited_by_rate(kind: str, load: float) -> Scenario:
    mbps = load * CAPACITY * PAYLOAD * 8 / 1e6
    return _scenario(
        f"{kind} at {load * 100:.0f} % of the capacity",
        WIRED,
        "",
        f'kind = "{kind}"\nrate = "{mbps:.6f} Mbit/s"\nmessage = "{PAYLOAD} B"',
    )


def _scenario(title: str, links: str, transport: str, traffic: str) -> Scenario:
    text = f"""title = "{title}"
duration = "{DURATION_S:g} s"
warmup = "{WARMUP_S:g} s"

{links}
[transport]
protocol = "tcp"
congestion = "newreno"
{transport}

[traffic]
{traffic}
"""
    return Scenario(text, name=title)
