"""Cost and lateness of schedulers that use prices, with video over a cheap and an expensive link.

    python tests/agreement/hulls.py [--seeds 20] [--traces DIR] [--write]

A seed is a random scenario:

- Wi-Fi with a mean of 3 Mbit/s (AR(1), clipped to 0.3 to 5), price 1, round trip 20 ms.
- LTE with a mean of 15 Mbit/s (10 to 20), price 10, round trip 40 ms.
- Live video of 3.5 Mbit/s, with a deadline of 200 ms per frame; 75 s with 15 s of warm-up.

Each scheduler has one parameter, which is varied. Its hull is the lower hull of its points, mean
cost over mean lateness. Schedulers are compared at equal lateness of the hulls, by paired
differences of the seeds. The bound knows the links in advance.

With `--traces`, links are recorded ones: `DIR/cellular/*.down` in mahimahi's format, in pairs of
cheap and expensive, and `DIR/high-speed-rail/elephant.*.csv`, packets of a download over two
carriers. Their video has half of both links' rate, but at most 3.5 Mbit/s.
"""

import argparse
import csv
import itertools
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from scipy import stats

import ropewalk
from ropewalk.model.cheapest_in_time import (
    PricedLink,
    Writes,
    by_trace,
    least_cost,
    least_lateness,
)
from ropewalk.papers.park2014.varying_links import opportunities_ms, varying_rates
from ropewalk.scenario import Value
from tables import ROOT, Table, write_into_pages

PAGE = ROOT / "docs/agreement/prices.md"
PICTURE = ROOT / "docs/images/hulls.png"
DURATION, WARMUP, DEADLINE = 75.0, 15.0, 0.2
RATE = 3.5e6  # bit/s, of frames
FRAME_RATE = 30
PRICES = {"wifi": 1.0, "lte": 10.0}  # per Mbit/s
DELAYS = {"wifi": 0.01, "lte": 0.02}  # one way, seconds
OPPORTUNITY = 1500  # bytes
ON_WIRE = 1492 / 1420  # of a full segment: size with headers over payload
LATENESS = (0.5, 1.0, 2.0, 5.0)  # percent, at which hulls are compared
OURS = "cheapest-in-time"

TRANSPORTS = {
    "mptcp": 'protocol = "mptcp"',
    "mptcp, profile rfc": 'protocol = "mptcp"\nprofile = "rfc"',
    "aggregation": 'protocol = "aggregation"',
}
KNOBS: dict[str, list[dict[str, Value]]] = {
    "linux": [{}],  # only for MPTCP
    "min-rtt": [{}],
    OURS: [{"guard": guard} for guard in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)],
    "overflow": [{"after": f"{ms} ms"} for ms in (2, 5, 10, 20, 30, 50, 100)],
    "traffic-split": [{"d_net": f"{ms} ms"} for ms in (10, 20, 30, 40, 50, 70, 100, 200, 500)],
    "mp-dash": [{"alpha": alpha} for alpha in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)],
}
ONE_KNOB = {
    "linux": "",
    "min-rtt": "",
    OURS: "guard 0.3",
    "overflow": "after 20 ms",
    "traffic-split": "d_net 30 ms",
    "mp-dash": "alpha 0.5",
}
TEXT = """\
duration = "{duration} s"
warmup = "{warmup} s"
[[link]]
name = "wifi"
trace = "{wifi}"
delay = "10 ms"
queue = "300 packets"
cost = 1
[[link]]
name = "lte"
trace = "{lte}"
delay = "20 ms"
queue = "600 packets"
cost = 10
[transport]
{transport}
[traffic]
kind = "video"
trace = "{video}"
frame_rate = {frame_rate}
deadline = "200 ms"
"""


Corner: TypeAlias = tuple[float, float, str]
"""Lateness in percent, cost and parameter."""


