"""The rates of table 1 of Elahi et al. 2011: the paper's two, and what truly leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..model.elahi2011 import goodput, throughput
from ..panels import COLOURS, FAINT, INK
from .elahi2011_rows import queue, rows
from .pictures import picture
from .published import printed_digits
from .reproduction import Comparison

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

UNIT = "packets/s"


def rates() -> pl.DataFrame:
    """Return each row's rates, packets per second: what arrives, what can leave, what leaves.

    Columns that end in ``_published`` are the paper's; ``analytic`` is equation (11),
    ``effective`` the rate at which packets leave the queue, equation (10).
    """
    import polars as pl

    return pl.DataFrame(
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


def compared(table: pl.DataFrame) -> tuple[Comparison, ...]:
    """Put the paper's rates beside ours."""
    analytic = [
        Comparison(
            f"analytic, {row.name}",
            ours["analytic"],
            published=row.analytic,
            unit=UNIT,
            digits=printed_digits(row.analytic),
        )
        for row, ours in zip(rows(), table.iter_rows(named=True), strict=True)
    ]
    effective = [
        Comparison(
            f"experiment, beside what leaves the queue, {row.name}",
            ours["effective"],
            published=row.experimental,
            unit=UNIT,
            reason=_of_effective(table),
        )
        for row, ours in zip(rows(), table.iter_rows(named=True), strict=True)
    ]
    return (*analytic, *effective)


def _of_effective(table: pl.DataFrame) -> str:
    return (
        "The analytic column, N_q / W_s, is no rate at which packets leave: it goes to zero with"
        f" the load. What leaves the queue is {_percent(table, 'effective', 'arrival')} of what"
        f" arrives. The experiment read {_percent(table, 'experimental_published', 'departure')}"
        " of what the connections can carry, in every row."
    )


def _percent(table: pl.DataFrame, column: str, of: str) -> str:
    """From which to which share one column is of another."""
    share = (100 * table[column] / table[of]).to_numpy()
    return f"{share.min():.1f} to {share.max():.1f} %"


def draw(table: pl.DataFrame) -> Figure:
    """Draw figure 5: departure rate, analytic and experimental, and what truly leaves."""
    curves = (
        ("departure", "sum of departure rates", FAINT, "-", "s"),
        ("effective", "leaves the queue", COLOURS[2], "-", "^"),
        ("analytic", "analytic, (11)", COLOURS[0], "-", "o"),
        ("experimental_published", "paper's experiment", COLOURS[4], "--", "D"),
    )
    with picture(7.5, 4.4) as figure:
        axes = figure.subplots()
        for column, label, colour, line, mark in curves:
            axes.plot(
                table["row"].to_numpy(),
                table[column].to_numpy(),
                color=colour,
                linestyle=line,
                marker=mark,
                markersize=5,
                linewidth=1.4,
                label=label,
            )
        axes.scatter(
            table["row"].to_numpy(),
            table["analytic_published"].to_numpy(),
            marker="x",
            color=INK,
            zorder=3,
            label="paper's analytic",
        )
        labels = [system.replace(" to ", "\nto ") for system in table["system"]]
        axes.set_xticks(table["row"].to_list(), labels)
        axes.set(xlabel="packets/s, arriving to departing", ylabel="rate (packets/s)")
        axes.set_ylim(bottom=0)
        axes.legend(fontsize="small")
    return figure
