"""MPTCP's coupled controls: compared with htsim, and on two links with loss.

Profile rfc. On the shared bottleneck the TCP starts at sixteen different times, since a drop-tail
queue synchronizes the connections of a single run. The picture shows two equal links: fully
coupled windows flap between them, LIA's do not.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import ropewalk
from tables import SCENARIOS, Table, reference

# Ours, htsim's name, and the band around htsim's ratio.
BANDS = {
    "uncoupled": ("UNCOUPLED", 0.15),
    "lia": ("COUPLED_INC", 0.25),
    "fully-coupled": ("FULLY_COUPLED", 0.25),
}
OTHERS = ("linked-increases", "olia", "balia")
STARTS = [f"{210 * number} ms" for number in range(16)]
MEAN_OVER = 10
"""Steps of 1 s over which the share of a link is averaged."""


def coupled(congestion: str) -> dict[str, ropewalk.scenario.Value]:
    newreno = {"transport.subflow": "newreno"} if congestion == "uncoupled" else {}
    return {"transport.congestion": congestion, **newreno}


@cache
def shared_bottleneck() -> pl.DataFrame:
    """Return the ratio of MPTCP to a competing TCP, drop tail."""
    htsim = reference("htsim-shared-bottleneck.csv").filter(pl.col("queue_kind") == "dt")
    base = ropewalk.Scenario.load(SCENARIOS / "shared-bottleneck.toml")
    rows = []
    for congestion in (*BANDS, *OTHERS):
        ratios = []
        for start in STARTS:
            results = ropewalk.simulate(
                base.with_({**coupled(congestion), "competitor.tcp.start": start})
            )
            comparison = results.competitors["goodput_mbps"][0]
            ratios.append(results.mean["goodput_mbps"] / comparison)
        row: dict[str, object] = {
            "congestion": congestion,
            "ratio": float(np.mean(ratios)),
            "deviation": float(np.std(ratios, ddof=1)),
        }
        if congestion in BANDS:
            name, band = BANDS[congestion]
            theirs = htsim.filter(pl.col("coupling") == name)["ratio_mptcp_over_tcp1_mean"].item()
            row |= {
                "htsim": theirs,
                "difference": row["ratio"] - theirs,
                "band": f"± {band}",
                "met": abs(row["ratio"] - theirs) < band,
            }
        rows.append(row)
    return pl.DataFrame(rows)


@cache
def better_link() -> pl.DataFrame:
    """Return the share of a link with 1 % loss next to one with 4 %, at equal round trips."""
    base = ropewalk.Scenario.load(SCENARIOS / "two-lossy-links.toml")
    rows = []
    for congestion in (*BANDS, *OTHERS):
        results = ropewalk.simulate(base.with_(coupled(congestion)), seed=1, runs=5)
        mean = results.subflows.group_by("link").agg(pl.col("goodput_mbps").mean())
        mbps = dict(mean.iter_rows())
        rows.append(
            {
                "congestion": congestion,
                "better Mbit/s": mbps["better"],
                "worse Mbit/s": mbps["worse"],
                "share of the better": mbps["better"] / (mbps["better"] + mbps["worse"]),
            }
        )
    return pl.DataFrame(rows)


@cache
def equal_links(congestion: str) -> ropewalk.Results:
    """Return five runs over two links of 0.1 % loss, with a timeline."""
    base = ropewalk.Scenario.load(SCENARIOS / "two-lossy-links.toml")
    links = {"link.better.loss": "0.1 %", "link.worse.loss": "0.1 %"}
    changed = base.with_({**links, **coupled(congestion), "transport.delayed_ack": 1})
    return ropewalk.simulate(changed, seed=1, runs=5, step="1 s")


def shares(results: ropewalk.Results, seed: int) -> np.ndarray:
    """Return the share of the first link in arrivals, over each ten seconds after the warm-up."""
    timeline = results.timeline.filter(
        pl.col("seed") == seed, pl.col("time_s") > results.scenario.warmup_s
    )
    sums = []
    for link in ("better", "worse"):
        goodput = timeline.filter(pl.col("link") == link).sort("time_s")["goodput_mbps"]
        values = goodput.fill_null(0.0).to_numpy()
        values = values[: len(values) // MEAN_OVER * MEAN_OVER]
        sums.append(values.reshape(-1, MEAN_OVER).sum(1))
    share: np.ndarray = sums[0] / (sums[0] + sums[1])
    return share


def changes_of_side(share: np.ndarray) -> int:
    """Return how often more than four fifths move from one link to the other.

    >>> changes_of_side(np.array([0.5, 0.9, 0.7, 0.9, 0.1, 0.5, 0.85]))
    2
    """
    sides = np.where(share > 0.8, 1, np.where(share < 0.2, -1, 0))
    sides = sides[sides != 0]
    return int(np.count_nonzero(np.diff(sides)))


@cache
def flapping() -> pl.DataFrame:
    """Return how unevenly and variably two equal links are used."""
    rows = []
    for congestion in (*BANDS, *OTHERS):
        results = equal_links(congestion)
        each = [shares(results, seed) for seed in results.seeds]
        every = np.concatenate(each)
        rows.append(
            {
                "congestion": congestion,
                "goodput Mbit/s": results.mean["goodput_mbps"],
                "deviation of the share": float(every.std()),
                "time beyond 4 to 1 %": 100 * float(np.mean(np.abs(every - 0.5) > 0.3)),
                "changes of side in 300 s": float(np.mean([changes_of_side(s) for s in each])),
            }
        )
    return pl.DataFrame(rows)


def picture() -> Figure:
    """Draw goodput of both subflows over time: fully coupled above, LIA below."""
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    titles = {
        "fully-coupled": "fully coupled: the connection flaps from link to link",
        "lia": "LIA: both links stay in use",
    }
    panels = figure.subplots(2, 1, sharex=True, sharey=True)
    for axes, (congestion, title) in zip(panels, titles.items(), strict=True):
        timeline = equal_links(congestion).timeline.filter(pl.col("seed") == 1)
        for link, colour, name in (("better", "#332288", "one"), ("worse", "#cc6677", "other")):
            rows = timeline.filter(pl.col("link") == link).sort("time_s")
            axes.plot(rows["time_s"], rows["goodput_mbps"], color=colour, lw=1.2, label=name)
        axes.set_title(title, loc="left", fontsize="medium")
        axes.set_ylabel("goodput (Mbit/s)")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(bottom=0)
    panels[0].legend(ncols=2, frameon=False, loc="upper right")
    panels[1].set(xlabel="time (s)", xlim=(0, equal_links("lia").scenario.duration_s))
    return figure


def tables() -> list[Table]:
    return [
        Table(
            "coupling-shared",
            "Goodput of MPTCP over that of a TCP on the same bottleneck",
            shared_bottleneck(),
            {"ratio": ".2f", "deviation": ".2f", "htsim": ".2f", "difference": "+.2f"},
        ),
        Table(
            "coupling-better",
            "Two links of one round trip, losses .01 and .04",
            better_link(),
            {"better Mbit/s": ".2f", "worse Mbit/s": ".2f", "share of the better": ".2f"},
        ),
        Table(
            "coupling-flapping",
            "Two equal links of .1 % loss: the first one's share in means of 10 s",
            flapping(),
            {
                "goodput Mbit/s": ".2f",
                "deviation of the share": ".2f",
                "time beyond 4 to 1 %": ".0f",
                "changes of side in 300 s": ".1f",
            },
        ),
    ]


if __name__ == "__main__":
    for table in tables():
        table.print()
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "results/agreement/coupling.png")
    path.parent.mkdir(parents=True, exist_ok=True)
    ropewalk.plot.save(picture(), path)
    print(path)