@dataclass(frozen=True)
class VideoScenario:
    """Two links, as milliseconds at which 1500 bytes may be sent, and video frames in bytes."""

    name: str
    wifi: np.ndarray
    lte: np.ndarray
    frames: np.ndarray

    def written(self, folder: Path) -> dict[str, Path]:
        """Write the three files that its scenarios name."""
        paths = {}
        for key in ("wifi", "lte", "frames"):
            paths[key] = folder / f"{self.name}-{key}.txt"
            paths[key].write_text("\n".join(str(int(one)) for one in getattr(self, key)) + "\n")
        return paths

    def scenario(self, paths: dict[str, Path], transport: str) -> ropewalk.Scenario:
        text = TEXT.format(
            duration=DURATION,
            warmup=WARMUP,
            wifi=paths["wifi"],
            lte=paths["lte"],
            video=paths["frames"],
            frame_rate=FRAME_RATE,
            transport=TRANSPORTS[transport],
        )
        return ropewalk.Scenario(text, name=self.name)

    def bound(self) -> tuple[float, bool]:
        """Return the least cost per second after the warm-up with the links known in advance.

        Also return whether all data can be in time; if not, deadlines are extended as needed.
        """
        at = np.arange(self.frames.size) / FRAME_RATE
        frames = Writes.of(self.frames * ON_WIRE, at, at + DEADLINE)
        links = [
            PricedLink(
                PRICES[name], 2 * DELAYS[name], by_trace(getattr(self, name) / 1e3, OPPORTUNITY)
            )
            for name in PRICES
        ]
        best = least_cost(frames, links)
        in_time = best is not None
        if best is None:
            best = least_cost(frames.later(1.001 * least_lateness(frames, links)), links)
        if best is None:
            raise ValueError(f"{self.name}: the links never carry it")
        prices = np.array([link.price for link in links])
        spent = float((prices @ best.amounts)[at >= WARMUP].sum())
        return 8e-6 * spent / (DURATION - WARMUP), in_time


def varying(
    rng: np.random.Generator, mean: float, deviation: float, bounds: tuple[float, float]
) -> np.ndarray:
    """Return sending times in ms of a link with a varying rate."""
    return opportunities_ms(varying_rates(rng, mean, deviation, bounds, 2 * DURATION))


def live_video(rng: np.random.Generator, rate: float = RATE) -> np.ndarray:
    """Return frames as in preset `live`: an I frame per second, five times a P frame; scenes."""
    count = int(DURATION * FRAME_RATE)
    scenes = np.repeat(
        rng.lognormal(0, 0.45, count),
        np.maximum(1, rng.exponential(4 * FRAME_RATE, count)).astype(int),
    )[:count]
    noise, draws = np.empty(count), rng.normal(0, 1, count)
    noise[0] = draws[0]
    for at in range(1, count):
        noise[at] = 0.8 * noise[at - 1] + 0.6 * draws[at]
    weights = np.where(np.arange(count) % FRAME_RATE == 0, 5.0, 1.0)
    sizes = weights * scenes * np.exp(0.25 * noise)
    measured = sizes[int(WARMUP * FRAME_RATE) :]
    return np.asarray(np.ceil(sizes * rate / 8 / FRAME_RATE / measured.mean()))


def drawn(seed: int) -> VideoScenario:
    rng = np.random.default_rng(seed)
    return VideoScenario(
        f"scenario-{seed}",
        varying(rng, 3.0, 1.2, (0.3, 5.0)),
        varying(rng, 15.0, 3.0, (10.0, 20.0)),
        live_video(rng),
    )


