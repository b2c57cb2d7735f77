"""Scenarios of Park et al. 2014, section 5, and the choices that the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...scenario import Scenario
from ..published import published
from .varying_links import Floats, opportunities_ms, varying_rates

DURATION_S, WARMUP_S = 75.0, 15.0
PAPER: dict[str, Any] = published("park-2014")["section5"]
LTE_RTT_MS: float = PAPER["lte_rtt_ms"]
PRICES: dict[str, float] = PAPER["price"]
"""Per Mbit/s."""
SEND_MS: int = PAPER["send_threshold_ms"]
REQUIRED_MS: int = SEND_MS + min(PAPER["network_threshold_ms"])
STANDARD = "RFC 8684"


class Scheme(NamedTuple):
    """A compared transport: conventional MPTCP, or MPTCP-TSC with a threshold d_net in ms."""

    name: str
    coupled: bool = False
    threshold_ms: int | None = None


UNCOUPLED = Scheme("uncoupled")
COUPLED = Scheme("coupled", coupled=True)
CONVENTIONAL = (UNCOUPLED, COUPLED)
TSC = tuple(
    Scheme(f"TSC {threshold} ms", threshold_ms=threshold)
    for threshold in PAPER["network_threshold_ms"]
)
SCHEMES = (*CONVENTIONAL, *TSC)
LTE_ALONE = Scheme("TCP over LTE alone")


@dataclass(frozen=True)
class Setup:
    """Answers to the open questions; the defaults are the chosen ones.

    Where the text does not decide, the chosen answers come nearest to figure 2.

    Attributes
    ----------
    wifi_rtt_ms : float
        Round-trip propagation delay of Wi-Fi.
    mean_mbps, least_mbps : float
        Mean rate of the video, and the least rate of Wi-Fi.
    queue : int
        Packets in Wi-Fi's queue.
    lte_loss_percent : float
        Random loss of data packets on LTE.
    packets : bool
        Whether the application writes Poisson packets of the same mean, not frames of a film.
    stack : str
        ``RFC 8684``, or a policy of ``mptcp-ns3``.
    estimator : str
        Estimator of MPTCP-TSC.
    slot_ms : int
        Its time slot.
    tsc_coupled : bool
        Whether its congestion control is coupled.
    """

    wifi_rtt_ms: float = 80.0
    mean_mbps: float = 5.5
    least_mbps: float = 1.0
    queue: int = 400
    lte_loss_percent: float = 0.01
    packets: bool = False
    stack: str = STANDARD
    estimator: str = "smoothed"
    slot_ms: int = 10
    tsc_coupled: bool = False


CHOSEN = Setup()

# Questions, answers and the changes of the chosen set-up.
QUESTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "Round trip of Wi-Fi? LTE has 40 ms, and cellular has the low one (section 4).": {
        "80 ms": {},
        "60 ms": {"wifi_rtt_ms": 60.0},
        "20 ms": {"wifi_rtt_ms": 20.0},
    },
    "Mean rate of the film? The paper has 0 to 6 Mbit/s.": {
        "3.5 Mbit/s": {"mean_mbps": 3.5},
        "4.5 Mbit/s": {"mean_mbps": 4.5},
        "5 Mbit/s": {"mean_mbps": 5.0},
        "5.5 Mbit/s": {},
    },
    "Least rate of Wi-Fi? The paper has 3 Mbit/s on average, at most 5.": {
        "0.3 Mbit/s": {"least_mbps": 0.3},
        "1 Mbit/s": {},
        "2 Mbit/s": {"least_mbps": 2.0},
    },
    "Queue of Wi-Fi? ns-3 had 400 packets (WifiMacQueue).": {
        "100 packets": {"queue": 100},
        "200 packets": {"queue": 200},
        "400 packets": {},
        "600 packets": {"queue": 600},
    },
    "Loss on LTE? The paper has a low one, without a number.": {
        "none": {"lte_loss_percent": 0.0},
        "0.01 %": {},
        "0.1 %": {"lte_loss_percent": 0.1},
    },
    "How does the application write?": {
        "frames of a film": {},
        "Poisson packets of the same mean": {"packets": True},
    },
    "Which stack? The paper used mptcp-ns3, and does not name the policy.": {
        STANDARD: {},
        **{
            f"mptcp-ns3, {policy}": {"stack": policy}
            for policy in ("none", "dsack", "eifel", "tcp-door", "f-rto")
        },
    },
    "Estimator and time slot of TSC?": {
        "smoothed, 10 ms": {},
        "smoothed, 100 ms": {"slot_ms": 100},
        **{
            f"printed, {slot} ms{', Poisson packets' * packets}": {
                "estimator": "printed",
                "slot_ms": slot,
                "packets": packets,
            }
            for packets in (False, True)
            for slot in (10, 100)
        },
    },
    "Congestion control of TSC?": {"uncoupled": {}, "coupled": {"tsc_coupled": True}},
}


def answers() -> Iterator[Setup]:
    """Yield the set-up of each answer; the chosen one repeats."""
    for named in QUESTIONS.values():
        yield from (replace(CHOSEN, **changes) for changes in named.values())


TEXT = """title = "Park et al. 2014, {name}"
duration = "{duration:g} s"
warmup = "{warmup:g} s"

