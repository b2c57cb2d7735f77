"""Park et al. 2014, figure 2: delay of video frames over MPTCP without the paper's split."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...analysis.reproduction import Alternative, Choice, ComparedValue
from ...engines.simulate import simulate
from ...scenario import Scenario

REQUIRED_MS = 200.0
"""Sum of the paper's thresholds, 100 ms for the send buffer and 100 ms for the network."""
WARMUP_S = 15.0
DURATION_S = 75.0

COUPLINGS = {"uncoupled": "uncoupled", "coupled": "lia"}
STANDARD = "RFC 8684"
MODULE = "none"
"""The module's default; the paper does not state it."""
POLICIES = (MODULE, "dsack", "eifel", "tcp-door", "f-rto")
RUNS = len(COUPLINGS) * (1 + len(POLICIES))

TEXT = """title = "Park et al. 2014, figure 2, {name}"
duration = "{duration:g} s"
warmup = "{warmup:g} s"

[[link]]
name = "wifi"
rate = "3 Mbit/s"
delay = "10 ms"
queue = "300 packets"

[[link]]
name = "lte"
rate = "15 Mbit/s"
delay = "20 ms"
queue = "600 packets"

[transport]
{transport}

# 30 frames a second.
[traffic]
kind = "cbr"
rate = "3.5 Mbit/s"
message = "14583 B"
"""

Numbers = Mapping[str, float]


def video(
    seed: int, progress: Callable[[], object]
) -> tuple[dict[tuple[str, str], Numbers], dict[str, Scenario]]:
    """Simulate both couplings with RFC 8684 and with each policy of the module.

    For each coupling and stack, `found` has the percentage of data within the required delay, the
    95th percentile of the delay in seconds, and each path's goodput in Mbit/s. The second result
    has the scenarios by name.
    """
    found: dict[tuple[str, str], Numbers] = {}
    scenarios: dict[str, Scenario] = {}
    for coupling, congestion in COUPLINGS.items():
        for stack in (STANDARD, *POLICIES):
            keys = {"congestion": congestion}
            if stack == STANDARD:
                keys |= {"profile": "rfc", "protocol": "mptcp", "scheduler": "round-robin"}
                keys |= {"receive_buffer": "90 MB", "send_buffer": "90 MB"}
                if congestion == "uncoupled":
                    keys["subflow"] = "newreno"
            else:
                keys |= {"profile": "mptcp-ns3", "reordering": stack}
            name = f"video-{coupling}-{stack.lower().replace(' ', '')}"
            scenarios[name] = Scenario(
                TEXT.format(
                    name=f"{coupling}, {stack}",
                    duration=DURATION_S,
                    warmup=WARMUP_S,
                    transport="\n".join(f'{key} = "{value}"' for key, value in keys.items()),
                ),
                name=name,
            )
            results = simulate(scenarios[name], seed=seed, threads=1)
            run, bins = results.json(), results.delays
            counts = bins["count"].to_numpy()
            within = counts[bins["up_to_ms"].to_numpy() <= REQUIRED_MS].sum()
            found[coupling, stack] = {
                "within_percent": float(100 * within / counts.sum()),
                "p95_s": run["delay_ms"]["p95"] / 1e3,
                "wifi_mbps": run["subflows"][0]["goodput_mbps"],
                "lte_mbps": run["subflows"][1]["goodput_mbps"],
            }
            progress()
    return found, scenarios


def of_video(
    found: Mapping[tuple[str, str], Numbers], facts: Mapping[str, Any]
) -> Iterator[ComparedValue]:
    """Compare figure 2's two numbers, for both stacks, with the published ones."""
    for stack in (MODULE, STANDARD):
        name = stack if stack == STANDARD else "mptcp-ns3"
        for coupling in COUPLINGS:
            numbers, stated = found[coupling, stack], facts[coupling]
            reason = _why(numbers, stack)
            yield ComparedValue(
                f"figure 2: data within the required delay, {coupling}, {name}",
                numbers["within_percent"],
                published=stated["within_required_delay_percent"],
                unit="%",
                digits=0,
                reason=reason,
            )
            yield ComparedValue(
                f"figure 2: 95th percentile of the delay, {coupling}, {name}",
                numbers["p95_s"],
                published=stated["p95_s"],
                unit="s",
                reason=reason,
            )


def _why(numbers: Numbers, stack: str) -> str:
    carried = f"Wi-Fi carries {numbers['wifi_mbps']:.1f} and LTE {numbers['lte_mbps']:.1f} Mbit/s"
    if stack == STANDARD:
        return (
            f"{carried} of 3.5: round robin gives each path half as long as both have capacity. "
            "The paper's delays cannot come from an RFC 8684 stack with 18 Mbit/s for 3.5."
        )
    return (
        f"{carried} of 3.5: this receiver takes the lead of the faster path for loss, until only "
        "the slower one is left. Its rate is below the demand, so the backlog grows during the "
        "whole run. Here frames are equal, 30 a second, and links constant (3 and 15 Mbit/s, 20 "
        "and 40 ms). The paper uses a film of 0 to 6 Mbit/s and unpublished traces of both "
        "links, and does not name the policy (below)."
    )


def of_policies(found: Mapping[tuple[str, str], Numbers]) -> Choice:
    """Report the results of each policy of the module."""
    return Choice(
        "Which policy had the module in figure 2? The paper does not say.",
        f"{MODULE}, which is the module's own default",
        tuple(
            Alternative(
                f"{coupling}, {stack}",
                {
                    "within the required delay (%)": numbers["within_percent"],
                    "95th percentile (s)": numbers["p95_s"],
                    "Wi-Fi (Mbit/s)": numbers["wifi_mbps"],
                    "LTE (Mbit/s)": numbers["lte_mbps"],
                },
            )
            for (coupling, stack), numbers in found.items()
        ),
    )
