"""The download of section 2 of Elahi et al. 2011, simulated over one link and over two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...engines.simulate import simulate
from ...scenario import Scenario
from .rows import system

TEXT = """\
title = "{title}"
duration = "{longest} s"
{links}
[transport]
protocol = "aggregation"
scheduler = "observed-throughput"
packet = "{packet} B"
header = "{header} B"
send_buffer = "{own} packets"
main_buffer = "{main} packets"

[traffic]
size = "{megabytes} MiB"
"""
LINK = """
[[link]]
name = "{number}"
rate = "{mbps} Mbit/s"
delay = "10 ms"
queue = "100 packets"
"""


@dataclass(frozen=True)
class Download:
    """A download over equal links, with this many bytes of header for each packet."""

    links: int
    header: int

    @property
    def key(self) -> str:
        """Short name for files and tables."""
        return f"download-{self.links}-links-header-{self.header}"

    def scenario(self) -> Scenario:
        """Return the scenario; it ends when all has arrived."""
        facts = system()
        stated = facts["download"]
        links = [LINK.format(number=n, mbps=stated["mbps"]) for n in range(1, self.links + 1)]
        text = TEXT.format(
            title=f"Elahi et al. 2011, section 2: a download over {self.links} link(s)",
            longest=120 * stated["minutes"],
            links="".join(links),
            packet=facts["packet_bytes"],
            header=self.header,
            own=facts["connection_buffer_packets"],
            main=facts["main_buffer_packets"],
            megabytes=stated["megabytes"],
        )
        return Scenario(text, name=f"{self.key}.toml")


def minutes(
    wanted: tuple[Download, ...],
    *,
    seed: int,
    runs: int,
    progress: Callable[[int, int], object] | None,
) -> dict[Download, float]:
    """Return the mean duration of each download, in minutes."""
    found = {}
    for done, download in enumerate(wanted):

        def finished(count: int, before: int = done * runs) -> None:
            if progress is not None:
                progress(before + count, len(wanted) * runs)

        results = simulate(download.scenario(), seed=seed, runs=runs, progress=finished)
        found[download] = float(results.summary["completion_s"].to_numpy().mean()) / 60
    return found
