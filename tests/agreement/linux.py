"""TCP and MPTCP over emulated links, compared with the Linux kernel.

Profile linux: MPTCP with scheduler linux and uncoupled windows, 12 s with a warm-up of 3 s.
Without loss, runs are deterministic and one is enough.
"""

import statistics
from functools import cache

import polars as pl

import ropewalk
from tables import SCENARIOS, Table, reference

BAND = 0.06
SIZES = {"256k": "256 KiB", "1M": "1 MiB", "4M": "4 MiB", "16M": "16 MiB", "33M": "33 MiB"}
CONGESTION = {"cubic": "cubic", "reno": "newreno"}
# If a buffer holds only a few bursts, a percent of delay changes a run by a fifth: use means.
FEW_BURSTS = "256k"
STRETCHED = (0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03)
UNEQUAL = ("20/20+5/200", "50/10+10/100")
SCHEDULERS = ("linux", "min-rtt", "round-robin", "weighted", "redundant", "blest", "ecf")
COMPARED = (("20/20+10/60", "1M"), *((links, size) for links in UNEQUAL for size in ("1M", "33M")))


def scenario(
    links: str, method: str, congestion: str, buffer: str | None, **changes: str
) -> ropewalk.Scenario:
    """Return a scenario with links in the notation of the reference file.

    Without a buffer size: 33 MiB to receive and 4 MiB to send.
    """
    pairs = [link.split("/") for link in links.split("+")]
    names = [f"l{number}" for number in range(1, len(pairs) + 1)]
    keys: dict[str, ropewalk.scenario.Value] = {
        "transport.protocol": method,
        "transport.paths": names,
        "transport.congestion": "uncoupled" if method == "mptcp" else CONGESTION[congestion],
        **changes,
    }
    if method == "mptcp":
        keys["transport.subflow"] = CONGESTION[congestion]
    for name, (rate, round_trip) in zip(names, pairs, strict=True):
        keys[f"link.{name}.rate"] = f"{rate} Mbit/s"
        keys[f"link.{name}.delay"] = f"{float(round_trip) / 2} ms"
    if buffer is not None:
        keys["transport.receive_buffer"] = keys["transport.send_buffer"] = SIZES[buffer]
    return ropewalk.Scenario.load(SCENARIOS / "linux-links.toml").with_(keys)


def fraction(
    links: str, method: str, congestion: str, buffer: str | None, **changes: str
) -> float:
    """Return goodput over the sum of the link rates."""
    chosen = scenario(links, method, congestion, buffer, **changes)
    goodput: float = ropewalk.simulate(chosen).mean["goodput_mbps"]
    return goodput / sum(float(link.split("/")[0]) for link in links.split("+"))


def typical(links: str, method: str, congestion: str, buffer: str | None) -> float:
    """Return `fraction`; with a small buffer, its mean over nearly equal round trips."""
    if buffer != FEW_BURSTS:
        return fraction(links, method, congestion, buffer)
    pairs = [link.split("/") for link in links.split("+")]
    return statistics.fmean(
        fraction(
            "+".join(f"{rate}/{float(rtt) * stretch:g}" for rate, rtt in pairs),
            method,
            congestion,
            buffer,
        )
        for stretch in STRETCHED
    )


@cache
def compared() -> pl.DataFrame:
    """Return the cubic and reno rows of tcp and mptcp."""
    file = reference("linux-aggregation.csv").filter(
        pl.col("method").is_in(["tcp", "mptcp"]), pl.col("congestion").is_in([*CONGESTION])
    )
    rows = []
    for row in file.iter_rows(named=True):
        buffer = (row["variant"] or "").removeprefix("buf=") or None
        ours = typical(row["links"], row["method"], row["congestion"], buffer)
        theirs = row["fraction_of_link_rate"]
        rows.append(
            {
                "links": row["links"],
                "method": row["method"],
                "congestion": row["congestion"],
                "buffers": buffer or "",
                "Linux": theirs,
                "ours": ours,
                "difference": ours - theirs,
                "met": abs(ours - theirs) < BAND,
            }
        )
    return pl.DataFrame(rows)


@cache
def buffers() -> pl.DataFrame:
    """Return two pairs of very unequal links with four sizes of both buffers."""
    return pl.DataFrame(
        [
            {"links": links, "buffers": size, "ours": fraction(links, "mptcp", "cubic", size)}
            for links in UNEQUAL
            for size in ("256k", "1M", "4M", "33M")
        ]
    )


@cache
def schedulers() -> pl.DataFrame:
    """Return the goodput of each scheduler over unequal links, the kernel's included."""
    rows = []
    for links, size in COMPARED:
        buffer = None if size == "33M" else size
        row: dict[str, object] = {"links": links, "buffers": size}
        for scheduler in SCHEDULERS:
            changes = {"transport.scheduler": scheduler}
            row[scheduler] = fraction(links, "mptcp", "cubic", buffer, **changes)
        rows.append(row)
    return pl.DataFrame(rows)


@cache
def summary() -> pl.DataFrame:
    """Return the summary's rows, and the same after a longer warm-up."""
    rows = []
    for row in reference("linux-aggregation-buffers.csv").iter_rows(named=True):
        # The larger of the two sizes means the default buffers.
        buffer = None if row["buffer"] == "33M" else row["buffer"]
        theirs = row["fraction_of_link_rate"]
        ours = fraction(row["links"], "mptcp", "cubic", buffer)
        settled = fraction(
            row["links"], "mptcp", "cubic", buffer, **{"duration": "60 s", "warmup": "20 s"}
        )
        count = row["links"].count("+") + 1
        rows.append(
            {
                "links": row["links"] if count == 2 else f"the {count} of linux-links.toml",
                "buffers": row["buffer"],
                "Linux": theirs,
                "ours": ours,
                "difference": ours - theirs,
                "ours, 20 s to 60 s": settled,
            }
        )
    return pl.DataFrame(rows)


def tables() -> list[Table]:
    formats = {
        "Linux": ".3f",
        "ours": ".3f",
        "difference": "+.3f",
        "ours, 20 s to 60 s": ".3f",
    }
    return [
        Table("linux", "Goodput over the sum of link rates", compared(), formats),
        Table("linux-buffers", "Small buffers over very unequal links", buffers(), formats),
        Table(
            "schedulers",
            "All schedulers that go by no price",
            schedulers(),
            dict.fromkeys(SCHEDULERS, ".3f"),
        ),
        Table(
            "linux-summary",
            "MPTCP with cubic: 33 MB to receive, or 1 MB both ways",
            summary(),
            formats | {"Linux": ".2f"},
        ),
    ]


if __name__ == "__main__":
    for table in tables():
        table.print()