[[link]]
name = "wifi"
trace = "wifi.trace"
delay = "{wifi_delay:g} ms"
queue = "{queue} packets"
cost = {prices[wifi]:g}

[[link]]
name = "lte"
trace = "lte.trace"
delay = "{lte_delay:g} ms"
queue = "600 packets"
loss = "{loss:g} %"
reverse = {{ loss = "0 %" }}
cost = {prices[lte]:g}

[transport]
{transport}

[traffic]
{traffic}
"""


@dataclass(frozen=True)
class Case:
    """A scheme in a set-up."""

    scheme: Scheme
    setup: Setup = CHOSEN

    @property
    def simulated(self) -> Case:
        """The case without keys that only MPTCP-TSC reads, so that equal runs are one."""
        if self.scheme.threshold_ms is not None:
            return self
        keys = ("estimator", "slot_ms", "tsc_coupled")
        alike = replace(self.setup, **{key: getattr(CHOSEN, key) for key in keys})
        return Case(self.scheme, alike)

    def scenario(self, seed: int) -> Scenario:
        """Return the scenario, over the links of this seed."""
        setup = self.setup
        rates = link_rates(seed, setup.least_mbps)
        traffic = (
            f'kind = "poisson"\nmessage = "1424 B"\nrate = "{setup.mean_mbps:g} Mbit/s"'
            if setup.packets
            else f'kind = "video"\npreset = "film-38"\nrate = "{setup.mean_mbps:g} Mbit/s"\n'
            f'rate_max = "{PAPER["film_mbps"][1]} Mbit/s"\ndeadline = "{REQUIRED_MS} ms"'
        )
        text = TEXT.format(
            name=self.scheme.name,
            duration=DURATION_S,
            warmup=WARMUP_S,
            wifi_delay=setup.wifi_rtt_ms / 2,
            lte_delay=LTE_RTT_MS / 2,
            queue=setup.queue,
            loss=setup.lte_loss_percent,
            prices=PRICES,
            transport="\n".join(f"{key} = {value}" for key, value in self._transport().items()),
            traffic=traffic,
        )
        traces = {f"{link}.trace": _trace(seed, setup.least_mbps, link) for link in rates}
        name = f"{self.scheme.name}-seed-{seed}".lower().replace(" ", "-")
        return Scenario(text, name=name, files=traces)

    def _transport(self) -> Mapping[str, str]:
        setup, scheme = self.setup, self.scheme
        if setup.stack == STANDARD:
            # As in mptcp-ns3, the receiver acknowledges each segment.
            keys = {"profile": '"rfc"', "delayed_ack": "1"}
            keys |= dict.fromkeys(("receive_buffer", "send_buffer"), '"90 MB"')
        else:
            keys = {"profile": '"mptcp-ns3"', "reordering": f'"{setup.stack}"'}
        if scheme == LTE_ALONE:
            return keys | {"protocol": '"tcp"', "paths": '["lte"]', "congestion": '"newreno"'}
        coupled = setup.tsc_coupled if scheme in TSC else scheme.coupled
        keys |= {"protocol": '"mptcp"', "congestion": '"lia"' if coupled else '"uncoupled"'}
        if scheme.threshold_ms is None:
            return keys | {"scheduler": '"round-robin"'}
        return keys | {
            "scheduler": f'{{ name = "traffic-split", estimator = "{setup.estimator}", '
            f'd_net = "{scheme.threshold_ms} ms", d_send = "{SEND_MS} ms", '
            f'slot = "{setup.slot_ms} ms" }}'
        }


@lru_cache(maxsize=64)
def link_rates(seed: int, least_mbps: float) -> dict[str, Floats]:
    """Return the rates of both links in Mbit/s, one for each 0.1 s.

    Wi-Fi has the paper's mean and greatest rate, LTE its range. The deviations of 1.2 and 3 are
    ours.
    """
    wifi, (least, most) = PAPER["wifi_mbps"], PAPER["lte_mbps"]
    dice = np.random.default_rng(seed)
    return {
        "wifi": varying_rates(dice, wifi["mean"], 1.2, (least_mbps, wifi["most"]), DURATION_S),
        "lte": varying_rates(dice, (least + most) / 2, 3.0, (least, most), DURATION_S),
    }


@lru_cache(maxsize=64)
def _trace(seed: int, least_mbps: float, link: str) -> str:
    times = opportunities_ms(link_rates(seed, least_mbps)[link])
    return "\n".join(str(int(time)) for time in times) + "\n"
