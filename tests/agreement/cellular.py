"""Two recorded cellular links: MPTCP over both, and TCP over each.

    python tests/agreement/cellular.py A.down A.up B.down B.up [picture]

The traces are in mahimahi's format; by default two made-up ones.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

import ropewalk
from tables import SCENARIOS, Table

PICTURE = Path("results/agreement/cellular.png")
LINKS = ("a", "b")


def scenario(traces: list[str]) -> ropewalk.Scenario:
    """Return the scenario with these traces: down and up of one link, then of the other."""
    keys = ("link.a.trace", "link.a.reverse.trace", "link.b.trace", "link.b.reverse.trace")
    changes = [(key, str(Path(path).resolve())) for key, path in zip(keys, traces, strict=False)]
    return ropewalk.Scenario.load(SCENARIOS / "two-traces.toml", overrides=changes)


def runs(base: ropewalk.Scenario) -> dict[str, ropewalk.Results]:
    """Run TCP on each link and MPTCP on both, with timelines."""
    alone = {
        f"TCP on {link}": base.with_({"transport.protocol": "tcp", "transport.paths": [link]})
        for link in LINKS
    }
    every = alone | {"MPTCP on both": base}
    return {name: ropewalk.simulate(chosen, step="1 s") for name, chosen in every.items()}


def capacities(results: ropewalk.Results) -> pl.DataFrame:
    """Return the capacity of a run's links over time."""
    return results.connection.select("time_s", "capacity_mbps")


def compared(found: dict[str, ropewalk.Results]) -> pl.DataFrame:
    rows = []
    for name, results in found.items():
        run = results.runs[0]
        used = [link for link in run["links"] if link["sent_packets"] > 0]
        rows.append(
            {
                "run": name,
                # Includes the time after the last delivery.
                "goodput Mbit/s": run["delivered_bytes"] * 8e-6 / run["duration_s"],
                "capacity Mbit/s": capacities(results)["capacity_mbps"].mean(),
                "utilization": " ".join(f"{link['utilization']:.3f}" for link in used),
                "mean srtt ms": results.timeline["srtt_ms"].mean(),
                "lost to queues": sum(link["dropped_packets"] for link in used),
                "fast recoveries": sum(flow["fast_recoveries"] for flow in run["subflows"]),
                "timeouts": sum(flow["timeouts"] for flow in run["subflows"]),
            }
        )
    return pl.DataFrame(rows)


def picture(found: dict[str, ropewalk.Results]) -> Figure:
    """Draw each run's goodput over time, with the capacity of its links."""
    with mpl.rc_context({"font.size": 9}):
        figure = Figure(figsize=(9, 6.5), layout="constrained")
        panels = figure.subplots(len(found), 1, sharex=True)
        for axes, (name, results) in zip(panels, found.items(), strict=True):
            capacity = capacities(results)
            edges = [0.0, *capacity["time_s"]]
            axes.stairs(
                capacity["capacity_mbps"],
                edges,
                fill=True,
                color="#dddddd",
                label="capacity of the traces",
            )
            axes.stairs(
                results.connection["goodput_mbps"],
                edges,
                baseline=None,
                color="#332288",
                linewidth=1.2,
                label="delivered in order",
            )
            axes.set_title(name, loc="left", fontsize="medium")
            axes.set_ylabel("Mbit/s")
            # Data behind a gap counts when the gap closes: the line may leave the frame.
            axes.set_ylim(0, 1.2 * capacity["capacity_mbps"].max())
            axes.spines[["top", "right"]].set_visible(False)
        panels[-1].set(xlabel="time (s)", xlim=(0, results.scenario.duration_s))
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper right", ncols=2, frameon=False)
    return figure


def tables(traces: list[str] | None = None) -> list[Table]:
    """Return the tables of traces, by default made-up ones."""
    return [table(runs(scenario(traces or [])))]


def table(found: dict[str, ropewalk.Results]) -> Table:
    formats = {"goodput Mbit/s": ".2f", "capacity Mbit/s": ".2f", "mean srtt ms": ".0f"}
    return Table("cellular", "Two cellular links, 60 s", compared(found), formats)


if __name__ == "__main__":
    given = sys.argv[1:]
    if len(given) not in {0, 4, 5}:
        sys.exit(__doc__)
    found = runs(scenario(given[:4]))
    table(found).print()
    path = Path(given[4]) if len(given) == 5 else PICTURE
    path.parent.mkdir(parents=True, exist_ok=True)
    ropewalk.plot.save(picture(found), path)
    print(path)
