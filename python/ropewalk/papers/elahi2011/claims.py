"""Elahi et al. 2011: statements of the text, and the receiver that it leaves to future work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...analysis.reproduction import Alternative, Choice, ComparedValue, Reproduction
from ...model.elahi2011 import (
    Queue,
    lost_rate,
    packets_queued,
    probability,
    throughput,
    time_queued,
)
from ...model.elahi2011.receiver import ReceiverLimited
from ...output.style import COLOURS, picture
from ..published import published
from .download import Download, minutes
from .rows import queue, rows, system
from .simulated import HEADER, OURS

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

LOW_LOAD = 0.1  # of the departure rates, for lambda << mu
LOADS = tuple(float(load) for load in np.round(np.arange(0.1, 2.01, 0.05), 2))
ABOVE = tuple(load for load in LOADS if load > 1)
RECEIVE_BUFFERS = (5, 50)
READ_RATES = (0.25, 0.5, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5)

OF_HEADER = "The simulated downloads differ in the length of the header alone."
OF_LINK = (
    "The paper counts the data; the simulated links also carry the headers of TCP and IP, and the "
    "packets' own."
)
OF_RECEIVER = (
    "The paper leaves the receiver to future work. In the model, connections are idle while the "
    "receive buffer is full."
)


def reproduce(
    *, seed: int, runs: int, progress: Callable[[int, int], object] | None
) -> Reproduction:
    """Compare the statements of sections 2 and 6."""
    one, two = Download(1, HEADER), Download(2, HEADER)
    longer = replace(one, header=OURS)
    wanted = (one, two, longer)
    took = minutes(wanted, seed=seed, runs=runs, progress=progress)
    loads, readers = _loads(), _readers()
    return Reproduction(
        paper="elahi-2011",
        item="text",
        title="Elahi et al. 2011: statements of the text",
        source=published("elahi-2011")["citation"],
        comparisons=(
            *_of_download(took[one], took[two], took[longer]),
            *_of_low_load(),
            *_of_overload(),
            _of_connections(),
            *_of_receiver(),
        ),
        choices=(_of_meaning(),),
        draw=lambda: _draw(loads, readers),
        tables={"loads": loads, "readers": readers},
        scenarios={each.key: each.scenario() for each in wanted},
        seed=seed,
        runs=runs,
    )


def _of_download(one: float, two: float, longer: float) -> list[ComparedValue]:
    facts, stated = system(), published("elahi-2011")["claims"]
    packet, overhead = facts["packet_bytes"], stated["header_overhead_percent"]
    band = (overhead - 0.05, overhead + 0.05)  # the printed digit
    return [
        ComparedValue(
            "header over data",
            100 * HEADER / packet,
            published=overhead,
            unit="%",
            reason=OF_HEADER,
            band=band,
        ),
        ComparedValue(
            f"simulated: {OURS - HEADER} bytes more of header lengthen the download by",
            100 * (longer / one - 1) * HEADER / (OURS - HEADER),
            published=overhead,
            unit="%",
            reason=OF_HEADER,
            band=band,
        ),
        ComparedValue(
            f"{facts['download']['megabytes']} MB over one link, simulated",
            one,
            published=facts["download"]["minutes"],
            unit="min",
            digits=1,
            reason=OF_LINK,
        ),
        ComparedValue(
            "the same over two links, of the time over one",
            two / one,
            published=stated["download_time_ratio"],
            reason="Two equal links carry twice the rate; the last packets wait for one of them.",
        ),
    ]


def _of_low_load() -> list[ComparedValue]:
    low = [_at(LOW_LOAD, queue(row)) for row in rows()]
    stated = published("elahi-2011")["claims"]["least_load_negligible"]
    found = {
        "N_q": (max(map(packets_queued, low)), "packets"),
        "W_q": (1e3 * max(map(time_queued, low)), "ms"),
        "a packet finds the send buffers full": (
            100 * max(float(np.sum(probability(each)[each.send_buffers :])) for each in low),
            "%",
        ),
    }
    return [
        ComparedValue(
            f"{name} at {LOW_LOAD:g} of the departure rates, most of six systems",
            value,
            published=stated,
            unit=unit,
            band=(0, 0.01),
        )
        for name, (value, unit) in found.items()
    ]


def _of_overload() -> list[ComparedValue]:
    above = [[_at(load, queue(row)) for load in ABOVE] for row in rows()]

    def rising(of: Callable[[Queue], float]) -> bool:
        return all(np.all(np.diff([of(each) for each in system]) > 0) for system in above)

    most = max(throughput(each) / sum(each.departure_rates) for system in above for each in system)
    limit = published("elahi-2011")["claims"]["most_rate_over_departure"]
    return [
        *(
            ComparedValue(
                f"{name} rises with lambda > mu, six systems",
                "rises" if rising(of) else "does not",
                published="rises",
                holds=rising(of),
            )
            for name, of in (("lambda_lost", lost_rate), ("N_q", packets_queued))
        ),
        ComparedValue(
            f"then departures over the departure rates, at most, lambda to {ABOVE[-1]:g} mu",
            round(most, 9),
            published=f"at most {limit}",
            digits=3,
            band=(None, limit),
        ),
    ]


def _of_connections() -> ComparedValue:
    found = [throughput(queue(row)) for row in rows()]
    own = [len(row.departure) for row in rows()]
    falls = all(
        before > after
        for before, after, c, d in zip(found, found[1:], own, own[1:], strict=False)
        if d < c
    )
    return ComparedValue(
        "departures with each connection less",
        "fall" if falls else "do not",
        published="fall",
        holds=falls,
    )


def _of_receiver() -> list[ComparedValue]:
    row = rows()[0]
    return [
        ComparedValue(
            f"receiver reads {share:g} of the arrivals, buffer of {buffer} packets: is read",
            ReceiverLimited(queue(row), share * row.arrival, buffer).throughput,
            unit="packets/s",
            digits=1,
            reason=OF_RECEIVER,
        )
        for share in (0.5, 1.0, 1.5)
        for buffer in RECEIVE_BUFFERS
    ]


def _of_meaning() -> Choice:
    """Show how small N_q and W_q are by the meaning of "much smaller"."""
    return Choice(
        "How small is lambda << mu?",
        f"{LOW_LOAD:g} mu",
        tuple(
            Alternative(
                f"{share:g} mu",
                {
                    "most N_q, packets": max(packets_queued(_at(share, queue(r))) for r in rows()),
                    "most W_q, ms": 1e3 * max(time_queued(_at(share, queue(r))) for r in rows()),
                },
            )
            for share in (LOW_LOAD, 0.5, 0.8, 0.9, 0.95)
        ),
        digits=4,
    )


def _at(load: float, of: Queue) -> Queue:
    """Return a system with arrivals at a share of its departure rates."""
    return replace(of, arrival_rate=load * sum(of.departure_rates))


def _loads() -> pl.DataFrame:
    """Return N_q, the lost and the departing packets of each system by its load."""
    import polars as pl

    return pl.DataFrame(
        [
            {
                "row": row.number,
                "system": row.name,
                "load": load,
                "queued_packets": packets_queued(at),
                "lost_packets_per_s": lost_rate(at),
                "packets_per_s": throughput(at),
            }
            for row in rows()
            for load in LOADS
            for at in (_at(load, queue(row)),)
        ]
    )


def _readers() -> pl.DataFrame:
    """Return the read packets of the first system by the receiver's rate and buffer."""
    import polars as pl

    row = rows()[0]
    return pl.DataFrame(
        [
            {
                "receive_buffer_packets": buffer,
                "read_rate_of_arrivals": share,
                "packets_per_s": found.throughput,
                "queued_packets": found.packets_queued,
                "closed_window": found.closed_window,
            }
            for buffer in RECEIVE_BUFFERS
            for share in READ_RATES
            for found in (ReceiverLimited(queue(row), share * row.arrival, buffer),)
        ]
    )


