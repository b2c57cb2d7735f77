"""Rates of table 1 of Elahi et al. 2011: published, departures from the queue, simulated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...analysis.reproduction import ComparedValue
from ...model.elahi2011 import goodput, throughput
from ...output.style import COLOURS, FAINT, INK, picture
from ..published import printed_digits
from .rows import queue, rows, system
from .simulated import ETHERNET, EXACT, HEADER, PER_MBIT, Links

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

UNIT = "packets/s"


def rates(simulated: pl.DataFrame) -> pl.DataFrame:
    """Return each row's rates in packets per second: arrivals, capacity, departures.

    Columns with ``_published`` are the paper's. ``analytic`` is equation (11) and ``effective``
    equation (10), the rate of departures from the queue. ``exact`` and ``ethernet`` are means of
    simulations over those links.
    """
    import polars as pl

    formulas = pl.DataFrame(
        [
            {
                "row": row.number,
                "system": row.name,
                "arrival": row.arrival,
                "departure": sum(row.departure),
                "analytic_published": row.analytic,
                "analytic": goodput(queue(row)),
                "experimental_published": float(row.experimental),
                "effective": throughput(queue(row)),
            }
            for row in rows()
        ]
    )
    for links in (EXACT, ETHERNET):
        mean = simulated.filter(pl.col("links") == links.key).group_by("row")
        column = mean.agg(pl.col("packets_per_s").mean().alias(links.key))
        formulas = formulas.join(column.with_columns(pl.col("row").cast(pl.Int64)), on="row")
    return formulas.sort("row")


def compared(table: pl.DataFrame, simulated: pl.DataFrame) -> tuple[ComparedValue, ...]:
    """Compare the paper's rates with ours."""
    analytic = [
        ComparedValue(
            f"analytic, {row.name}",
            ours["analytic"],
            published=row.analytic,
            unit=UNIT,
            digits=printed_digits(row.analytic),
        )
        for row, ours in zip(rows(), table.iter_rows(named=True), strict=True)
    ]
    comparison = {
        "effective": ("experiment; leaves the queue", _of_effective(table)),
        EXACT.key: ("experiment; simulated, exact links", _of_exact(table, simulated)),
        ETHERNET.key: ("experiment; simulated, Ethernet", of_ethernet(table, simulated)),
    }
    return (
        *analytic,
        *(
            ComparedValue(
                f"{quantity}, {row.name}",
                ours[column],
                published=row.experimental,
                unit=UNIT,
                digits=1,
                reason=reason,
            )
            for column, (quantity, reason) in comparison.items()
            for row, ours in zip(rows(), table.iter_rows(named=True), strict=True)
        ),
    )


def share_of_experiment(simulated: pl.DataFrame, links: Links) -> dict[str, float]:
    """Return the range of the simulated rates, in percent of the experiment."""
    import polars as pl

    mean = simulated.filter(pl.col("links") == links.key).group_by("row")
    found = dict(mean.agg(pl.col("packets_per_s").mean()).iter_rows())
    shares = [100 * found[row.number] / row.experimental for row in rows()]
    return {"least, % of experiment": min(shares), "most, % of experiment": max(shares)}


def _of_effective(table: pl.DataFrame) -> str:
    first = rows()[0]
    half = replace(queue(first), arrival_rate=first.arrival / 2)
    return (
        "The analytic column, N_q / W_s, is not a departure rate: at half of the first row's "
        f"arrivals it is {goodput(half):.2g} packets/s while {throughput(half):.0f} leave. The "
        f"model's departures are {_percent(table, 'effective', 'arrival')} of the arrivals."
    )


