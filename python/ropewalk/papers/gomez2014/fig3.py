"""Gómez et al. 2014, figure 3: TCP and MPTCP over the diamond, without frame errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...analysis.reproduction import POINTS, Alternative, Choice, ComparedValue, Reproduction
from ...model import wifi
from ...output.style import COLOURS, INK, picture
from ..published import published
from .diamond import (
    AS_PUBLISHED,
    COMPENSATED,
    COUPLED,
    LINKED,
    MODULE_COMPENSATED,
    MODULE_COUPLED,
    MODULE_LINKED,
    MODULE_UNCOUPLED,
    ONE_CHANNEL,
    TCP,
    UNBOUNDED,
    UNCOUPLED,
    StackRuns,
    facts,
    jain,
    scenarios,
    simulated,
    table,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress: TypeAlias = Callable[[int, int], object] | None

FAIR = 0.95  # Jain's index from which two subflows share fairly
SIMILAR = 5.0  # difference of goodputs up to which controls are similar, percent

OF_ONE_CHANNEL = (
    "Both paths share the airtime of one channel, so that a second path adds collisions and no "
    "capacity. MPTCP's segments are also shorter: its options take at least 20 bytes of each."
)
OF_TWO_CHANNELS = (
    "Two channels have twice the capacity of one, and the transport of RFC 8684 fills both. The "
    "authors' module has segments of 1412 bytes and acknowledges each, which takes airtime. The "
    "remaining difference is its treatment of reordering: with D-SACK, a segment in order on its"
    " subflow but ahead in the data is held back and not acknowledged."
)
OF_MODULE = "Profile mptcp-ns3: the module's own receiver and D-SACK policy, which RFC 8684 lacks."


def fig3a(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 3a: TCP over one relay."""
    (tcp,) = measured = simulated([(TCP, 0, 0)], seed=seed, runs=runs, progress=progress)
    return _made(
        "fig3a",
        "TCP over two hops",
        measured,
        [
            ComparedValue(
                "TCP",
                tcp.mean["goodput_mbps"],
                published=facts()["tcp_mbps"],
                unit="Mbit/s",
                reason=_of_tcp(),
            )
        ],
        seed,
        runs,
    )


def _of_tcp() -> str:
    """Return how a segment's airtime on a hop is spent."""
    radio = wifi.radio("802.11b", 11, basic_rates_mbps=[1])
    data, ack = (wifi.exchange(radio, length) for length in (1500, 40))
    share = ack.total_us / (2 * data.total_us + ack.total_us)  # an ACK for two segments
    return (
        f"Of the {data.total_us:.0f} us that a segment's frame takes on each hop the segment "
        f"itself has {data.packet:.0f}; the ACK of 1 Mbit/s has {data.ack:.0f}, back-off "
        f"{data.backoff:.0f}, preamble {data.preamble:.0f} (ropewalk explain). Two hops that hear "
        f"each other share the channel, and TCP's own acknowledgements take {share:.0%} of it."
    )


