"""Song et al. 2018, figure 10: throughput over delay asymmetry for four minimum delays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from ...analysis.reproduction import ComparedValue, Reproduction
from ...model.song2018 import (
    Queue,
    Spread,
    Start,
    throughput,
    transfer_rounds,
    transfer_time,
    with_asymmetry,
)
from ...output.style import COLOURS, FAINT, INK, LINES, picture
from ..published import published
from .open_choices import choices, every

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

KBPS = 125.0  # bytes per second
STEP_MS = 0.5
SEARCH_MS = np.linspace(0, 300, 6001)


@dataclass(frozen=True)
class Setting:
    """Open choices of the paper, explained in `song2018.throughput`."""

    delays: Spread = "one low"
    queue: Queue = "printed"
    start: Start = "uniform"
    transfer_bytes: float = 1e5


ALTERNATIVES: dict[str, tuple[Any, ...]] = {
    "delays": get_args(Spread),
    "queue": get_args(Queue),
    "start": get_args(Start),
    "transfer_bytes": (2e4, 1e5, 1e6, 1e7),
}


def reproduce() -> Reproduction:
    """Reproduce figure 10."""
    paper = published("song-2018")
    facts = paper["fig10"]
    chosen = Setting()
    curves = curves_of(facts, chosen)
    settled = every(ALTERNATIVES, Setting, partial(thresholds, facts))
    return Reproduction(
        paper="song-2018",
        item="fig10",
        title="Song et al. 2018, figure 10: effect of delay asymmetry on several links",
        source=paper["citation"],
        comparisons=(
            *_comparisons(facts, chosen, settled),
            *_statements(facts, chosen, curves, settled),
        ),
        draw=lambda: _draw(facts, chosen, curves),
        choices=choices(ALTERNATIVES, chosen, partial(thresholds, facts), digits=1),
        tables={"throughput": curves, "choices": settled},
    )


def curves_of(facts: dict[str, Any], setting: Setting) -> pl.DataFrame:
    """Return the throughput for each minimum delay, number of links and asymmetry."""
    import polars as pl

    first, last = facts["delay_asymmetry_ms"]
    asymmetry = np.linspace(first, last, round((last - first) / STEP_MS) + 1)
    return pl.concat(
        pl.DataFrame(
            {
                "least_delay_ms": np.full(asymmetry.size, least),
                "links": np.full(asymmetry.size, links),
                "delay_asymmetry_ms": asymmetry,
                "throughput_kbps": _throughput(facts, setting, least, links, asymmetry),
            }
        )
        for least in facts["least_delay_ms"]
        for links in facts["links"]
    )


def thresholds(facts: dict[str, Any], setting: Setting) -> dict[str, float]:
    """Return the average delay asymmetries in ms named in the text, without undefined ones.

    These are the points from which four links give less than one (for the stated minimum delays),
    and from which two links give more than three and than four.
    """
    found = {}
    for row in facts["four_links_give_what_one_gives"]:
        least = row["least_delay_ms"]
        one, four = (_throughput(facts, setting, least, links, SEARCH_MS) for links in (1, 4))
        found[f"four as one at {least} ms"] = _first_below(four, one)
    least = facts["two_links_give_most_above"]["least_delay_ms"]
    two, three, four = (
        _throughput(facts, setting, least, links, SEARCH_MS) for links in (2, 3, 4)
    )
    found["two give most from"] = _first_below(np.maximum(three, four), two)
    return {name: value for name, value in found.items() if value is not None}


def _first_below(falling: Floats, level: Floats) -> float | None:
    """Return where in SEARCH_MS one curve falls below another, by linear interpolation."""
    above = falling - level
    below = np.flatnonzero(above < 0)
    if not len(below):
        return None
    at = int(below[0])
    if at == 0:
        return float(SEARCH_MS[0])
    share = above[at - 1] / (above[at - 1] - above[at])
    return float(SEARCH_MS[at - 1] + share * (SEARCH_MS[at] - SEARCH_MS[at - 1]))


def _throughput(
    facts: dict[str, Any], setting: Setting, least_ms: float, links: int, asymmetry_ms: Floats
) -> Floats:
    """Return the throughput in kbit/s."""
    delays = with_asymmetry(least_ms, asymmetry_ms, links, setting.delays)
    return (
        throughput(
            np.full(links, facts["rate_kbps"] * KBPS),
            delays * 1e-3,
            transfer_bytes=setting.transfer_bytes,
            queue=setting.queue,
            start=setting.start,
        )
        / KBPS
    )


def _comparisons(
    facts: dict[str, Any], chosen: Setting, every: pl.DataFrame
) -> tuple[ComparedValue, ...]:
    ours = thresholds(facts, chosen)
    of_four, of_two = _of_four(facts, chosen, every), _of_two(facts, chosen, every)
    rows = [
        ComparedValue(
            f"four links equal one, least delay {row['least_delay_ms']} ms, at",
            ours[f"four as one at {row['least_delay_ms']} ms"],
            published=row["delay_asymmetry_ms"],
            unit="ms",
            digits=1,
            reason=of_four,
        )
        for row in facts["four_links_give_what_one_gives"]
    ]
    claim = facts["two_links_give_most_above"]
    two = ComparedValue(
        f"two links give the most, least delay above {claim['least_delay_ms']} ms, from",
        ours["two give most from"],
        published=claim["delay_asymmetry_ms"],
        unit="ms",
        digits=1,
        reason=of_two,
    )
    return (*rows, two)


def _statements(
    facts: dict[str, Any], chosen: Setting, curves: pl.DataFrame, every: pl.DataFrame
) -> Iterator[ComparedValue]:
    """Yield the statements on all panels."""
    import polars as pl

    several = curves.filter(pl.col("links") > 1).sort("delay_asymmetry_ms")
    panels = several.group_by("least_delay_ms", "links", maintain_order=True)
    ends = panels.agg(
        low=pl.col("throughput_kbps").first(), high=pl.col("throughput_kbps").last()
    ).sort("least_delay_ms", "links")
    falls = ends["low"] > ends["high"]
    yield ComparedValue(
        "throughput over the asymmetry, two to four links",
        f"falls in {falls.sum()} of {ends.height} curves",
        published=facts["throughput_over_asymmetry"],
        reason="The asymmetry grows at the same least delay, so the other delays grow, and each "
        "round with them.",
        holds=bool(falls.all()),
    )
    steps = ends.group_by("least_delay_ms").agg(lower=(pl.col("high").diff() < 0).all())
    yield ComparedValue(
        f"throughput with more links, asymmetry {facts['delay_asymmetry_ms'][1]} ms",
        f"lower in {steps['lower'].sum()} of {steps.height} panels",
        published=facts["throughput_over_links"],
        reason="One link has the least delay here. So with more links, more rounds begin on a "
        "link with a larger one.",
        holds=bool(steps["lower"].all()),
    )
    ours = thresholds(facts, chosen)
    rows = facts["four_links_give_what_one_gives"]
    low, high = (ours[f"four as one at {row['least_delay_ms']} ms"] for row in rows)
    least = " to ".join(str(row["least_delay_ms"]) for row in rows)
    yield ComparedValue(
        f"change of the first threshold from least delay {least} ms",
        high - low,
        published=round(rows[1]["delay_asymmetry_ms"] - rows[0]["delay_asymmetry_ms"], 1),
        unit="ms",
        digits=1,
        reason=_of_four(facts, chosen, every),
    )


def _of_four(facts: dict[str, Any], chosen: Setting, every: pl.DataFrame) -> str:
    import polars as pl

    low, high = (row["least_delay_ms"] for row in facts["four_links_give_what_one_gives"])
    rounds = len(transfer_rounds(chosen.transfer_bytes).segments)
    added = [
        float(np.ptp(_transfer_times(facts, chosen, links, np.array([low, high]))))
        for links in facts["links"]
    ]
    columns = [f"four as one at {least} ms" for least in (low, high)]
    apart = (every[columns[0]] - every[columns[1]]).abs().drop_nulls().to_numpy().max()
    printed = every.filter(pl.col("queue") == "printed")[columns[0]].drop_nulls().to_numpy()
    return (
        "By the paper's equations the threshold cannot depend on the least delay. The rounds do "
        f"not depend on the links, so {high - low} ms more on all of them prolong all {rounds} "
        f"rounds, and a transfer by {', '.join(f'{s:.2f}' for s in added)} s over "
        f"{', '.join(map(str, facts['links']))} links. Over all {every.height} choices the two "
        f"thresholds are at most {apart:.1f} ms apart; with (3) as printed they are "
        f"{printed.min():.1f} to {printed.max():.1f} ms."
    )


def _of_two(facts: dict[str, Any], chosen: Setting, every: pl.DataFrame) -> str:
    import polars as pl

    name = "two give most from"
    uniform = every.filter((pl.col("start") == "uniform") & (pl.col("queue") == "printed"))
    found = uniform[name].drop_nulls().to_numpy()
    in_turn = thresholds(facts, replace(chosen, start="in turn")).get(name)
    return (
        "It depends on the distribution of delays and on the transfer, which the paper does not "
        f"state: {found.min():.1f} to {found.max():.1f} ms with (3) as printed and any link first"
    ) + (
        "."
        if in_turn is not None
        else (
            ". With links strictly in turn, rounds of three segments begin on the same of "
            "three links each time, and two links never give the most."
        )
    )


def _transfer_times(
    facts: dict[str, Any], setting: Setting, links: int, least_ms: Floats
) -> Floats:
    """Return the transfer times in seconds for links of equal delays."""
    return transfer_time(
        np.full(links, facts["rate_kbps"] * KBPS),
        np.repeat(least_ms[:, np.newaxis], links, axis=1) * 1e-3,
        transfer_bytes=setting.transfer_bytes,
        queue=setting.queue,
        start=setting.start,
    )


def _draw(facts: dict[str, Any], chosen: Setting, curves: pl.DataFrame) -> Figure:
    stated = {
        row["least_delay_ms"]: row["delay_asymmetry_ms"]
        for row in facts["four_links_give_what_one_gives"]
    }
    ours = thresholds(facts, chosen)
    with picture(9, 6.4) as figure:
        panels = figure.subplots(2, 2, sharex=True)
        parts = curves.partition_by("least_delay_ms", maintain_order=True)
        for axes, part in zip(panels.flat, parts, strict=True):
            least = part["least_delay_ms"][0]
            for index, line in enumerate(part.partition_by("links", maintain_order=True)):
                links = line["links"][0]
                axes.plot(
                    line["delay_asymmetry_ms"].to_numpy(),
                    line["throughput_kbps"].to_numpy(),
                    color=COLOURS[(0, 2, 4, 7)[index]],
                    linestyle=LINES[index],
                    linewidth=1.8,
                    label=f"{links} link{'s' if links > 1 else ''}",
                )
            if least in stated:
                axes.axvline(stated[least], color=FAINT, linewidth=0.9, label="four as one: paper")
                axes.axvline(
                    ours[f"four as one at {least} ms"],
                    color=INK,
                    linewidth=0.9,
                    linestyle=(0, (4, 2)),
                    label="four as one: ours",
                )
            axes.set_title(f"least delay {least} ms")
            axes.set_xlim(*facts["delay_asymmetry_ms"])
            axes.set_ylim(bottom=0)
        for axes in panels[:, 0]:
            axes.set_ylabel("throughput (kbit/s)")
        for axes in panels[-1]:
            axes.set_xlabel("average delay asymmetry (ms)")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize="small")
    return figure
