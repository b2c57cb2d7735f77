"""The experiment of Elahi et al. 2011 simulated over plausible links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...engines.simulate import simulate
from ...scenario import Scenario
from .rows import Row, rows, system

if TYPE_CHECKING:
    import polars as pl

    from ...results import Results

HEADER: int = system()["header_bytes"]
OURS = 16  # header of the gateway's data frames
SEGMENTS = 2  # a packet of 2056 bytes fills one segment of 1460 and part of another
HEADERS = 40  # IPv4 and TCP
TIMESTAMPS = 12  # the option, padded
FRAME = 18  # IEEE 802.3: header 14, check sequence 4
ON_THE_WIRE = 38  # plus preamble 8, gap 12
PER_MBIT = 64  # packets of 2048 bytes in 2^20 bit


@dataclass(frozen=True)
class Links:
    """Kind of links of an experiment.

    `mbit` are the bits in a Mbit, for links whose nominal rate equals the departure rate at 2^20
    bit; None for links whose goodput equals the departure rate. `frame` are the bytes of framing
    for each IP packet. `backbone_mbps` is the rate of the shared link in 10^6 bit/s, None for
    unlimited, and `delay_ms` the one-way delay of a connection's own link. `header` are the bytes
    before each packet's data.
    """

    key: str
    name: str
    mbit: float | None = None
    frame: int = 0
    timestamps: bool = True
    backbone_mbps: float | None = None
    delay_ms: float = 10
    header: int = HEADER

    def rate_bps(self, departure: float) -> float:
        """Return the IP packet rate in bit/s of a link with a departure rate.

        Examples
        --------
        >>> Links("exact", "").rate_bps(320)
        5529600.0
        """
        if self.mbit is None:
            return 8.0 * departure * self._packet_bytes
        return self._without_frames(self.mbit * departure / PER_MBIT)

    def scenario(self, row: Row) -> Scenario:
        """Return a row's experiment over such links."""
        facts = system()
        bits = 8 * facts["packet_bytes"]
        links = [
            f'[[link]]\nname = "{number}"\nrate = "{self.rate_bps(rate):.0f} bit/s"\n'
            f'delay = "{self.delay_ms:g} ms"\nqueue = "1000 packets"\n'
            for number, rate in enumerate(row.departure, start=1)
        ]
        if self.backbone_mbps is not None:
            rate = self._without_frames(self.backbone_mbps * 1e6)
            links.append(
                f'[[link]]\nname = "backbone"\nrate = "{rate:.0f} bit/s"\nqueue = "1000 packets"\n'
            )
            links += [
                f'[[path]]\nname = "path {number}"\nhops = ["{number}", "backbone"]\n'
                for number in range(1, len(row.departure) + 1)
            ]
        text = "\n".join(
            [
                f'title = "Elahi et al. 2011, table 1, row {row.number}, links {self.key}"',
                f'duration = "{facts["experiment_s"]} s"\n',
                *links,
                '[transport]\nprotocol = "aggregation"\nscheduler = "observed-throughput"',
                f"timestamps = {str(self.timestamps).lower()}",
                f'packet = "{facts["packet_bytes"]} B"',
                f'header = "{self.header} B"',
                f'send_buffer = "{facts["connection_buffer_packets"]} packets"',
                'notsent_lowat = "1 MB"',
                f'main_buffer = "{facts["main_buffer_packets"]} packets"\n',
                f'[traffic]\nkind = "poisson"\nrate = "{row.arrival * bits:.0f} bit/s"',
                f'message = "{facts["packet_bytes"]} B"\n',
            ]
        )
        return Scenario(text, name=f"{self.key}-row-{row.number}.toml")

    @property
    def headers(self) -> int:
        """Bytes of a segment's headers."""
        return HEADERS + TIMESTAMPS * self.timestamps

    @property
    def _packet_bytes(self) -> int:
        """IP bytes of all segments of one packet."""
        facts = system()
        own: int = facts["packet_bytes"] + self.header
        return own + SEGMENTS * self.headers

    def _without_frames(self, bps: float) -> float:
        return bps * self._packet_bytes / (self._packet_bytes + SEGMENTS * self.frame)


EXACT = Links("exact", "goodput is the departure rate")
ETHERNET = Links("ethernet", "as many Mbit/s of 10^6, Ethernet frames", mbit=1e6, frame=FRAME)
KINDS = (
    EXACT,
    ETHERNET,
    replace(
        ETHERNET,
        key="wire",
        name="the same, all of the wire, no timestamps",
        frame=ON_THE_WIRE,
        timestamps=False,
    ),
    replace(ETHERNET, key="no-frames", name="as many Mbit/s of 10^6, IP alone", frame=0),
    replace(ETHERNET, key="binary", name="as many Mbit/s of 2^20, Ethernet frames", mbit=2.0**20),
    replace(
        EXACT,
        key="backbone",
        name="departure rates, 10 Mbit/s shared",
        frame=FRAME,
        backbone_mbps=10,
    ),
)
LONG_HEADER = replace(ETHERNET, key="ethernet-16", name=f"{OURS} bytes", header=OURS)
DELAYS = tuple(
    replace(ETHERNET, key=f"ethernet-{delay}ms", name=f"{delay} ms", delay_ms=delay)
    for delay in (1, 50)
)


def simulated(
    kinds: Sequence[Links],
    *,
    seed: int,
    runs: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[pl.DataFrame, dict[str, Scenario]]:
    """Simulate all rows of table 1 over some kinds of links; return a table and the scenarios.

    The table has a row for each kind of links, row of table 1 and run: packets per second
    delivered in order, segments per packet, packets dropped or retransmitted, and the load of the
    least used link.
    """
    import polars as pl

    todo = [(links, row) for links in kinds for row in rows()]
    scenarios = {f"{links.key}-row-{row.number}": links.scenario(row) for links, row in todo}
    frames = []
    for done, ((links, row), scenario) in enumerate(zip(todo, scenarios.values(), strict=True)):

        def finished(count: int, before: int = done * runs) -> None:
            if progress is not None:
                progress(before + count, len(todo) * runs)

        results = simulate(scenario, seed=seed, runs=runs, progress=finished)
        frames.append(_of(results, links, row))
    return pl.concat(frames), scenarios


def _of(results: Results, links: Links, row: Row) -> pl.DataFrame:
    import polars as pl

    packet = system()["packet_bytes"]
    own = [str(number) for number in range(1, len(row.departure) + 1)]
    sent = results.subflows.group_by("seed").agg(
        pl.col("segments_sent").sum(), pl.col("retransmissions").sum()
    )
    used = results.links.group_by("seed").agg(
        pl.col("dropped_packets").sum(),
        pl.col("utilization").filter(pl.col("link").is_in(own)).min(),
    )
    return (
        results.summary.join(sent, on="seed")
        .join(used, on="seed")
        .sort("seed")
        .select(
            "seed",
            links=pl.lit(links.key),
            row=pl.lit(row.number),
            packets_per_s=pl.col("goodput_mbps") * 1e6 / 8 / packet,
            segments_per_packet=pl.col("segments_sent") * packet / pl.col("delivered_bytes"),
            dropped_packets="dropped_packets",
            retransmissions="retransmissions",
            least_utilization="utilization",
        )
    )