def _of_exact(table: pl.DataFrame, simulated: pl.DataFrame) -> str:
    import polars as pl

    found = simulated.filter(pl.col("links") == EXACT.key)
    return (
        "Over links whose goodput is each connection's departure rate the simulated system gives"
        f" {_percent(table, EXACT.key, 'effective')} of the model's departures. It drops "
        f"{found['dropped_packets'].sum()} packets and retransmits "
        f"{found['retransmissions'].sum()}; packets queued at the end of the 100 s are not "
        "counted. So the experiment was not limited like the model."
    )


def of_ethernet(table: pl.DataFrame, simulated: pl.DataFrame) -> str:
    """Explain the values of the experiment."""
    import polars as pl

    found = simulated.filter(pl.col("links") == ETHERNET.key)
    segments = found["segments_per_packet"].to_numpy()
    rates = sorted({rate / PER_MBIT for row in rows() for rate in row.departure}, reverse=True)
    least = found["least_utilization"].to_numpy().min()
    download = system()["download"]
    minutes = download["megabytes"] * 2**20 * 8 / (download["mbps"] * 1e6) / 60
    return (
        f"The departure rates are {', '.join(f'{rate:g}' for rate in rates)} Mbit/s, if a Mbit "
        "is 2^20 bit. On Ethernet links of the same numbers of 10^6 bit/s, each of the "
        f"{segments.min():.2f} to {segments.max():.2f} segments of a packet has "
        f"{ETHERNET.headers} bytes of headers and {ETHERNET.frame} of framing. Then the links are"
        f" nearly saturated (at least {100 * float(least):.1f} %), because arrivals exceed their "
        f"capacity. That gives {_percent(table, ETHERNET.key, 'departure')} of the departure "
        f"rates; the experiment has {_percent(table, 'experimental_published', 'departure')}, "
        "similar in every row. The analytic column is "
        f"{_percent(table, 'analytic', 'departure')} of them, so its agreement is chance. The "
        "paper states neither the Mbit nor the framing, which makes this likely but not certain "
        "(the item table1 has other framings). The simulation uses the gateway's "
        f"aggregator with the paper's headers of {HEADER} bytes; its windows are acknowledged on "
        f"the fastest connection. The paper's {download['minutes']} minutes for "
        f"{download['megabytes']} MB at {download['mbps']} Mbit/s are {minutes:.2f} with 2^20 "
        "bytes and 10^6 bit."
    )


def _percent(table: pl.DataFrame, column: str, of: str) -> str:
    """Return the range of one column as a share of another."""
    share = (100 * table[column] / table[of]).to_numpy()
    return f"{share.min():.1f} to {share.max():.1f} %"


def draw(table: pl.DataFrame) -> Figure:
    """Draw figure 5 with true departures, and below it all rates relative to capacity."""
    curves = (
        ("departure", "sum of departure rates", FAINT, "-", "s"),
        ("effective", "leaves the queue", COLOURS[2], "-", "^"),
        (EXACT.key, "simulated, exact links", COLOURS[5], "", "+"),
        ("analytic", "analytic, equation (11)", COLOURS[0], "-", "o"),
        ("experimental_published", "paper's experiment", COLOURS[4], "--", "D"),
        (ETHERNET.key, "simulated, Ethernet", INK, "", "x"),
    )
    with picture(7.5, 6.4) as figure:
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        numbers, departure = table["row"].to_numpy(), table["departure"].to_numpy()
        for column, label, colour, line, mark in curves:
            rate = table[column].to_numpy()
            for axes, values in ((above, rate), (below, 100 * rate / departure)):
                axes.plot(
                    numbers,
                    values,
                    color=colour,
                    linestyle=line,
                    marker=mark,
                    markersize=5 if line else 8,
                    linewidth=1.4,
                    label=label,
                )
        above.set_ylabel("rate (packets/s)")
        above.set_ylim(bottom=0)
        above.legend(fontsize="small")
        below.set_ylabel("of the departure rates (%)")
        below.set_xlabel("packets/s, arriving to departing")
        below.set_xticks(numbers, [name.replace(" to ", "\nto ") for name in table["system"]])
    return figure
