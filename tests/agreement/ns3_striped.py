"""One TCP striped packet by packet over three links, compared with ns-3.

Profile ns-3, and the same with `halve_pipe = false`. Runs are deterministic, so one is enough. The
rows without SACK are shown, but not tested: see tests/reference/README.md.
"""

from functools import cache

import polars as pl

import ropewalk
from tables import SCENARIOS, Table, reference

BAND = 20.0


def scenario(row: dict[str, object], **changes: bool) -> ropewalk.Scenario:
    keys: dict[str, ropewalk.scenario.Value] = {
        "transport.sack": row["sack"] == 1,
        **{f"transport.{key}": value for key, value in changes.items()},
    }
    for number in range(3):
        keys[f"link.l{number + 1}.delay"] = f"{row['base_ms'] + number * row['step_ms']} ms"
        keys[f"link.l{number + 1}.queue"] = f"{row['queue_pkts']} packets"
    if row["scenario"] == "rwnd64k":
        keys["transport.receive_buffer"] = "65535 B"
    return ropewalk.Scenario.load(SCENARIOS / "three-striped-links.toml").with_(keys)


@cache
def compared(*, halve_pipe: bool, sack: bool) -> pl.DataFrame:
    """Return the file's rows with or without SACK; without those that lack encapsulation."""
    file = reference("ns3-striped-3-links.csv").filter(
        pl.col("scenario") != "encap0", pl.col("sack") == sack
    )
    rows = []
    for row in file.iter_rows(named=True):
        results = ropewalk.simulate(scenario(row, halve_pipe=halve_pipe))
        subflow = results.subflows.row(0, named=True)
        ours = results.mean["goodput_mbps"]
        rows.append(
            {
                "row": row["scenario"],
                "step ms": row["step_ms"],
                "ns-3": row["goodput_mbps"],
                "ours": ours,
                "difference %": 100 * (ours / row["goodput_mbps"] - 1),
                "fast recoveries, ns-3 / ours": f"{row['fast_recoveries']} / "
                f"{subflow['fast_recoveries']}",
                "retransmitted, ns-3 / ours": f"{row['retx']} / {subflow['retransmissions']}",
                "ours, spurious": subflow["spurious_retransmissions"],
                "timeouts, ns-3 / ours": f"{row['timeouts']} / {subflow['timeouts']}",
            }
        )
    return pl.DataFrame(rows)


def sack_rows() -> pl.DataFrame:
    """Return the SACK-on rows with both definitions of the halved quantity."""
    both = []
    for halve_pipe in (True, False):
        frame = compared(halve_pipe=halve_pipe, sack=True).drop("row")
        met = pl.col("difference %").abs() <= BAND
        both.append(
            frame.insert_column(0, pl.lit(halve_pipe).alias("halve_pipe")).with_columns(
                met.alias("met")
            )
        )
    return pl.concat(both)


def tables() -> list[Table]:
    formats = {"ns-3": ".3f", "ours": ".3f", "difference %": "+.1f"}
    return [
        Table(
            "ns3-striped-sack", "One TCP striped over three links, SACK on", sack_rows(), formats
        ),
        Table(
            "ns3-striped-no-sack",
            "One TCP striped over three links, SACK off: shown, not judged",
            compared(halve_pipe=True, sack=False),
            formats,
        ),
    ]


if __name__ == "__main__":
    for table in tables():
        table.print()
