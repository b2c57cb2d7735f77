"""Results of random scenarios: quantiles, counts, the worst ones, a picture."""

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

import ropewalk
from ropewalk.output import style
from tables import ROOT, Table, write_into_pages

Row = dict[str, Any]

# Lower bounds of the ratio to TCP on the best link: for all but five of a thousand, and for all.
BOUNDS = {"aggregation": (0.95, 0.85), "tunnel": (0.90, 0.80)}
QUANTILES = (0.0, 0.005, 0.05, 0.25, 0.5, 0.75, 1.0)
CALL_BOUND_MS = 40
WORST = 20
"""Number of the worst rows that are shown, with their scenarios."""
BUFFERS = {"aggregation 4 MiB": "4 MiB", "aggregation 1 MiB": "1 MiB", "tunnel": "16 MiB"}
"""Measured methods with their buffers, which the compared TCP has, too."""
PICTURE = ROOT / "docs/images/random-scenarios.png"
ON_THE_PAGE = (
    "random-scenarios",
    "random-scenarios-kinds",
    "random-scenarios-calls",
    "worst-aggregation 4 MiB",
    "worst-tunnel",
)


class Report:
    """Rows of random scenarios, one or two for each, with statistics."""

    def __init__(self, rows: list[Row], methods: tuple[str, ...]) -> None:
        self.rows = rows
        self.methods = methods
        for row in rows:
            row["ratios"] = {
                name: value for method in methods for name, value in ratios(row, method).items()
            }

    def worse(self, ratio: str) -> list[float]:
        """Return the ratio of each scenario, in its worse direction."""
        by_seed: dict[int, float] = {}
        for row in self.rows:
            by_seed[row["seed"]] = min(by_seed.get(row["seed"], math.inf), row["ratios"][ratio])
        return list(by_seed.values())

    def worst(self, method: str, count: int = WORST) -> list[Row]:
        """Return the rows in which a method has the lowest ratio to the best single link."""
        return sorted(self.rows, key=lambda row: row["ratios"][f"{method} / best link"])[:count]

    def quantiles(self) -> pl.DataFrame:
        """Return quantiles of each ratio over the scenarios, and the numbers below the bounds."""
        rows = []
        for ratio in self.rows[0]["ratios"]:
            values = np.array(self.worse(ratio))
            bounds = BOUNDS[ratio.split()[0]]
            few, none = (int((values < bound).sum()) for bound in bounds)
            counted = "sum" not in ratio
            row: Row = {"": ratio}
            for quantile in QUANTILES:
                row[f"{100 * quantile:g} %"] = float(np.quantile(values, quantile))
            row["below"] = f"{few} < {bounds[0]:.2f}, {none} < {bounds[1]:.2f}" if counted else ""
            rows.append(row)
        return pl.DataFrame(rows)

    def kinds(self) -> pl.DataFrame:
        """Return how often each method is below its first bound, by kind of scenario."""
        rows = []
        for kind in dict.fromkeys(row["kind"] for row in self.rows):
            here = Report([row for row in self.rows if row["kind"] == kind], self.methods)
            row: Row = {"kind": kind, "scenarios": len({row["seed"] for row in here.rows})}
            for method in self.methods:
                values = here.worse(f"{method} / best link")
                bound = BOUNDS[method.split(maxsplit=1)[0]][0]
                row[f"{method} < {bound:.2f}"] = sum(value < bound for value in values)
                row[f"{method}, worst"] = min(values)
            late = [row["call"]["download"] > CALL_BOUND_MS for row in here.rows]
            row[f"call > {CALL_BOUND_MS} ms"] = f"{sum(late)} of {len(late)}"
            rows.append(row)
        return pl.DataFrame(rows)

    def calls(self) -> pl.DataFrame:
        """Return quantiles of the delay of a call beyond the quickest link's."""
        rows = []
        for beside, title in (("alone", "alone"), ("download", "beside a download")):
            values = np.array([row["call"][beside] for row in self.rows])
            row: Row = {"call": title}
            for quantile in (0.25, 0.5, 0.75, 0.9, 0.95):
                row[f"{100 * quantile:g} %"] = float(np.quantile(values, quantile))
            within = int((values <= CALL_BOUND_MS).sum())
            rows.append(row | {f"within {CALL_BOUND_MS} ms": f"{within} of {len(values)}"})
        return pl.DataFrame(rows)

    def worst_rows(self, method: str) -> pl.DataFrame:
        rows = []
        for row in self.worst(method):
            rows.append(
                {
                    "scenario": f"{row['seed']} {row['way']}",
                    "kind": row["kind"],
                    "links": row["links"],
                    "Mbit/s": row[method],
                    "best link": row["alone"][BUFFERS[method]],
                    "MPTCP": row["MPTCP"],
                    "/ best link": row["ratios"][f"{method} / best link"],
                }
            )
        return pl.DataFrame(rows)

    def tables(self) -> list[Table]:
        frame = self.quantiles()
        count = len({row["seed"] for row in self.rows})
        title = f"Goodput in {count} random scenarios: quantiles of the worse way"
        found = [Table("random-scenarios", title, frame, dict.fromkeys(frame.columns, ".3f"))]
        frame = self.kinds()
        title = "By kind of scenario: how many are below, and the worst"
        found.append(
            Table("random-scenarios-kinds", title, frame, dict.fromkeys(frame.columns, ".3f"))
        )
        frame = self.calls()
        title = "99th percentile of a call's delay beyond the quickest link's, in ms: quantiles"
        found.append(
            Table("random-scenarios-calls", title, frame, dict.fromkeys(frame.columns, ".1f"))
        )
        for method in self.methods:
            frame = self.worst_rows(method)
            formats = dict.fromkeys(frame.columns, ".3g")
            found.append(Table(f"worst-{method}", f"Where {method} is worst", frame, formats))
        return found

    def as_json(self) -> dict[str, Any]:
        quantiles = {row.pop(""): row for row in self.quantiles().to_dicts()}
        return {"quantiles": quantiles, "kinds": self.kinds().to_dicts(), "scenarios": self.rows}

    def write(self, out: Path, scenario_of: Callable[[Row, str], ropewalk.Scenario]) -> None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "scenarios.json").write_text(json.dumps(self.as_json(), indent=1) + "\n")
        ropewalk.plot.save(self.picture(), out / "scenarios.png")
        shutil.rmtree(out / "worst", ignore_errors=True)
        for method in self.methods:
            folder = out / "worst" / method.replace(" ", "-")
            for place, row in enumerate(self.worst(method), start=1):
                text, traces = scenario_of(row, method).self_contained()
                way = row["way"].replace(" ", "-")
                of_one = folder / f"{place:02}-scenario-{row['seed']}-{way}"
                for name, content in {"scenario.toml": text, **traces}.items():
                    (of_one / name).parent.mkdir(parents=True, exist_ok=True)
                    (of_one / name).write_text(content)

    def write_into_pages(self) -> None:
        """Update the measured tables and picture of docs/agreement/random-scenarios.md."""
        write_into_pages([table for table in self.tables() if table.name in ON_THE_PAGE])
        ropewalk.plot.save(self.picture(), PICTURE)

    def picture(self) -> Figure:
        """Draw the distribution of each ratio over the scenarios."""
        figure = Figure(figsize=(9, 4), layout="constrained")
        titles = {
            "best link": "goodput / TCP on the best link alone",
            "MPTCP": "goodput / MPTCP",
            "sum": "goodput / sum of the links' rates",
        }
        axes = dict(zip(titles, figure.subplots(1, 3, sharey=True), strict=True))
        for ratio in self.rows[0]["ratios"]:
            method, _, against = ratio.partition(" / ")
            values = np.sort(self.worse(ratio))
            share = (np.arange(len(values)) + 1) / len(values)
            colour = style.COLOURS[(0, 2, 4)[list(BUFFERS).index(method)]]
            axes[against].step(values, share, where="post", label=method, color=colour)
        for against, title in titles.items():
            here = axes[against]
            here.set_yscale("log")
            here.set_ylim(0.8 / len(values), 1)
            here.set_yticks((0.001, 0.01, 0.1, 0.5, 1), ("0.1 %", "1 %", "10 %", "50 %", "all"))
            here.minorticks_off()
            here.grid(color="#e4e4e4", linewidth=0.7)
            here.spines[["top", "right"]].set_visible(False)
            here.set_xlabel(title)
            if against != "sum":
                here.set_xscale("log")
                here.axvline(1, color=style.FAINT, linewidth=0.8)
                ticks = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)
                here.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                here.set_xlim(0.01, 20)
                here.minorticks_off()
        axes["best link"].set_ylabel("share of scenarios with at most this ratio")
        axes["sum"].legend(frameon=False, loc="lower right")
        return figure


def ratios(row: Row, method: str) -> dict[str, float]:
    """Return a method's results relative to those of others, where these are known."""
    found = {"best link": row["alone"][BUFFERS[method]]}
    if method == "aggregation 4 MiB":
        found["MPTCP"] = row["MPTCP"]
    found["sum"] = row["sum"]
    return {f"{method} / {name}": _over(row[method], other) for name, other in found.items()}


def _over(ours: float, theirs: float) -> float:
    """Divide, with results that may be 0."""
    return ours / theirs if theirs > 0 else 1.0