def rail(path: Path) -> np.ndarray:
    """Return arrivals of 1500 bytes of a download, in ms from its first data."""
    with path.open(newline="") as lines:
        packets = [
            (float(row["frame.time_epoch"]), int(row["tcp.len"]))
            for row in csv.DictReader(lines)
            if row["tcp.srcport"] == "8000" and int(row["tcp.len"] or 0) > 0
        ]
    times = np.array([time for time, _ in packets])
    carried = np.cumsum([length for _, length in packets])
    order = np.searchsorted(carried, np.arange(1, int(carried[-1]) // OPPORTUNITY) * OPPORTUNITY)
    return np.sort(1e3 * (times[order] - times[0]))


def recorded(folder: Path) -> Iterator[VideoScenario]:
    """Yield scenarios of recorded links, each with its own video."""
    cellular = {path.stem: np.loadtxt(path) for path in sorted(folder.glob("cellular/*.down"))}
    elephants = {
        path.stem: rail(path) for path in sorted(folder.glob("high-speed-rail/elephant*"))
    }
    pairs = [*itertools.permutations(cellular, 2), *itertools.permutations(elephants, 2)]
    for number, pair in enumerate(pairs):
        wifi, lte = [(cellular | elephants)[name] for name in pair]
        carried = sum(8e3 * OPPORTUNITY * link.size / link[-1] for link in (wifi, lte))
        frames = live_video(np.random.default_rng(1000 + number), min(RATE, carried / 2))
        short = [name.split("-")[0] if name in cellular else name.split(".")[-1] for name in pair]
        yield VideoScenario(" then ".join(short), wifi, lte, frames)


def points(scenarios: Sequence[VideoScenario], transport: str, folder: Path) -> pl.DataFrame:
    """Return cost and lateness of each scheduler, parameter and scenario."""
    paths = {one.name: one.written(folder) for one in scenarios}
    jobs = [
        (one, scheduler, knob)
        for one in scenarios
        for scheduler, knobs in KNOBS.items()
        if not (transport == "aggregation" and scheduler == "linux")
        for knob in knobs
    ]

    def run(job: tuple[VideoScenario, str, dict[str, Value]]) -> dict[str, object]:
        one, scheduler, knob = job
        chosen = {"transport.scheduler": {"name": scheduler, **knob} if knob else scheduler}
        scenario = one.scenario(paths[one.name], transport).with_(chosen)
        found = ropewalk.simulate(scenario, threads=1).runs[0]
        return {
            "scenario": one.name,
            "scheduler": scheduler,
            "knob": " ".join(f"{key} {value}" for key, value in knob.items()),
            "cost": found["cost"],
            "late": found["video"]["late_percent"],
        }

    with ThreadPoolExecutor() as pool:
        return pl.DataFrame(list(pool.map(run, jobs)))


def hull(means: pl.DataFrame) -> list[Corner]:
    """Return a scheduler's points (lateness, cost, parameter) on the lower hull."""
    rows = sorted(means.select("late", "cost", "knob").iter_rows())
    best: list[Corner] = []
    for row in rows:
        if best and row[1] >= best[-1][1]:
            continue
        while len(best) > 1 and _above(best[-2], best[-1], row):
            best.pop()
        best.append(row)
    return best


def _above(one: Corner, middle: Corner, other: Corner) -> bool:
    """Whether the middle one is above the line of the others."""
    part = (middle[0] - one[0]) / (other[0] - one[0])
    return middle[1] >= one[1] + part * (other[1] - one[1])


def mixture(corners: list[Corner], late: float) -> dict[str, float] | None:
    """Return the mix of parameters with this lateness; None if it cannot be reached."""
    if corners[0][0] > late:
        return None
    for one, other in itertools.pairwise(corners):
        if one[0] <= late <= other[0]:
            part = (late - one[0]) / (other[0] - one[0])
            return {one[2]: 1 - part, other[2]: part}
    return {corners[-1][2]: 1.0}


def compared(found: pl.DataFrame) -> pl.DataFrame:
    """Return the cost of each scheduler at equal lateness, and our saving (95 % interval)."""
    rows = []
    mean = found.group_by("scheduler", "knob").agg(pl.col("cost", "late").mean())
    names = [name for name in KNOBS if name in mean["scheduler"]]
    hulls = {name: hull(mean.filter(pl.col("scheduler") == name)) for name in names}

    def costs(scheduler: str, late: float) -> np.ndarray | None:
        parts = mixture(hulls[scheduler], late)
        if parts is None:
            return None
        own = found.filter(pl.col("scheduler") == scheduler)
        each = [
            part * own.filter(pl.col("knob") == knob).sort("scenario")["cost"].to_numpy()
            for knob, part in parts.items()
        ]
        return np.asarray(np.sum(each, axis=0))

    for late in LATENESS:
        ours = costs(OURS, late)
        for scheduler in names:
            theirs = costs(scheduler, late)
            row: dict[str, object] = {"% late": late, "scheduler": scheduler}
            row["cost"] = None if theirs is None else float(theirs.mean())
            saved = None
            if ours is not None and theirs is not None and scheduler != OURS and ours.size > 1:
                share = 100 * (theirs - ours) / theirs
                half = stats.t.ppf(0.975, share.size - 1) * stats.sem(share)
                saved = f"{share.mean():.1f} ± {half:.1f}"
            row[f"{OURS} saves %"] = saved
            rows.append(row)
    return pl.DataFrame(rows, schema_overrides={"cost": pl.Float64, f"{OURS} saves %": pl.String})


def means(found: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Return mean cost and lateness for each parameter, over each transport."""
    joined = None
    for transport, runs in found.items():
        own = runs.group_by("scheduler", "knob", maintain_order=True).agg(
            pl.col("cost").mean().alias(f"{transport}: cost"),
            pl.col("late").mean().alias(f"{transport}: % late"),
        )
        joined = (
            own
            if joined is None
            else joined.join(own, on=["scheduler", "knob"], how="left", maintain_order="left")
        )
    if joined is None:
        raise ValueError("no transport")
    return joined


def by_scenario(
    scenarios: Sequence[VideoScenario], known: Sequence[float], runs: pl.DataFrame
) -> pl.DataFrame:
    """Return cost and lateness of each scenario, with one parameter per scheduler."""
    bounds = pl.DataFrame({"scenario": [one.name for one in scenarios], "bound": known})
    for scheduler, knob in ONE_KNOB.items():
        if scheduler not in runs["scheduler"]:
            continue
        own = runs.filter(scheduler=scheduler, knob=knob).select(
            "scenario",
            pl.format("{} ({})", pl.col("cost").round(1), pl.col("late").round(1)).alias(
                scheduler
            ),
        )
        bounds = bounds.join(own, on="scenario")
    return bounds


def picture(found: dict[str, pl.DataFrame], bound: float) -> Figure:
    """Draw hulls and points over each transport."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for axis, (transport, points_of) in zip(axes, found.items(), strict=True):
        mean = points_of.group_by("scheduler", "knob").agg(pl.col("cost", "late").mean())
        for number, scheduler in enumerate(KNOBS):
            own = mean.filter(pl.col("scheduler") == scheduler)
            if own.is_empty():
                continue
            color = f"C{number}"
            axis.plot(np.maximum(own["late"], 0.01), own["cost"], "o", color=color, alpha=0.4)
            corners = hull(own)
            axis.plot(
                [max(corner[0], 0.01) for corner in corners],
                [corner[1] for corner in corners],
                "o-",
                color=color,
                label=scheduler,
            )
        axis.axhline(bound, color="black", linestyle=":", label="least cost, links known")
        axis.set(xscale="log", title=transport, xlabel="frames late, %")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("cost per second")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def main() -> None:
    """Print the tables; with `--write` update the page and its picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="number of scenarios (20)")
    parser.add_argument("--first", type=int, default=101, help="the first one's seed (101)")
    parser.add_argument("--traces", type=Path, help="folder of recorded links instead")
    parser.add_argument("--picture", type=Path, help="where the picture is kept")
    parser.add_argument(
        "--write", action="store_true", help="write docs/agreement/prices.md and its picture"
    )
    requested = parser.parse_args()
    mpl.use("agg")
    if requested.traces:
        scenarios = list(recorded(requested.traces))
    else:
        scenarios = [drawn(requested.first + number) for number in range(requested.seeds)]
    with ThreadPoolExecutor() as pool:
        bounds = list(pool.map(VideoScenario.bound, scenarios))
    known = float(np.mean([cost for cost, _ in bounds]))
    hopeless = [
        one.name for one, (_, in_time) in zip(scenarios, bounds, strict=True) if not in_time
    ]
    print(f"{len(scenarios)} scenarios; least cost with the links known: {known:.2f}")
    print(f"not all can be in time in: {', '.join(hopeless) or 'none'}")
    with tempfile.TemporaryDirectory() as folder:
        found = {transport: points(scenarios, transport, Path(folder)) for transport in TRANSPORTS}
    every = means(found)
    tables = [Table("hull-points", "means", every, dict.fromkeys(every.columns, ".2f"))]
    if requested.traces:
        costs = [cost for cost, _ in bounds]
        tables = [
            Table(
                f"recorded-{transport}",
                f"{transport}: cost (% late)",
                by_scenario(scenarios, costs, found[transport]),
                {"bound": ".1f"},
            )
            for transport in ("mptcp", "aggregation")
        ]
    else:
        bound = pl.DataFrame({"scenarios": [len(scenarios)], "least cost": [known]})
        tables.append(Table("hulls-bound", "bound", bound, {"least cost": ".2f"}))
        tables += [
            Table(f"hulls-{transport}", transport, compared(runs), {"cost": ".2f"})
            for transport, runs in found.items()
        ]
    for table in tables:
        table.print()
    path = PICTURE if requested.write and not requested.traces else requested.picture
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        picture(found, known).savefig(path, dpi=110)
    if requested.write:
        write_into_pages(tables, PAGE)


if __name__ == "__main__":
    main()