def fig3b(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 3b: MPTCP with both paths on one channel."""
    stacks = (TCP, ONE_CHANNEL, UNBOUNDED)
    tcp, both, unbounded = measured = simulated(
        [(stack, 0, 0) for stack in stacks], seed=seed, runs=runs, progress=progress
    )
    return _made(
        "fig3b",
        "MPTCP on one channel",
        measured,
        [
            ComparedValue(
                "MPTCP over TCP",
                both.mean["goodput_mbps"] / tcp.mean["goodput_mbps"],
                published=facts()["one_channel_over_tcp"],
                unit="times",
                band=(None, 1),
                reason=OF_ONE_CHANNEL,
            ),
            ComparedValue(
                "Jain's index of the subflows",
                jain(both.mean),
                published=facts()["subflows"],
                digits=3,
                band=(FAIR, None),
                reason="Mean over whole transfers.",
            ),
        ],
        seed,
        runs,
        choices=(
            Choice(
                "How much may MPTCP have in flight? The module has no flow control.",
                "256 KiB",
                tuple(
                    Alternative(
                        name,
                        {
                            "MPTCP over TCP": each.mean["goodput_mbps"] / tcp.mean["goodput_mbps"],
                            "packets lost": each.mean["lost_packets"],
                        },
                    )
                    for name, each in (
                        ("256 KiB", both),
                        ("6 MiB, which takes more than a packet's 10 s", unbounded),
                    )
                ),
            ),
        ),
    )


def fig3c(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 3c: MPTCP on two channels, with independent windows."""
    module = (MODULE_UNCOUPLED, MODULE_LINKED, MODULE_COMPENSATED)
    stacks = (TCP, UNCOUPLED, LINKED, COMPENSATED, AS_PUBLISHED, *module)
    tcp, *others = measured = simulated(
        [(stack, 0, 0) for stack in stacks], seed=seed, runs=runs, progress=progress
    )
    goodputs = {each.stack.key: each.mean["goodput_mbps"] for each in others}
    most = max(max(each.mean["upper_mbps"], each.mean["lower_mbps"]) for each in others)
    return _made(
        "fig3c",
        "MPTCP on two channels",
        measured,
        [
            *(
                ComparedValue(
                    f"{each.stack.name}, above TCP",
                    100 * (each.mean["goodput_mbps"] / tcp.mean["goodput_mbps"] - 1),
                    published=facts()["two_channels_gain_percent"],
                    unit="%",
                    digits=0,
                    reason=OF_MODULE if each.stack in module else OF_TWO_CHANNELS,
                )
                for each in others
            ),
            *(
                ComparedValue(
                    f"{prefix}linked increases and RTT compensator, largest difference from"
                    " uncoupled",
                    max(
                        100 * abs(goodputs[other.key] / goodputs[free.key] - 1)
                        for other in coupled
                    ),
                    published=facts()["other_controls"],
                    unit="%",
                    digits=1,
                    band=(0, SIMILAR),
                )
                for prefix, free, *coupled in (
                    ("", UNCOUPLED, LINKED, COMPENSATED),
                    ("mptcp-ns3: ", *module),
                )
            ),
            *(
                ComparedValue(
                    f"{each.stack.name}, Jain's index of the subflows",
                    jain(each.mean),
                    published=facts()["pooling"],
                    digits=3,
                    band=(FAIR, None),
                )
                for each in others
                if each.stack in (UNCOUPLED, MODULE_UNCOUPLED)
            ),
            ComparedValue(
                "fastest subflow over TCP",
                most / tcp.mean["goodput_mbps"],
                published=facts()["subflow_over_tcp"],
                unit="times",
                band=(None, 1),
                reason="A subflow has its own channel, like the TCP.",
            ),
        ],
        seed,
        runs,
    )


def fig3d(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 3d: MPTCP on two channels, fully coupled."""
    stacks = (UNCOUPLED, COUPLED, MODULE_UNCOUPLED, MODULE_COUPLED)
    free, coupled, module_free, module_coupled = measured = simulated(
        [(stack, 0, 0) for stack in stacks], seed=seed, runs=runs, progress=progress
    )
    lossy = sum(row["lost_packets"] > 0 for row in coupled.rows)
    again = module_coupled.mean["retransmissions"]
    why = (
        "A loss reduces a subflow's window by half of both windows, to one segment if they are "
        "equal. Its growth is divided by both, so that it recovers slowly and one path of two is "
        "left: at most half the rate. Only collisions that exhaust four tries lose a packet here: "
        f"in {lossy} of {runs} transfers. A transfer without a loss is like an uncoupled one."
    )
    slow = min(module_coupled.rows, key=lambda row: row["goodput_mbps"])
    left = max(slow["upper_mbps"], slow["lower_mbps"])
    module_why = (
        f"With the module's own rules {again:.0f} segments of a transfer are retransmitted, each "
        "time for half of both windows. The faster path of the worst run carries "
        f"{left:.2f} Mbit/s, more than its half of uncoupled, because it need not wait for the "
        "other's data. With this path alone a transfer would be "
        f"{100 * (1 - left / module_free.mean['goodput_mbps']):.0f} % below uncoupled: flappiness "
        "cannot take more."
    )
    return _made(
        "fig3d",
        "MPTCP on two channels, fully coupled",
        measured,
        [
            *_below("", free, coupled, why),
            *_below("mptcp-ns3, ", module_free, module_coupled, module_why),
            ComparedValue("packets lost in a transfer", coupled.mean["lost_packets"], digits=1),
            ComparedValue("timeouts in a transfer", coupled.mean["timeouts"], digits=1),
        ],
        seed,
        runs,
    )


def _below(prefix: str, free: StackRuns, coupled: StackRuns, why: str) -> Iterator[ComparedValue]:
    """Compare fully coupled windows with uncoupled ones; the paper shows an arbitrary run."""
    base = free.mean["goodput_mbps"]
    worst = min(coupled.rows, key=lambda row: row["goodput_mbps"])
    below = [100 * (1 - row["goodput_mbps"] / base) for row in coupled.rows]
    stated = facts()["fully_coupled_loss_percent"]
    name = f"{prefix}fully coupled, below uncoupled"
    as_far = sum(each >= stated - POINTS for each in below)
    yield ComparedValue(
        f"{name}, in the worst run",
        max(below),
        published=stated,
        unit="%",
        digits=0,
        reason=(
            f"The paper shows an arbitrary run. Of {len(below)} runs here {as_far or 'none'} fell "
            f"as far as its, less {POINTS:g} points. {why}"
        ),
    )
    yield ComparedValue(f"{name}, mean", sum(below) / len(below), unit="%", digits=0)
    index, fair = jain(worst), jain(free.mean)
    yield ComparedValue(
        f"{prefix}fully coupled, Jain's index of the subflows, in the worst run",
        index,
        published=facts()["flappiness"],
        digits=3,
        holds=index < FAIR,
        reason=f"Uncoupled: {fair:.3f}. The paper's subflows share by turns, one at a time.",
    )


def _made(
    item: str,
    title: str,
    measured: Sequence[StackRuns],
    comparisons: Sequence[ComparedValue],
    seed: int,
    runs: int,
    choices: tuple[Choice, ...] = (),
) -> Reproduction:
    goodputs = [
        ComparedValue(
            f"{each.stack.name}{_plus_minus(each)}",
            each.mean["goodput_mbps"],
            unit="Mbit/s",
        )
        for each in measured
    ]
    return Reproduction(
        paper="gomez-2014",
        item=item,
        title=f"Gómez et al. 2014, figure {item[3:]}: {title}",
        source=published("gomez-2014")["citation"],
        comparisons=(*comparisons, *goodputs),
        draw=lambda: _draw(measured),
        choices=choices,
        tables={"runs": table(measured)},
        scenarios=scenarios(measured),
        seed=seed,
        runs=runs,
    )


def _plus_minus(measured: StackRuns) -> str:
    half = measured.ci95.get("goodput_mbps")
    return "" if half is None else f" (± {half:.2f})"


def _draw(measured: Sequence[StackRuns]) -> Figure:
    """Draw goodput over time, by path and in total, for each experiment's slowest run."""
    import polars as pl

    most = max(each.results.summary["goodput_mbps"].to_numpy().max() for each in measured)
    with picture(8, 1.2 + 1.9 * len(measured)) as figure:
        panels = figure.subplots(len(measured), 1, squeeze=False, sharex=True, sharey=True)[:, 0]
        for axes, each in zip(panels, measured, strict=True):
            timeline = each.results.timeline
            slowest = each.results.summary.sort("goodput_mbps")["seed"][0]
            of_run = timeline.filter(pl.col("seed") == slowest)
            of_run = of_run.filter(pl.col("time_s") < pl.col("time_s").max())  # partial last step
            both = of_run.group_by("time_s", maintain_order=True).agg(pl.col("goodput_mbps").sum())
            axes.plot(both["time_s"], both["goodput_mbps"], color=INK, label="together")
            paths = of_run.group_by("link", maintain_order=True)
            for colour, (name, rows) in zip(COLOURS[:2], paths, strict=False):
                axes.plot(rows["time_s"], rows["goodput_mbps"], color=colour, label=str(name[0]))
            axes.axhline(
                each.mean["goodput_mbps"],
                color=INK,
                linestyle="--",
                linewidth=0.9,
                label="mean of all runs",
            )
            peak = both["goodput_mbps"].to_numpy().max()
            cut = f"; peaks up to {peak:.1f} cut" if peak > 1.1 * most else ""
            axes.set_title(f"{each.stack.name} (slowest run{cut})")
            axes.set_ylabel("goodput (Mbit/s)")
        panels[0].set_ylim(0, 1.1 * most)
        panels[-1].legend(
            fontsize="small", ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.25)
        )
        panels[-1].set_xlabel("time (s)")
    return figure
