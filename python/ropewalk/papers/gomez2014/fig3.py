"""Gómez et al. 2014, figure 3: TCP and MPTCP over the diamond, without frame errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
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
    scenarios,
    simulated,
    table,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress: TypeAlias = Callable[[int, int], object] | None

OF_TCP = (
    "Of the 1984 us that a segment's frame takes on each hop the segment itself has 1091; the"
    " ACK of 1 Mbit/s has 304, back-off 310, preamble 192 (ropewalk explain). Two hops that"
    " hear each other share the channel, and TCP's own acknowledgements take a fifth of it."
)
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
                reason=OF_TCP,
            )
        ],
        seed,
        runs,
    )


def fig3b(*, seed: int, runs: int, progress: Progress) -> Reproduction:
    """Reproduce figure 3b: MPTCP with both paths on one channel."""
    stacks = (TCP, ONE_CHANNEL, UNBOUNDED)
    tcp, both, unbounded = measured = simulated(
        [(stack, 0, 0) for stack in stacks], seed=seed, runs=runs, progress=progress
    )
    upper, lower = both.mean["upper_mbps"], both.mean["lower_mbps"]
    return _made(
        "fig3b",
        "MPTCP on one channel",
        measured,
        [
            ComparedValue(
                "MPTCP over TCP",
                both.mean["goodput_mbps"] / tcp.mean["goodput_mbps"],
                published="not above 1",
                unit="times",
                reason=OF_ONE_CHANNEL,
            ),
            ComparedValue(
                "Jain's index of the subflows",
                (upper + lower) ** 2 / (2 * (upper**2 + lower**2)),
                published="alike",
                digits=3,
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
            ComparedValue(
                "fastest subflow over TCP",
                most / tcp.mean["goodput_mbps"],
                published="not above 1",
                unit="times",
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
    worst = min(coupled.rows, key=lambda row: row["goodput_mbps"])
    lossy = sum(row["lost_packets"] > 0 for row in coupled.rows)
    below = {
        name: 100 * (1 - goodput / free.mean["goodput_mbps"])
        for name, goodput in (
            ("in the worst run", worst["goodput_mbps"]),
            ("mean", coupled.mean["goodput_mbps"]),
        )
    }
    why = (
        "The paper shows an arbitrary run. A loss reduces a subflow's window by half of both "
        "windows, to one segment if they are equal. Its growth is divided by both, so that it "
        "recovers slowly and one path of two is left: at most half the rate. Only collisions "
        f"that exhaust four tries lose a packet here: in {lossy} of {runs} transfers, with "
        f"{coupled.mean['lost_packets']:.1f} packets on average. A transfer without a loss is "
        "like an uncoupled one."
    )
    module_goodputs = [row["goodput_mbps"] for row in module_coupled.rows]
    module_below = {
        name: 100 * (1 - goodput / module_free.mean["goodput_mbps"])
        for name, goodput in (
            ("in the worst run", min(module_goodputs)),
            ("mean", module_coupled.mean["goodput_mbps"]),
        )
    }
    published = 1 - facts()["fully_coupled_loss_percent"] / 100
    as_far = sum(
        goodput <= published * module_free.mean["goodput_mbps"] for goodput in module_goodputs
    )
    again = module_coupled.mean["retransmissions"]
    module_why = (
        "Not met. With the module's own rules (profile mptcp-ns3, D-SACK), which take reordering"
        f" for loss, {again:.0f} segments of a transfer are retransmitted, each time for half of "
        "both windows. The paper shows an arbitrary run, whose losses are not known. Of the "
        f"{runs} runs here {as_far or 'none'} fell as far."
    )
    return _made(
        "fig3d",
        "MPTCP on two channels, fully coupled",
        measured,
        [
            *(
                ComparedValue(
                    f"fully coupled, below uncoupled, {name}",
                    share,
                    published=facts()["fully_coupled_loss_percent"],
                    unit="%",
                    digits=0,
                    reason=why,
                )
                for name, share in below.items()
            ),
            *(
                ComparedValue(
                    f"mptcp-ns3, fully coupled, below uncoupled, {name}",
                    share,
                    published=facts()["fully_coupled_loss_percent"],
                    unit="%",
                    digits=0,
                    reason=module_why,
                )
                for name, share in module_below.items()
            ),
            ComparedValue("packets lost in a transfer", coupled.mean["lost_packets"], digits=1),
            ComparedValue("timeouts in a transfer", coupled.mean["timeouts"], digits=1),
        ],
        seed,
        runs,
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
        panels[-1].legend(fontsize="small", ncols=4, loc="lower left")
        panels[-1].set_xlabel("time (s)")
    return figure
