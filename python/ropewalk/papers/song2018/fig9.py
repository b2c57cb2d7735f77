"""Song et al. 2018, figure 9: throughput over both asymmetries, one to four links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ...analysis.reproduction import ComparedValue, Reproduction
from ...model.song2018 import Queue, Spread, Start, throughput, with_asymmetry
from ...output.style import picture
from ..published import published
from .open_choices import choices, every, in_words

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Held = Literal["least", "mean", "greatest"]
Floats = NDArray[np.float64]

KBPS = 125.0  # bytes per second
RATE_STEP_KBPS = 10
DELAY_STEP_MS = 0.5
RATE_DROP = "drop over bandwidth asymmetry"
DELAY_DROP = "drop over delay asymmetry"


@dataclass(frozen=True)
class Setting:
    """Open choices of the paper, explained in `song2018.throughput`.

    ``held_delay`` and ``held_rate`` select the statistic of the links that stays constant as their
    asymmetry grows. At the largest asymmetry all settings have equal links, with the paper's
    minimum.
    """

    delays: Spread = "even"
    rates: Spread = "even"
    held_delay: Held = "least"
    held_rate: Held = "least"
    queue: Queue = "printed"
    start: Start = "uniform"
    transfer_bytes: float = 1e6


ALTERNATIVES: dict[str, tuple[Any, ...]] = {
    "delays": get_args(Spread),
    "rates": get_args(Spread),
    "held_delay": get_args(Held),
    "held_rate": get_args(Held),
    "queue": get_args(Queue),
    "start": get_args(Start),
    "transfer_bytes": (1e5, 1e6, 1e7),
}


def reproduce() -> Reproduction:
    """Reproduce figure 9."""
    paper = published("song-2018")
    facts = paper["fig9"]
    chosen = Setting()
    table = heat_maps(facts, chosen)
    settled = every(ALTERNATIVES, Setting, partial(drops, facts))
    ours = drops(facts, chosen)
    reasons = {RATE_DROP: _of_rates(settled, ours), DELAY_DROP: _of_delays(settled, facts)}
    printed = {
        RATE_DROP: facts["drop_over_bandwidth_asymmetry"],
        DELAY_DROP: facts["drop_over_delay_asymmetry"],
    }
    at = {RATE_DROP: "the most delay asymmetry", DELAY_DROP: "the most bandwidth asymmetry"}
    return Reproduction(
        paper="song-2018",
        item="fig9",
        title="Song et al. 2018, figure 9: one TCP striped over one to four links",
        source=paper["citation"],
        comparisons=(
            *(
                ComparedValue(
                    f"{quantity}, four links, at {at[quantity]}",
                    ours[quantity],
                    published=value,
                    unit="times",
                    reason=reasons[quantity],
                )
                for quantity, value in printed.items()
            ),
            ComparedValue(
                "drop over delay asymmetry, relative to that over bandwidth asymmetry",
                ours[DELAY_DROP] / ours[RATE_DROP],
                published=facts["delay_over_bandwidth"],
                unit="times",
                holds=ours[DELAY_DROP] > ours[RATE_DROP],
                reason=reasons[DELAY_DROP],
            ),
            _most_obvious(facts, chosen),
        ),
        draw=lambda: _draw(table),
        choices=choices(ALTERNATIVES, chosen, partial(drops, facts)),
        tables={"throughput": table, "choices": settled},
    )


def heat_maps(facts: dict[str, Any], setting: Setting) -> pl.DataFrame:
    """Return the throughput for each number of links and both asymmetries."""
    import polars as pl

    rate_end, delay_end = facts["bandwidth_asymmetry_kbps"][1], facts["delay_asymmetry_ms"][1]
    rate_axis = np.linspace(0, rate_end, round(rate_end / RATE_STEP_KBPS) + 1)
    delay_axis = np.linspace(0, delay_end, round(delay_end / DELAY_STEP_MS) + 1)
    delay, rate = np.meshgrid(delay_axis, rate_axis, indexing="ij")
    return pl.concat(
        pl.DataFrame(
            {
                "links": np.full(rate.size, links),
                "bandwidth_asymmetry_kbps": rate.ravel(),
                "delay_asymmetry_ms": delay.ravel(),
                "throughput_kbps": _throughput(facts, setting, links, rate, delay).ravel(),
            }
        )
        for links in facts["links"]
    )


def drops(facts: dict[str, Any], setting: Setting, links: int = 4) -> dict[str, float]:
    """Return the factor by which the throughput drops at the end of each axis."""
    rate_end, delay_end = facts["bandwidth_asymmetry_kbps"][1], facts["delay_asymmetry_ms"][1]
    rate, delay = np.array([0, rate_end, rate_end]), np.array([delay_end, 0, delay_end])
    equal_rates, equal_delays, unequal = _throughput(facts, setting, links, rate, delay).tolist()
    return {RATE_DROP: equal_rates / unequal, DELAY_DROP: equal_delays / unequal}


def _throughput(
    facts: dict[str, Any], setting: Setting, links: int, rate: Floats, delay: Floats
) -> Floats:
    """Return the throughput in kbit/s, for asymmetries in kbit/s and ms."""
    rates = _values(
        facts["least_rate_kbps"],
        rate,
        facts["bandwidth_asymmetry_kbps"][1],
        links,
        setting.rates,
        setting.held_rate,
    )
    delays = _values(
        facts["least_delay_ms"],
        delay,
        facts["delay_asymmetry_ms"][1],
        links,
        setting.delays,
        setting.held_delay,
    )
    return (
        throughput(
            rates * KBPS,
            delays * 1e-3,
            transfer_bytes=setting.transfer_bytes,
            queue=setting.queue,
            start=setting.start,
        )
        / KBPS
    )


def _values(
    least: float, asymmetry: Floats, most: float, links: int, spread: Spread, held: Held
) -> Floats:
    """Return the links' values, which begin at `least` for the largest asymmetry."""
    values = with_asymmetry(least, asymmetry, links, spread)
    if held == "least":
        return values
    of = np.mean if held == "mean" else np.max
    return np.asarray(
        values
        + (of(with_asymmetry(least, most, links, spread)) - of(values, axis=-1, keepdims=True))
    )


