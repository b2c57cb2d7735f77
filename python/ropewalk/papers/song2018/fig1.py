"""Song et al. 2018, figure 1: round trips and rates of eight modems in a train, drawn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...output.style import COLOURS, INK, picture
from ..published import published
from .modems import SPREADS, Drawn, Floats, medians, rates, round_trips, stratified

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

VALUES = 500  # of each modem
SEED = 1
CHOSEN: Drawn = "long tail"
WORDS: dict[Drawn, str] = {
    "long tail": "log-normal with outliers, standard deviation 1.2",
    "narrow": "log-normal, standard deviation 0.4",
    "alike": "the same for all modems, standard deviation 0.4",
    "uniform": "20 to 200 ms, uniform",
}


def reproduce() -> Reproduction:
    """Draw round trips and rates as section 3 describes them, and apply its criteria."""
    paper = published("song-2018")
    facts, maxima = paper["fig1"], paper["fig6"]["link_rate_mbps"]
    measured = data_sets(facts, CHOSEN)
    drawn_rates = rates(facts, maxima, _normal(facts, SEED + 1))
    return Reproduction(
        paper="song-2018",
        item="fig1",
        title="Song et al. 2018, figure 1: eight modems in a train, drawn",
        source=paper["citation"],
        comparisons=tuple(_comparisons(facts, maxima, measured, drawn_rates)),
        draw=lambda: _draw(facts, maxima, measured, drawn_rates),
        choices=(_choice(facts),),
        tables={"modems": _table(facts, maxima, measured, drawn_rates)},
    )


def data_sets(facts: dict[str, Any], drawn: Drawn) -> Floats:
    """Draw a data set of round trips in ms for each modem, shape (values, modems)."""
    return 1e3 * round_trips(facts, drawn, _normal(facts, SEED))


def differ(one: Floats, other: Floats) -> bool:
    """Apply the paper's criterion: one median is outside the IQR of the other data set.

    Examples
    --------
    >>> differ(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 3, 9, 9, 9]))
    True
    """
    (low, middle, high), (other_low, other_middle, other_high) = _quartiles(one), _quartiles(other)
    return not (low <= other_middle <= high and other_low <= middle <= other_high)


def differ_significantly(one: Floats, other: Floats) -> bool:
    """Apply the paper's second criterion: the IQRs do not overlap.

    Examples
    --------
    >>> differ_significantly(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 3, 9, 9, 9]))
    False
    """
    (low, _, high), (other_low, _, other_high) = _quartiles(one), _quartiles(other)
    return bool(high < other_low or other_high < low)


def counts(facts: dict[str, Any], measured: Floats) -> dict[str, float]:
    """Count the pairs of modems that meet the two criteria, and the outliers."""
    of = dict(zip(facts["modems"], measured.T, strict=True))
    others = [name for name in of if name not in facts["higher"]]
    return {
        "higher, significantly": sum(
            differ_significantly(of[one], of[other])
            for one, other in product(facts["higher"], facts["lower"])
        ),
        "different": sum(
            differ(of[one], of[other]) for one, other in product(facts["higher"], others)
        ),
        "outliers, %": 100 * float(np.mean([_outliers(values) for values in measured.T])),
    }


def _normal(facts: dict[str, Any], seed: int) -> Floats:
    return stratified(VALUES, len(facts["modems"]), np.random.default_rng(seed))


def _quartiles(values: Floats) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return low, middle, high


def _outliers(values: Floats) -> float:
    """Return the share of values more than 1.5 IQR outside the box."""
    low, _, high = _quartiles(values)
    fence = 1.5 * (high - low)
    return float(np.mean((values < low - fence) | (values > high + fence)))


def _comparisons(
    facts: dict[str, Any], maxima: list[float], measured: Floats, drawn_rates: Floats
) -> Iterator[ComparedValue]:
    found = counts(facts, measured)
    higher, lower = facts["higher"], facts["lower"]
    other = len(facts["modems"]) - len(higher)
    middle = 1e3 * medians(facts, CHOSEN)
    drawn = (
        "The paper prints no round trips. They are drawn so that both criteria hold: log-normal, "
        f"standard deviation of the logarithm {SPREADS[CHOSEN]}, medians {middle.min():.0f}, "
        f"{np.median(np.unique(middle.round(6))):.0f} and {middle.max():.0f} ms. So these rows "
        "check the data of figures 6 and 8, and do not repeat the measurement."
    )
    pairs = len(higher) * len(lower)
    yield ComparedValue(
        f"pairs of {', '.join(higher)} and {', '.join(lower)} with IQRs that do not overlap",
        found["higher, significantly"],
        published=pairs,
        digits=0,
        band=(pairs, pairs),
        reason=drawn,
    )
    pairs = len(higher) * other
    yield ComparedValue(
        f"pairs of {', '.join(higher)} and all others with a median outside the other IQR",
        found["different"],
        published=pairs,
        digits=0,
        band=(pairs, pairs),
        reason=drawn,
    )
    yield ComparedValue(
        "round trips that are outliers",
        found["outliers, %"],
        published="some",
        unit="%",
        digits=1,
        band=(0.1, None),
        reason=drawn,
    )
    fastest, slowest = (facts["modems"].index(facts[key]) for key in ("fastest", "slowest"))
    yield ComparedValue(
        "highest over lowest maximum rate",
        maxima[fastest] / maxima[slowest],
        published=facts["maximum_rate_ratio"],
        unit="times",
        reason=f"The rates of section 5.1.3, {maxima[fastest]} and {maxima[slowest]} Mbit/s, are "
        "rounded.",
    )
    average = drawn_rates.mean(axis=0)
    yield ComparedValue(
        "highest over lowest average rate",
        float(average.max() / average.min()),
        published=facts["average_rate_ratio"],
        unit="times",
        reason="The paper prints no averages. Rates are drawn so that each modem has half of its "
        "maximum on average, and the slowest modem the share that gives this ratio. So this row "
        "checks the rates of figure 8.",
    )


def _choice(facts: dict[str, Any]) -> Choice:
    return Choice(
        "How are the round trips distributed?",
        WORDS[CHOSEN],
        tuple(
            Alternative(WORDS[drawn], counts(facts, data_sets(facts, drawn)))
            for drawn in get_args(Drawn)
        ),
        digits=1,
    )


def _table(
    facts: dict[str, Any], maxima: list[float], measured: Floats, drawn_rates: Floats
) -> pl.DataFrame:
    import polars as pl

    low, middle, high = np.quantile(measured, [0.25, 0.5, 0.75], axis=0)
    return pl.DataFrame(
        {
            "modem": facts["modems"],
            "rtt_25_percent_ms": low,
            "rtt_median_ms": middle,
            "rtt_75_percent_ms": high,
            "rtt_max_ms": measured.max(axis=0),
            "rate_max_mbps": maxima,
            "rate_average_mbps": drawn_rates.mean(axis=0),
        }
    )


def _draw(
    facts: dict[str, Any], maxima: list[float], measured: Floats, drawn_rates: Floats
) -> Figure:
    names = facts["modems"]
    with picture(9, 4) as figure:
        boxes, bars = figure.subplots(1, 2)
        boxes.boxplot(
            measured,
            tick_labels=names,
            boxprops={"color": COLOURS[0]},
            medianprops={"color": COLOURS[4]},
            flierprops={"marker": "+", "markersize": 3, "markeredgecolor": COLOURS[4]},
        )
        boxes.set_yscale("log")
        boxes.yaxis.set_major_formatter("{x:g}")
        boxes.set_ylabel("round trip (ms)")
        boxes.set_title("(a) round trips, drawn")
        place = np.arange(len(names))
        bars.bar(place - 0.2, maxima, 0.4, color=COLOURS[0], label="maximum, as printed")
        average = drawn_rates.mean(axis=0)
        bars.bar(place + 0.2, average, 0.4, color=COLOURS[1], label="average, drawn")
        bars.set_xticks(place, names, color=INK)
        bars.set_ylabel("download rate (Mbit/s)")
        bars.set_title("(b) rates")
        bars.legend()
    return figure