def _draw(loads: pl.DataFrame, readers: pl.DataFrame) -> Figure:
    """Draw N_q and losses by load, and the read packets by the receiver's rate."""
    with picture(10, 3.6) as figure:
        queued, lost, read = figure.subplots(1, 3)
        for axes, column in ((queued, "queued_packets"), (lost, "lost_packets_per_s")):
            for index, part in enumerate(loads.partition_by("row", maintain_order=True)):
                axes.plot(
                    part["load"].to_numpy(),
                    part[column].to_numpy(),
                    color=COLOURS[(0, 2, 4, 5, 6, 7)[index]],
                    label=part["system"][0],
                )
            axes.axvline(1, color="#bbbbbb", linewidth=0.8, zorder=0)
            axes.set_xlabel("arrivals over departure rates")
        queued.set_ylabel("N_q, packets in the main buffer")
        lost.set_ylabel("lambda_lost (packets/s)")
        lost.legend(title="packets/s", fontsize="x-small", title_fontsize="x-small")
        arrival = rows()[0].arrival
        for index, part in enumerate(
            readers.partition_by("receive_buffer_packets", maintain_order=True)
        ):
            read.plot(
                arrival * part["read_rate_of_arrivals"].to_numpy(),
                part["packets_per_s"].to_numpy(),
                color=COLOURS[(0, 4)[index]],
                marker="o",
                markersize=3,
                label=f"{part['receive_buffer_packets'][0]} packets",
            )
        read.set_xlabel("rate of the receiver (packets/s)")
        read.set_ylabel(f"read (packets/s), {arrival:g} arrive")
        read.set_ylim(bottom=0)
        read.legend(title="receive buffer", fontsize="small")
    return figure