def _most_obvious(facts: dict[str, Any], chosen: Setting) -> ComparedValue:
    """Compare how much delay asymmetry dominates, over the numbers of links."""
    found = {links: drops(facts, chosen, links) for links in facts["links"] if links > 1}
    ratios = {links: of[DELAY_DROP] / of[RATE_DROP] for links, of in found.items()}
    most = max(ratios, key=ratios.__getitem__)
    listed = ", ".join(f"{ratio:.2f} over {links}" for links, ratio in ratios.items())
    return ComparedValue(
        "number of links with the largest of these ratios",
        most,
        published=facts["most_obvious_links"],
        unit="links",
        digits=0,
        band=(facts["most_obvious_links"],) * 2,
        reason=f"The ratio is {listed} links.",
    )


def _of_rates(every: pl.DataFrame, ours: dict[str, float]) -> str:
    import polars as pl

    as_printed = every.filter(pl.col("held_delay") == "least")
    least, mean, greatest = (
        as_printed.filter(pl.col("held_rate") == held)[RATE_DROP] for held in get_args(Held)
    )
    return (
        f"Here it rises {1 / ours[RATE_DROP]:.2f} times: with the least rate held, as in the "
        f"text, more unequal rates are also higher, and lengthen no round. In all {least.len()} "
        f"ways with the least rate held it rises, {1 / _most(least):.2f} to "
        f"{1 / _least(least):.2f} times. It drops if the mean rate is held ({_least(mean):.2f} to "
        f"{_most(mean):.2f} times) or the greatest ({_least(greatest):.2f} to "
        f"{_most(greatest):.2f})."
    )


def _of_delays(every: pl.DataFrame, facts: dict[str, Any]) -> str:
    import polars as pl

    held = every.filter(pl.col("held_delay") == "least")
    spreads = (
        (spread, held.filter(pl.col("delays") == spread)[DELAY_DROP])
        for spread in get_args(Spread)
    )
    by_spread = (
        f"{_least(found):.2f} to {_most(found):.2f} ({in_words(spread)})"
        for spread, found in spreads
    )
    printed = _excess(facts["drop_over_bandwidth_asymmetry"], facts["drop_over_delay_asymmetry"])
    reached = _most(every.select(_excess(pl.col(RATE_DROP), pl.col(DELAY_DROP))).to_series())
    return (
        "The average asymmetry leaves the distribution of delays open. With the least delay held"
        f" the drop is, by distribution, {', '.join(by_spread)}. No choice can give both printed "
        "values: by equations (3) and (12) a transfer takes A + B seconds, A by the rates and B "
        "by the delays. So the drops r over bandwidth and d over delay asymmetry, which end at "
        "the same links, have (r - 1)(d - 1) <= (A / B)(B / A) = 1. The printed ones give "
        f"{printed:.2f}, the {every.height} choices at most {reached:.2f}."
    )


def _excess(rate_drop: Any, delay_drop: Any) -> Any:
    """Return (r - 1)(d - 1), which is at most 1 in the model."""
    return (rate_drop - 1) * (delay_drop - 1)


def _least(values: pl.Series) -> float:
    return float(values.to_numpy().min())


def _most(values: pl.Series) -> float:
    return float(values.to_numpy().max())


def _draw(table: pl.DataFrame) -> Figure:
    parts = table.partition_by("links", maintain_order=True)
    top = _most(table["throughput_kbps"])
    with picture(9, 6.8) as figure:
        panels = figure.subplots(2, 2, sharex=True, sharey=True)
        for axes, part in zip(panels.flat, parts, strict=True):
            rate = part["bandwidth_asymmetry_kbps"].unique().sort().to_numpy()
            delay = part["delay_asymmetry_ms"].unique().sort().to_numpy()
            values = part["throughput_kbps"].to_numpy().reshape(len(delay), len(rate))
            drawn = axes.pcolormesh(
                rate, delay, values, vmin=0, vmax=top, cmap="viridis", rasterized=True
            )
            if np.ptp(values) > 0:
                lines = axes.contour(
                    rate, delay, values, levels=range(100, 700, 100), colors="white",
                    linewidths=0.8,
                )  # fmt: skip
                axes.clabel(lines, fmt="%g", fontsize="small")
            links = part["links"][0]
            constant = f", {values[0, 0]:.0f} kbit/s" if np.ptp(values) == 0 else ""
            axes.set_title(f"{links} link{'s' if links > 1 else ''}{constant}")
            axes.grid(visible=False)
        figure.supxlabel("average bandwidth asymmetry (kbit/s)", fontsize="medium")
        figure.supylabel("average delay asymmetry (ms)", fontsize="medium")
        figure.colorbar(drawn, ax=panels, label="throughput (kbit/s)", shrink=0.8)
    return figure
