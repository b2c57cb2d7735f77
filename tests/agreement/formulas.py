"""One TCP limited by loss alone, compared with the formulas of Mathis and of Padhye.

Windows are segments per round trip. b is the number of segments per acknowledgement, T0 the first
retransmission timeout, here four round trips.
"""

from functools import cache

import polars as pl

import ropewalk
from ropewalk.model.classics import mathis, pftk
from tables import SCENARIOS, Table

RTT_S = 0.1
SEGMENT = 1448
LOSSES = (0.001, 0.002, 0.005, 0.01, 0.02)
BAND = 15.0
RUNS = 4


@cache
def compared() -> pl.DataFrame:
    """Return a row for each b and loss."""
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
                    "Mathis": mathis(loss, b=b),
                    "difference to Mathis %": 100 * (ours / mathis(loss, b=b) - 1),
                    "PFTK": pftk(loss, b=b),
                    "difference to PFTK %": 100 * (ours / pftk(loss, b=b) - 1),
                }
            )
    return pl.DataFrame(rows)


def tables() -> list[Table]:
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
