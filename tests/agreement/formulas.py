"""One TCP on a link that loss alone limits, beside the formulas of Mathis and of Padhye.

Windows are segments per round trip. b is how many segments an acknowledgement
covers, T0 the first retransmission timeout, here four round trips.
"""

import math
from functools import cache

import polars as pl

import ropewalk
from tables import SCENARIOS, Table

RTT_S = 0.1
SEGMENT = 1448
LOSSES = (0.001, 0.002, 0.005, 0.01, 0.02)
BAND = 15.0
RUNS = 4


def mathis(loss: float, b: int = 1) -> float:
    """Window of Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997, equation 3.

    >>> f"{mathis(0.01):.2f} {mathis(0.001):.2f}"
    '12.25 38.73'
    """
    return math.sqrt(3 / (2 * b * loss))


def pftk(loss: float, b: int = 1, t0_rtts: float = 4.0) -> float:
    """Window of Padhye, Firoiu, Towsley and Kurose, SIGCOMM 1998, equation 30.

    >>> f"{pftk(0.01):.2f} {pftk(0.05):.2f}"
    '11.23 3.69'
    """
    fast = math.sqrt(2 * b * loss / 3)
    timeouts = t0_rtts * min(1.0, 3 * math.sqrt(3 * b * loss / 8)) * loss * (1 + 32 * loss**2)
    return 1 / (fast + timeouts)


@cache
def compared() -> pl.DataFrame:
    """One row for each b and loss."""
    base = ropewalk.Scenario.load(SCENARIOS / "loss-limits.toml")
    rows = []
    for b in (1, 2):
        for loss in LOSSES:
            # The formulas count acknowledgements, each of b segments.
            scenario = base.with_(
                {
                    "link.link.loss": f"{100 * loss} %",
                    "transport.delayed_ack": b,
                    "transport.byte_counting": b == 1,
                }
            )
            results = ropewalk.simulate(scenario, seed=1, runs=RUNS)
            ours = results.mean["goodput_mbps"] * 1e6 / 8 / SEGMENT * RTT_S
            rows.append(
                {
                    "b": b,
                    "loss %": 100 * loss,
                    "ours": ours,
                    "Mathis": mathis(loss, b),
                    "difference to Mathis %": 100 * (ours / mathis(loss, b) - 1),
                    "PFTK": pftk(loss, b),
                    "difference to PFTK %": 100 * (ours / pftk(loss, b) - 1),
                }
            )
    return pl.DataFrame(rows)


def tables() -> list[Table]:
    """Return what the formulas show."""
    formats = {
        "ours": ".2f",
        "Mathis": ".2f",
        "difference to Mathis %": "+.1f",
        "PFTK": ".2f",
        "difference to PFTK %": "+.1f",
    }
    title = "Window in segments where loss alone limits, RTT 100 ms, T0 = 4 RTT"
    return [Table("formulas", title, compared(), formats)]


if __name__ == "__main__":
    for table in tables():
        table.print()
