"""Song et al. 2018, figure 8: a download over six links in a train, against the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from ...analysis.reproduction import POINTS, Alternative, Choice, ComparedValue, Reproduction
from ...output.style import COLOURS, FAINT, INK, picture
from ..published import published
from . import fig1, fig6
from .download import MODELS, Delays, Download, Tcp
from .modems import Drawn
from .striped import NAMES
from .timed_links import TimedLink, drawn_links, recorded_links

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

SECONDS = 120


@dataclass(frozen=True)
class Setting:
    """Open choices of the paper."""

    tcp: Tcp = "linux-3.13"
    drawn: Drawn = "long tail"
    interval_s: int = 10
    delays: Delays = "half each way"
    table_segment: bool = False


ALTERNATIVES: dict[str, tuple[Any, ...]] = {
    "tcp": get_args(Tcp),
    "drawn": get_args(Drawn),
    "interval_s": (5, 10, 30),
    "delays": get_args(Delays),
    "table_segment": (False, True),
}
QUESTIONS = {
    "tcp": "Which TCP sends?",
    "drawn": "How are round trips distributed?",
    "interval_s": "Over which time is a throughput measured and predicted?",
    "delays": "Which direction has the round trip?",
    "table_segment": "Which segment has the paper's model?",
}
WORDS: dict[Any, str] = {
    "linux-3.13": "CUBIC of Linux 3.13, whose threshold adapts to reordering",
    "threshold of three": "the same, with a threshold of three that stays",
    "newreno": "NewReno of ns-3, as in figure 6",
    "linux": "CUBIC of Linux 6, with RACK",
    "half each way": "half each way",
    "with the data": "that of the data, as in the paper's model",
    False: "the connection's",
    True: "536 bytes, as in table 2",
} | fig1.WORDS


def reproduce(
    *,
    seed: int,
    runs: int,
    progress: Callable[[int, int], object] | None,
    traces: Path | None = None,
) -> Reproduction:
    """Simulate the download; each run draws its own links, or all follow the files in `traces`."""
    paper = published("song-2018")
    facts = paper["fig1"] | paper["fig6"] | paper["fig8"]
    recorded = None if traces is None else recorded_links(traces)
    chosen = Setting()
    alternatives = {
        key: values
        for key, values in ALTERNATIVES.items()
        if key != "drawn" or _draws_round_trips(recorded)
    }
    others = [
        replace(chosen, **{key: value})
        for key, values in alternatives.items()
        for value in values
        if value != getattr(chosen, key)
    ]
    done, total = 0, runs * (1 + len(others))

    def found(setting: Setting) -> pl.DataFrame:
        nonlocal done
        import polars as pl

        tables = []
        for one_seed in range(seed, seed + runs):
            one = _download(facts, setting, recorded, one_seed)
            table = one.intervals(setting.interval_s, one_seed)
            tables.append(table.insert_column(0, pl.lit(one_seed).alias("seed")))
            done += 1
            if progress is not None:
                progress(done, total)
        return pl.concat(tables)

    intervals = {setting: found(setting) for setting in (chosen, *others)}
    links = facts["links"] if recorded is None else len(recorded)
    return Reproduction(
        paper="song-2018",
        item="fig8",
        title=f"Song et al. 2018, figure 8: a download over {links} links in a train",
        source=paper["citation"],
        comparisons=(
            *_comparisons(facts, chosen, intervals, links),
            _similar(facts, intervals[chosen], links, seed, runs),
        ),
        draw=lambda: _draw(intervals[chosen]),
        choices=tuple(_choices(chosen, alternatives, intervals)),
        tables={"intervals": intervals[chosen]},
        scenarios={"download": _download(facts, chosen, recorded, seed).scenario()},
        seed=seed,
        runs=runs,
    )


def _download(
    facts: dict[str, Any],
    setting: Setting,
    recorded: dict[str, Any] | None,
    seed: int,
) -> Download:
    names = NAMES[: facts["links"]] if recorded is None else tuple(recorded)
    links = drawn_links(facts, names, setting.drawn, SECONDS, seed)
    if recorded is not None:
        links = [_recorded(recorded[link.name], link) for link in links]
    return Download(links, SECONDS, setting.tcp, setting.delays, setting.table_segment)


def _recorded(found: Any, drawn: TimedLink) -> TimedLink:
    """Return a recorded link; a rate alone gets the round trips that are drawn."""
    return found if isinstance(found, TimedLink) else replace(drawn, opportunities_ms=found)


def _draws_round_trips(recorded: dict[str, Any] | None) -> bool:
    links = () if recorded is None else recorded.values()
    return not links or any(not isinstance(link, TimedLink) for link in links)


def _accuracies(intervals: pl.DataFrame) -> dict[str, float]:
    """Return the mean accuracy of each model, and the mean goodput and prediction in Mbit/s."""
    means = intervals.mean().row(0, named=True)
    return {
        "simulated, Mbit/s": means["simulated"],
        **{fig6.MODELS[model]: means[f"{model}_accuracy_percent"] for model in MODELS},
    }


def _comparisons(
    facts: dict[str, Any], chosen: Setting, intervals: dict[Setting, pl.DataFrame], links: int
) -> Iterator[ComparedValue]:
    means = intervals[chosen].mean().row(0, named=True)
    reason = _reason(chosen, intervals)
    for model in MODELS:
        yield ComparedValue(
            f"accuracy of {fig6.MODELS[model]}, {links} links",
            means[f"{model}_accuracy_percent"],
            published=facts["accuracy_percent"] if model == "paper" else None,
            unit="%",
            reason=reason,
        )
    newreno = intervals[replace(chosen, tcp="newreno")].mean().row(0, named=True)
    yield ComparedValue(
        f"accuracy of {fig6.MODELS['paper']}, {links} links, if NewReno sends",
        newreno["paper_accuracy_percent"],
        published=facts["accuracy_percent"],
        unit="%",
        reason=reason,
    )


def _reason(chosen: Setting, intervals: dict[Setting, pl.DataFrame]) -> str:
    goodput, accuracy = {}, {}
    for tcp in get_args(Tcp):
        means = intervals[replace(chosen, tcp=tcp)].mean().row(0, named=True)
        goodput[tcp], accuracy[tcp] = means["simulated"], means["paper_accuracy_percent"]
    model = intervals[chosen].mean().row(0, named=True)["paper"]
    return (
        "All three models describe a sender that takes three duplicate acknowledgements for a "
        "loss. The text names Linux 3.13 for the router and not for the server, which sends. "
        "Linux 3.13 raises its threshold as it measures reordering: it reaches "
        f"{goodput['linux-3.13']:.2f} Mbit/s here, the paper's model gives {model:.2f}. The same "
        f"Linux with a threshold of three reaches {goodput['threshold of three']:.2f}, for which "
        f"the model's accuracy is {accuracy['threshold of three']:.0f} %; NewReno reaches "
        f"{goodput['newreno']:.2f} ({accuracy['newreno']:.0f} %). Links, intervals and the "
        "download are not in the text either; the table has the result of each choice."
    )


def _similar(
    facts: dict[str, Any], intervals: pl.DataFrame, links: int, seed: int, runs: int
) -> ComparedValue:
    """Compare the accuracy with that of figure 6, with the same number of links."""
    seeds = range(seed, seed + runs)
    points = fig6.points_of(facts | {"links": [links]}, fig6.Setting(), seeds, lambda: None)
    simulated = points.mean().row(0, named=True)["paper_accuracy_percent"]
    field = intervals.mean().row(0, named=True)["paper_accuracy_percent"]
    return ComparedValue(
        f"accuracy of {fig6.MODELS['paper']} less that in figure 6, {links} links",
        field - simulated,
        published=facts["against_fig6"],
        unit="%",
        band=(-POINTS, POINTS),
        reason=f"Figure 6 has NewReno and constant links: {simulated:.1f} % with "
        f"{links} links. Here the sender is another one.",
    )


def _choices(
    chosen: Setting,
    alternatives: dict[str, tuple[Any, ...]],
    intervals: dict[Setting, pl.DataFrame],
) -> Iterator[Choice]:
    for key, values in alternatives.items():
        yield Choice(
            QUESTIONS[key],
            _worded(getattr(chosen, key)),
            tuple(
                Alternative(
                    _worded(value), _accuracies(intervals[replace(chosen, **{key: value})])
                )
                for value in values
            ),
        )


def _worded(value: object) -> str:
    return f"{value} s" if isinstance(value, int) and not isinstance(value, bool) else WORDS[value]


def _draw(intervals: pl.DataFrame) -> Figure:
    import polars as pl

    first = intervals.filter(pl.col("seed") == pl.col("seed").min())
    x = first["time_s"].to_numpy()
    with picture(9, 3.8) as figure:
        axes = figure.subplots()
        for column, mark, colour, label in (
            ("simulated", "o-", COLOURS[0], "simulated"),
            ("paper", "x--", COLOURS[4], fig6.MODELS["paper"]),
            ("cycle", ".--", INK, fig6.MODELS["cycle"]),
            ("rule", "-", FAINT, fig6.MODELS["rule"]),
        ):
            axes.plot(x, first[column].to_numpy(), mark, color=colour, label=label, markersize=5)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("time (s)")
        axes.set_ylabel("throughput (Mbit/s)")
        axes.legend(ncols=4, fontsize="small")
    return figure
