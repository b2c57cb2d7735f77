"""Park et al. 2014, section 5.B: cost and round-trip times of MPTCP-TSC."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

from ...analysis.reproduction import ComparedValue, Reproduction
from ...engines.simulate import simulate
from ...scenario import Scenario
from ..published import published
from .tsc_picture import draw

if TYPE_CHECKING:
    import polars as pl

DURATION_S, WARMUP_S = 75.0, 15.0
MEANS = (3.5, 5.0)
"""Mean rate of the video, Mbit/s; the paper states only the peak of 6."""
STACKS = {
    "RFC 8684": 'profile = "rfc"\nprotocol = "mptcp"\nsubflow = "newreno"\n'
    'receive_buffer = "90 MB"\nsend_buffer = "90 MB"',
    "mptcp-ns3": 'profile = "mptcp-ns3"',
}
CONVENTIONAL = "conventional"
ESTIMATORS = ("printed", "smoothed")
LTE_RTT_MS = 40.0
"""Section 5.B: "always"."""

TEXT = """title = "Park et al. 2014, {name}"
duration = "{duration:g} s"
warmup = "{warmup:g} s"

[[link]]
name = "wifi"
rate = "3 Mbit/s"
delay = "10 ms"
queue = "300 packets"
cost = 1

[[link]]
name = "lte"
rate = "15 Mbit/s"
delay = "20 ms"
queue = "600 packets"
cost = 10

[transport]
{stack}
congestion = "uncoupled"
scheduler = {scheduler}

[traffic]
kind = "video"
preset = "live"
rate = "{mean:g} Mbit/s"
deadline = "200 ms"
"""


@dataclass(frozen=True)
class Case:
    """A stack, a video's mean rate in Mbit/s, a splitter, and its threshold in ms."""

    stack: str
    mean: float
    scheduler: str
    threshold: int | None = None

    @property
    def name(self) -> str:
        """Description of the case."""
        return f"{self.scheduler}{f' {self.threshold} ms' if self.threshold else ''}"

    def scenario(self) -> Scenario:
        """The case as a scenario."""
        chosen = '"round-robin"'
        if self.threshold:
            chosen = (
                f'{{ name = "traffic-split", estimator = "{self.scheduler}",'
                f' d_net = "{self.threshold} ms" }}'
            )
        text = TEXT.format(
            name=f"{self.stack}, {self.mean:g} Mbit/s, {self.name}",
            duration=DURATION_S,
            warmup=WARMUP_S,
            stack=STACKS[self.stack],
            scheduler=chosen,
            mean=self.mean,
        )
        short = f"tsc-{self.stack}-{self.mean:g}-{self.name}".lower()
        return Scenario(text, name=short.replace(" ", "-").replace(".", "-"))


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None = None
) -> Reproduction:
    """Simulate both means over both stacks, by round robin and by MPTCP-TSC.

    The result compares the three statements of the paper's evaluation with ours.
    """
    paper = published("park-2014")
    facts = paper["delay"]
    thresholds = facts["network_threshold_ms"]
    splits = [(CONVENTIONAL, None), *product(ESTIMATORS, thresholds)]
    cases = [
        Case(stack, mean, scheduler, threshold)
        for stack, mean, (scheduler, threshold) in product(STACKS, MEANS, splits)
    ]
    jobs = [(case, seed + run) for case in cases for run in range(runs)]
    rows: list[dict[str, Any]] = []
    with ThreadPoolExecutor() as threads:
        for row in threads.map(lambda job: measured(*job), jobs):
            rows.append(row)
            if progress is not None:
                progress(len(rows), len(jobs))
    table, delays, seconds = _tables(rows)
    return Reproduction(
        paper="park-2014",
        item="tsc",
        title="Park et al. 2014, section 5.B: cost and delay under MPTCP-TSC",
        source=paper["citation"],
        comparisons=tuple(compared(table, thresholds, facts)),
        draw=lambda: draw(delays, seconds, thresholds),
        tables={"means": table, "delays": delays, "costs": seconds},
        scenarios={case.scenario().name: case.scenario() for case in cases},
        seed=seed,
        runs=runs,
    )


def measured(case: Case, seed: int) -> dict[str, Any]:
    """Return numbers of one run: cost, lateness, round trips, delay bins, cost of each second."""
    import polars as pl

    results = simulate(case.scenario(), seed=seed, step="20 ms", threads=1)
    run, bins = results.json(), results.delays
    after = results.timeline.filter(pl.col("time_s") > WARMUP_S)
    wifi, lte = (
        after.filter(pl.col("link") == link)["srtt_ms"].drop_nulls() for link in ("wifi", "lte")
    )
    prices = pl.when(pl.col("link") == "wifi").then(1).otherwise(10)
    seconds = (
        after.group_by(pl.col("time_s").floor().alias("second"))
        .agg((pl.col("goodput_mbps") * prices).sum().alias("cost") / 50)
        .sort("second")
    )
    return {
        "stack": case.stack,
        "mean_mbps": case.mean,
        "split": case.name,
        "estimator": case.scheduler,
        "d_net_ms": case.threshold,
        "seed": seed,
        "cost": run["cost"],
        "late_percent": run["video"]["late_percent"],
        "p95_ms": run["delay_ms"]["p95"],
        "within_percent": 100 * float((wifi.to_numpy() < 2 * (case.threshold or 0)).mean()),
        "lte_rtt_ms": lte.median(),
        "_bins": bins.select("up_to_ms", "count"),
        "_seconds": seconds,
    }


