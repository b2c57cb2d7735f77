"""Song et al. 2018, figure 6: model and simulator compared over 2 to 8 links."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...model.song2018 import prediction_accuracy
from ...output.style import COLOURS, FAINT, INK, picture
from ..published import published
from .groups import Selected, groups
from .modems import Drawn
from .striped import Beyond, Striped

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

MODELS = {
    "paper": "the paper's model",
    "cycle": "the cycle",
    "rule": "four segments a delay",
}


@dataclass(frozen=True)
class Setting:
    """Open choices of the paper.

    The chosen ones are nearest to the text. Section 5.1.2 sorts the groups and selects from the
    sorted ones "evenly": at even ranks. Even steps of the asymmetry are the other reading. Section
    3 has round trips with outliers, and classes of modems that do not overlap (`modems`).
    """

    selected: Selected = "rank"
    drawn: Drawn = "long tail"
    transfer_bytes: float = 1e6
    sack: bool = True
    beyond: Beyond = "nothing"


ALTERNATIVES: dict[str, tuple[Any, ...]] = {
    "transfer_bytes": (1e5, 1e6, 1e7),
    "sack": (True, False),
    "beyond": get_args(Beyond),
}
LEAST_RTO_S = 1.0  # of ns-3's sender
DELAYS = "How are the 36 groups selected, and how are round trips distributed?"
QUESTIONS = {
    "transfer_bytes": "How large is the transfer?",
    "sack": "Does the simulated NewReno use SACK?",
    "beyond": "Which effect in the simulation do all models omit?",
}
WORDS = {
    "asymmetry": "at even steps of the asymmetry",
    "rank": "at even ranks",
    "long tail": "log-normal with outliers, standard deviation 1.2",
    "narrow": "log-normal, standard deviation 0.4",
    "alike": "the same for all modems, standard deviation 0.4",
    "uniform": "20 to 200 ms, uniform",
    True: "yes, as ns-3 does today",
    False: "no, plain RFC 6582",
    "nothing": "none",
    "loss": "0.1 % of packets lost at random",
    "jitter": "delays that vary by 1 ms either way, in order on each link",
    "cubic": "CUBIC instead of NewReno",
}


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Reproduce figure 6; each run draws its own delays."""
    paper = published("song-2018")
    facts = paper["fig1"] | paper["fig6"]
    chosen = Setting()
    others = [setting for setting in _settings(chosen) if setting != chosen]
    total = len(facts["links"]) * (runs + len(others))
    done = 0

    def finished() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    points = points_of(facts, chosen, range(seed, seed + runs), finished)
    found = {
        setting: _accuracies(facts, points_of(facts, setting, (seed,), finished))
        for setting in others
    }
    found[chosen] = _accuracies(facts, points)
    delays, _ = groups(max(facts["links"]), facts, chosen.drawn, seed, chosen.selected)
    middle = Striped(facts, delays[len(delays) // 2], chosen.transfer_bytes, chosen.sack)
    return Reproduction(
        paper="song-2018",
        item="fig6",
        title="Song et al. 2018, figure 6: models against the simulator, 2 to 8 links",
        source=paper["citation"],
        comparisons=(*_comparisons(facts, points), *_statements(facts, points)),
        draw=lambda: _draw(facts, points),
        choices=tuple(_choices(chosen, found)),
        tables={"throughput": points, "accuracy": accuracy_of(points)},
        scenarios={"striped": middle.scenario()},
        seed=seed,
        runs=runs,
    )


def _settings(chosen: Setting) -> Iterator[Setting]:
    """Yield each alternative; the selection of groups and the round trips vary together."""
    for selected, drawn in product(get_args(Selected), get_args(Drawn)):
        yield replace(chosen, selected=selected, drawn=drawn)
    for key, values in ALTERNATIVES.items():
        yield from (replace(chosen, **{key: value}) for value in values)


def points_of(
    facts: dict[str, Any],
    setting: Setting,
    seeds: range | tuple[int, ...],
    finished: Callable[[], object],
) -> pl.DataFrame:
    """Simulate and predict each group of delays for each number of links.

    The table has a row for each seed, number of links and group: asymmetry in ms, goodput in
    Mbit/s, ``simulated`` and by each model, and each model's accuracy. ``silence_s`` is the
    longest wait for an answer by the cycle.
    """
    import polars as pl

    rows = []
    for seed in seeds:
        for links in facts["links"]:
            delays, asymmetry = groups(links, facts, setting.drawn, seed, setting.selected)
            for group, (delay, apart) in enumerate(zip(delays, asymmetry, strict=True), start=1):
                one = Striped(
                    facts, delay.tolist(), setting.transfer_bytes, setting.sack, setting.beyond
                )
                cycle, silence_s = one.of_cycle()
                row = {
                    "seed": seed,
                    "links": links,
                    "group": group,
                    "delay_asymmetry_ms": apart * 1e3,
                    "simulated": one.simulated(seed),
                    "paper": one.of_paper(),
                    "cycle": cycle,
                    "rule": one.of_rule(),
                    "silence_s": silence_s,
                }
                for model in MODELS:
                    accuracy = prediction_accuracy(row[model], row["simulated"])
                    row[f"{model}_accuracy_percent"] = 100 * float(accuracy)
                rows.append(row)
            finished()
    return pl.DataFrame(rows)


def accuracy_of(points: pl.DataFrame) -> pl.DataFrame:
    """Return each model's mean and smallest accuracy for each number of links."""
    import polars as pl

    names = [f"{model}_accuracy_percent" for model in MODELS]
    least = [pl.col(name).min().alias(f"{name}_least") for name in names]
    return points.group_by("links", maintain_order=True).agg(pl.col(names).mean(), *least)


def _accuracies(facts: dict[str, Any], points: pl.DataFrame) -> dict[str, float]:
    """Return each model's mean over the numbers of links, and the distance to the paper's."""
    table = accuracy_of(points)
    printed = np.array([row["percent"] for row in facts["accuracy"]])
    ours = table["paper_accuracy_percent"].to_numpy()
    means = {model: table[f"{model}_accuracy_percent"].to_numpy().mean() for model in MODELS}
    return {
        "off the printed, rms": float(np.sqrt(np.mean((ours - printed) ** 2))),
        f"{table['links'][-1]} links less {table['links'][0]}": float(ours[-1] - ours[0]),
        **{MODELS[model]: float(mean) for model, mean in means.items()},
    }


def _comparisons(facts: dict[str, Any], points: pl.DataFrame) -> Iterator[ComparedValue]:
    stated = {row["links"]: row["percent"] for row in facts["accuracy"]}
    table = accuracy_of(points)
    reasons = {"paper": _of_paper(points), "cycle": _of_cycle(points), "rule": _of_rule(points)}
    for model, name in MODELS.items():
        column = f"{model}_accuracy_percent"
        for links, ours in table.select("links", column).iter_rows():
            yield ComparedValue(
                f"{name}, {links} links",
                ours,
                published=stated[links] if model == "paper" else None,
                unit="%",
                reason=reasons.get(model),
            )
        yield ComparedValue(
            f"{name}, mean",
            float(table[column].to_numpy().mean()),
            published=facts["accuracy_mean_percent"] if model == "paper" else None,
            unit="%",
            reason=reasons.get(model),
        )


def _statements(facts: dict[str, Any], points: pl.DataFrame) -> Iterator[ComparedValue]:
    """Yield the statements on trends over the number of links."""
    import polars as pl

    accuracy = accuracy_of(points)["paper_accuracy_percent"].to_numpy()
    falls = int((np.diff(accuracy) < 0).sum())
    yield ComparedValue(
        "the paper's model, accuracy with each more link",
        f"falls in {falls} of {len(accuracy) - 1} steps",
        published=facts["accuracy_over_links"],
        reason=_of_paper(points),
        holds=falls == len(accuracy) - 1,
    )
    by_links = points.group_by("links", maintain_order=True)
    upper = by_links.agg(pl.col("delay_asymmetry_ms").quantile(0.75))["delay_asymmetry_ms"]
    large = float(upper.to_numpy().min())
    goodput = (
        points.filter(pl.col("delay_asymmetry_ms").is_between(large, 2 * large))
        .group_by("links")
        .agg(pl.col("simulated", "paper").mean())
        .sort("links")
    )
    for column, name in (("simulated", "the simulated goodput"), ("paper", MODELS["paper"])):
        values = goodput[column].to_numpy()
        slope = float(np.polyfit(goodput["links"].to_numpy(), np.log(values), 1)[0])
        yield ComparedValue(
            f"change of {name} per link, {large:.0f} to {2 * large:.0f} ms of asymmetry",
            100 * float(np.expm1(slope)),
            published=facts["throughput_over_links"],
            unit="%",
            band=(None, 0),
            reason=None if slope < 0 else _of_paper(points),
        )


def _of_paper(points: pl.DataFrame) -> str:
    import polars as pl

    over = points.with_columns((pl.col("paper") / pl.col("simulated")).alias("ratio"))
    few = over.filter(pl.col("links") == pl.col("links").min())["ratio"].to_numpy()
    many = over.filter(pl.col("links") == pl.col("links").max())["ratio"].to_numpy()
    return (
        "The paper states neither its delays nor its transfer; the table below has two readings "
        "of its selection, four distributions and three transfers. Its model settles at rounds of "
        "two to three segments for any links, while the simulated rounds depend on the order of "
        f"arrivals. Relative to the simulation it gives {few.min():.2f} to {few.max():.2f} over "
        f"the fewest links and {many.min():.2f} to {many.max():.2f} over the most."
    )


def _of_cycle(points: pl.DataFrame) -> str:
    import polars as pl

    silent = points.filter(pl.col("silence_s") > LEAST_RTO_S).height
    rest = points.filter(pl.col("silence_s") <= LEAST_RTO_S)
    least = rest["cycle_accuracy_percent"].to_numpy().min()
    return (
        "It computes the behaviour of an RFC NewReno without randomness, and shares no code with"
        f" the simulator; no parameter was fitted. The worst of {rest.height} groups has "
        f"{least:.3f} %. In the other {silent} groups an acknowledgement takes more than "
        f"{LEAST_RTO_S:g} s, so that the retransmission timer may expire, which the cycle leaves "
        "out. Below are results with randomness."
    )


def _of_rule(points: pl.DataFrame) -> str:
    segments = (points["simulated"] / points["rule"] * 4).to_numpy()
    low, middle, high = np.quantile(segments, [0.1, 0.5, 0.9])
    return (
        "Three later segments on faster links are enough to take one for lost: the simulated "
        f"goodput is {low:.1f}, {middle:.1f} and {high:.1f} segments in the largest delay at the "
        "10th, 50th and 90th percentile."
    )


def _choices(chosen: Setting, found: dict[Setting, dict[str, float]]) -> Iterator[Choice]:
    pairs = product(get_args(Selected), get_args(Drawn))
    yield Choice(
        DELAYS,
        _pair(chosen.selected, chosen.drawn),
        tuple(
            Alternative(
                _pair(selected, drawn), found[replace(chosen, selected=selected, drawn=drawn)]
            )
            for selected, drawn in pairs
        ),
    )
    for key, values in ALTERNATIVES.items():
        yield Choice(
            QUESTIONS[key],
            _worded(getattr(chosen, key)),
            tuple(
                Alternative(_worded(value), found[replace(chosen, **{key: value})])
                for value in values
            ),
        )


def _pair(selected: Selected, drawn: Drawn) -> str:
    return f"{WORDS[selected]}; {WORDS[drawn]}"


def _worded(value: float | str) -> str:
    if value in WORDS and not isinstance(value, float):
        return WORDS[value]
    return f"{value / 1e6:g} MB" if isinstance(value, float) else str(value)


def _draw(facts: dict[str, Any], points: pl.DataFrame) -> Figure:
    import polars as pl
    from matplotlib.ticker import LogLocator, NullFormatter

    first = points.filter(pl.col("seed") == pl.col("seed").min())
    accuracy = accuracy_of(points)
    with picture(10, 9) as figure:
        panels = figure.subplots(3, 3)
        for axes, links in zip(panels.flat, facts["links"], strict=False):
            part = first.filter(pl.col("links") == links)
            x = part["delay_asymmetry_ms"].to_numpy()
            axes.plot(
                x, 1e3 * part["rule"].to_numpy(), color=FAINT, linewidth=1.2, label=MODELS["rule"]
            )
            axes.plot(
                x,
                1e3 * part["simulated"].to_numpy(),
                "o",
                color=COLOURS[0],
                markerfacecolor="none",
                markersize=6.5,
                label="simulated",
            )
            axes.plot(
                x, 1e3 * part["paper"].to_numpy(), "x", color=COLOURS[4], label=MODELS["paper"]
            )
            axes.plot(
                x,
                1e3 * part["cycle"].to_numpy(),
                ".",
                color=INK,
                markersize=4,
                label=MODELS["cycle"],
            )
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 4)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_title(f"{links} links")
        for axes in panels[:, 0]:
            axes.set_ylabel("goodput (kbit/s)")
        for axes in (*panels[1, 1:], panels[2, 0]):
            axes.set_xlabel("average delay asymmetry (ms)")
        _draw_accuracy(panels[2, 1], facts, accuracy)
        panels[2, 2].remove()
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small")
    return figure


def _draw_accuracy(axes: Any, facts: dict[str, Any], accuracy: pl.DataFrame) -> None:
    links = accuracy["links"].to_numpy()
    stated = [row["percent"] for row in facts["accuracy"]]
    axes.plot(links, stated, "x--", color=COLOURS[4], alpha=0.6, label="the paper's, as printed")
    for model, colour in (("paper", COLOURS[4]), ("rule", FAINT), ("cycle", INK)):
        column = accuracy[f"{model}_accuracy_percent"].to_numpy()
        axes.plot(links, column, "o-", color=colour, markersize=4, label=MODELS[model])
    axes.set_title("accuracy, mean of the groups")
    axes.set_xlabel("links")
    axes.set_ylabel("%")
    axes.set_ylim(0, 104)
    axes.legend(fontsize="x-small", loc="lower right")
