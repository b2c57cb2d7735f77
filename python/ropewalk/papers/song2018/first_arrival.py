"""Song et al. 2018, section 4.1.1: how often a round's first segment arrives first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.reproduction import ComparedValue, Reproduction
from ...output.style import COLOURS, INK, picture
from ..published import published
from .fig6 import Setting
from .groups import groups
from .rounds import rounds_of
from .striped import Striped

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

GROUPS = 12  # of delays for each number of links; figure 6 has three times as many
MOST_DRAWN = 8  # segments in a round
FEWEST_DRAWN = 20  # rounds behind a point
UNEVEN_PERCENT = 5.0  # up to which links have equal shares of the rounds


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Compare P(F) = 1/C with simulated rounds; each run draws its own delays."""
    paper = published("song-2018")
    facts = paper["fig1"] | paper["fig6"] | {"delay_groups": GROUPS}
    chosen = Setting()
    total = len(facts["links"]) * runs
    tables = []
    for one_seed in range(seed, seed + runs):
        for links in facts["links"]:
            tables.append(rounds_over(links, facts, chosen, one_seed))
            if progress is not None:
                progress(len(tables), total)
    import polars as pl

    rounds = pl.concat(tables)
    delays, _ = groups(max(facts["links"]), facts, chosen.drawn, seed, chosen.selected)
    middle = Striped(facts, delays[GROUPS // 2].tolist(), chosen.transfer_bytes, chosen.sack)
    return Reproduction(
        paper="song-2018",
        item="first_arrival",
        title="Song et al. 2018, section 4.1.1: is the first segment the first to arrive?",
        source=paper["citation"],
        comparisons=tuple(_comparisons(paper["first_arrival"], rounds)),
        draw=lambda: _draw(rounds),
        tables={"rounds": rounds, "links": by_links(rounds)},
        scenarios={"striped": middle.scenario()},
        seed=seed,
        runs=runs,
    )


def rounds_over(links: int, facts: dict[str, Any], setting: Setting, seed: int) -> pl.DataFrame:
    """Simulate each group of delays; a row for each round."""
    import polars as pl

    delays, _ = groups(links, facts, setting.drawn, seed, setting.selected)
    tables = []
    for group, delay in enumerate(delays.tolist(), start=1):
        found = rounds_of(Striped(facts, delay, setting.transfer_bytes, setting.sack), seed)
        count = len(found.segments)
        tables.append(
            pl.DataFrame(
                {
                    "seed": np.full(count, seed),
                    "links": np.full(count, links),
                    "group": np.full(count, group),
                    "segments": found.segments,
                    "first": found.first,
                    "link": found.link,
                    "together": found.together,
                }
            )
        )
    return pl.concat(tables)


def by_links(rounds: pl.DataFrame) -> pl.DataFrame:
    """Return, for each number of links, how often the first is first, and where rounds begin.

    ``first_percent`` and ``expected_percent``, the mean of 1/C, cover rounds of two segments or
    more. ``uneven_percent`` is the mean share of a transfer's rounds that would have to begin on
    another link to make all links equal.
    """
    import polars as pl

    several = (
        rounds.filter(pl.col("segments") > 1)
        .group_by("links", maintain_order=True)
        .agg(
            first_percent=100 * pl.col("first").mean(),
            expected_percent=100 * (1 / pl.col("segments")).mean(),
        )
    )
    transfer = ["seed", "links", "group"]
    over_equal = (pl.col("len") / pl.col("len").sum().over(transfer) - 1 / pl.col("links")).clip(0)
    transfers = (
        rounds.group_by(*transfer, "link", maintain_order=True)
        .len()
        .with_columns(over_equal=over_equal)
        .group_by(transfer, maintain_order=True)
        .agg(rounds=pl.col("len").sum(), uneven_percent=100 * pl.col("over_equal").sum())
    )
    whole = transfers.group_by("links", maintain_order=True).agg(
        pl.col("rounds", "uneven_percent").mean()
    )
    return several.join(whole, on="links", maintain_order="left")


def _comparisons(facts: dict[str, Any], rounds: pl.DataFrame) -> Iterator[ComparedValue]:
    table = by_links(rounds)
    reason = _reason(rounds, table)
    for row in table.iter_rows(named=True):
        yield ComparedValue(
            f"P(F), {row['links']} links; the paper's is the mean of {facts['probability']}",
            row["first_percent"],
            published=round(row["expected_percent"], 2),
            unit="%",
            reason=reason,
        )
    few, many = table.row(0, named=True), table.row(-1, named=True)
    off = (table["first_percent"] - table["expected_percent"]).abs().to_numpy()
    yield ComparedValue(
        f"distance of P(F) to 1/C, {many['links']} links less {few['links']}",
        float(off[-1] - off[0]),
        published=facts["over_more_links"],
        unit="%",
        band=(0, None),
        reason=reason,
    )
    bands = (0, UNEVEN_PERCENT), (few["uneven_percent"], None)
    for row, said, band in zip((few, many), facts["uneven_percent"], bands, strict=True):
        yield ComparedValue(
            f"rounds that begin on other links than with equal shares, {row['links']} links",
            row["uneven_percent"],
            published=said,
            unit="%",
            reason=reason,
            band=band,
        )
    yield ComparedValue(
        f"rounds of a transfer over {many['links']} links, relative to {few['links']}",
        many["rounds"] / few["rounds"],
        published=facts["rounds_over_more_links"],
        unit="times",
        band=(None, 1),
    )


def _reason(rounds: pl.DataFrame, table: pl.DataFrame) -> str:
    import polars as pl

    several = rounds.filter(pl.col("segments") > 1)
    spread = several.filter(~pl.col("together"))
    together = (
        several.filter("together").group_by("links").agg(pl.col("first").mean() * 100)["first"]
    ).to_numpy()
    uneven = table["uneven_percent"].to_numpy()
    return (
        "Neither the order of arrivals nor the first link is random. In "
        f"{100 * spread.height / several.height:.0f} % of the rounds the later segments leave at "
        "later duplicate acknowledgements, so the first has a head start. Rounds repeat with the "
        "congestion cycle, and begin on some links more often than on others "
        f"({uneven.min():.0f} to {uneven.max():.0f} % of the rounds). So where all segments leave "
        f"at once, the first arrives first in {together.min():.0f} to {together.max():.0f} % of "
        "the rounds, by number of links."
    )


def _draw(rounds: pl.DataFrame) -> Figure:
    import polars as pl

    table = by_links(rounds)
    counted = (
        rounds.filter(pl.col("segments").is_between(2, MOST_DRAWN))
        .group_by("links", "segments")
        .agg(pl.len(), share=100 * pl.col("first").mean())
        .filter(pl.col("len") >= FEWEST_DRAWN)
        .sort("links", "segments")
    )
    with picture(9, 3.8) as figure:
        left, right = figure.subplots(1, 2)
        links = table["links"].to_numpy()
        left.plot(
            links, table["first_percent"].to_numpy(), "o-", color=COLOURS[0], label="simulated"
        )
        left.plot(
            links, table["expected_percent"].to_numpy(), "x--", color=COLOURS[4], label="1/C"
        )
        left.set_xlabel("links")
        left.set_ylabel("rounds whose first segment arrives first (%)")
        left.set_title("all rounds of two segments or more")
        left.set_ylim(0, 100)
        left.legend()
        several = links.tolist()
        drawn = several[0], several[len(several) // 2], several[-1]
        for colour, number in zip((COLOURS[0], COLOURS[2], COLOURS[6]), drawn, strict=True):
            part = counted.filter(pl.col("links") == number)
            right.plot(
                part["segments"].to_numpy(), part["share"].to_numpy(), "o-", color=colour,
                markersize=5, label=f"{number} links",
            )  # fmt: skip
        counts = np.arange(2, MOST_DRAWN + 1)
        right.plot(counts, 100 / counts, color=INK, linestyle="--", label="1/C")
        right.set_xlabel("segments in the round, C")
        right.set_title("by the number of segments")
        right.set_ylim(0, 115)
        right.legend(fontsize="small", ncols=2)
    return figure