def _tables(rows: list[dict[str, Any]]) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return means of the runs, and distributions of delays and costs."""
    import polars as pl

    keys = ["stack", "mean_mbps", "split"]

    def every(part: str) -> pl.DataFrame:
        return pl.concat(  # type: ignore[no-any-return]
            row[part].with_columns(**{key: pl.lit(row[key]) for key in keys}) for row in rows
        )

    plain = pl.DataFrame(
        [{key: value for key, value in row.items() if key[0] != "_"} for row in rows],
        infer_schema_length=None,
    )
    means = plain.group_by([*keys, "estimator", "d_net_ms"], maintain_order=True).agg(
        pl.col("cost", "late_percent", "p95_ms", "within_percent", "lte_rtt_ms").mean()
    )
    delays = every("_bins").group_by([*keys, "up_to_ms"], maintain_order=True)
    return means, delays.agg(pl.col("count").sum()), every("_seconds")


def compared(
    table: pl.DataFrame, thresholds: list[int], facts: Mapping[str, Any]
) -> Iterator[ComparedValue]:
    """Compare each statement, for each stack, mean and estimator."""
    import polars as pl

    for stack, mean in product(STACKS, MEANS):
        own = table.filter(pl.col("stack") == stack, pl.col("mean_mbps") == mean)
        conventional = own.row(by_predicate=pl.col("split") == CONVENTIONAL, named=True)
        for estimator in ESTIMATORS:
            part = own.filter(pl.col("estimator") == estimator).sort("d_net_ms")
            where = f"{stack}, {mean:g} Mbit/s, {estimator}"
            for row in part.iter_rows(named=True):
                yield ComparedValue(
                    f"Wi-Fi round trips below 2 x {row['d_net_ms']} ms, {where}",
                    row["within_percent"],
                    published=f"> {facts['tsc_rtt_below_twice_threshold_percent']}",
                    unit="%",
                    digits=0,
                    reason=_of_round_trips(row, facts),
                )
            yield ComparedValue(
                f"LTE round trip, {where}",
                float(part["lte_rtt_ms"].to_numpy().mean()),
                published=LTE_RTT_MS,
                unit="ms",
                digits=0,
                reason=_of_lte(stack),
            )
            costs = part["cost"].to_list()
            falls = all(one > other for one, other in pairwise(costs))
            listed = ", ".join(
                f"{threshold} ms {cost:.1f}"
                for threshold, cost in zip(sorted(thresholds), costs, strict=True)
            )
            late = ", ".join(f"{percent:.0f}" for percent in part["late_percent"])
            yield ComparedValue(
                f"cost falls as d_net rises, {where}",
                "yes" if falls else "no",
                published="yes",
                reason=f"{listed}; late {late} %. {_of_costs(estimator)}".strip(),
            )
            yield ComparedValue(
                f"cost at {min(thresholds)} ms over conventional, {where}",
                costs[0] / conventional["cost"],
                published="> 1",
                unit="times",
                reason=_of_conventional(stack, conventional),
            )


def _of_round_trips(row: Mapping[str, Any], facts: Mapping[str, Any]) -> str | None:
    if row["within_percent"] > facts["tsc_rtt_below_twice_threshold_percent"]:
        return None
    return (
        f"{row['late_percent']:.0f} % of frames are late. In slow start (15) does not count, and"
        " Wi-Fi's queue of 300 packets, 1.2 s, fills before the first loss; (13) takes a window"
        " that the application leaves partly empty for a fast link."
    )


def _of_lte(stack: str) -> str:
    if stack == "mptcp-ns3":
        return (
            "Median of the smoothed one. This receiver acknowledges only data in order on both "
            "levels: a segment ahead in the stream is acknowledged after its retransmission, "
            "which counts as its round trip."
        )
    return (
        "Median of the smoothed one. LTE carries the excess over Wi-Fi's limit: frames leave in "
        "bursts, which queue on it."
    )


def _of_costs(estimator: str) -> str:
    if estimator == "smoothed":
        return ""
    return (
        "As printed, the demand (12) is zero in the slots between two frames, in spite of a "
        "backlog: most of the video never leaves in time, and costs nothing."
    )


def _of_conventional(stack: str, row: Mapping[str, Any]) -> str:
    shares = f"Round robin costs {row['cost']:.1f} with {row['late_percent']:.0f} % late"
    if stack == "mptcp-ns3":
        return (
            f"{shares}: this receiver holds both subflows to the slower one's rate, and less than"
            " the demand arrives."
        )
    return (
        f"{shares}: half of all data uses LTE as long as both have capacity. The paper says that "
        "TSC at 100 ms costs more, so that LTE would have more than half. For a mean below 5.4 "
        "Mbit/s, twice the limit (15) of Wi-Fi, that is impossible."
    )
