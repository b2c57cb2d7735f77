"""Song et al. 2018, section 6: claims in words, by the model."""

from __future__ import annotations

from typing import Any

from ...analysis.reproduction import ComparedValue
from ..published import published
from . import fig9, fig10


def claims() -> list[ComparedValue]:
    """Return a row for each claim."""
    paper = published("song-2018")
    drops = fig9.drops(paper["fig9"], fig9.Setting())
    facts = paper["fig10"]
    chosen = fig10.Setting()
    thresholds = fig10.thresholds(facts, chosen)
    least, most = (row["least_delay_ms"] for row in facts["four_links_give_what_one_gives"])
    printed = [row["delay_asymmetry_ms"] for row in facts["four_links_give_what_one_gives"]]
    low, high = (thresholds[f"four as one at {delay} ms"] for delay in (least, most))
    ends = [_at_the_end(facts, delay) for delay in facts["least_delay_ms"]]
    falls = all(rates == sorted(rates, reverse=True) for rates in ends)
    return [
        ComparedValue(
            "6.1 drop over delay asymmetry, over the drop over bandwidth asymmetry",
            drops[fig9.DELAY_DROP] / drops[fig9.RATE_DROP],
            published="above 1",
            unit="times",
            band=(1, None),
        ),
        ComparedValue(
            f"6.2 four links equal one: threshold at {most} ms over the one at {least} ms",
            high / low,
            published=f"below 1 ({printed[1] / printed[0]:.2f})",
            unit="times",
            band=(None, 0.999),
            reason="A delay that all links have in common prolongs each transfer alike, as its "
            "rounds do not depend on the links. So it cancels where two transfers take equally "
            "long.",
        ),
        ComparedValue(
            f"6.2 at {facts['delay_asymmetry_ms'][1]} ms of asymmetry, one to four links at "
            f"{least} ms of least delay",
            ", ".join(f"{rate:.0f}" for rate in ends[0]),
            published="falls with more links",
            unit="kbit/s",
            holds=falls,
        ),
    ]


def _at_the_end(facts: dict[str, Any], least_ms: float) -> list[float]:
    """Return the throughput of one to four links at the greatest asymmetry, kbit/s."""
    import polars as pl

    curves = fig10.curves_of(facts, fig10.Setting()).filter(
        (pl.col("least_delay_ms") == least_ms)
        & (pl.col("delay_asymmetry_ms") == facts["delay_asymmetry_ms"][1])
    )
    rates: list[float] = curves.sort("links")["throughput_kbps"].to_list()
    return rates
