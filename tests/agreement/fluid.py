"""The fluid model of `ropewalk predict` compared with the simulator.

Scenarios are drawn from a seed that was not used to fit the model: links of 2 to 50 Mbit/s and 2
to 100 ms one way, queues of 0.5 to 2 bdp, losses of 0.01 to 2 %, 5 to 30 s; means of four runs
with losses.
"""

import itertools
import random
from collections.abc import Iterator
from functools import cache

import numpy as np
import polars as pl

import ropewalk
from ropewalk.engines.predict import fluid
from tables import ROOT, Table

SEED = 20260
EACH = 20
RUNS = 4
COUPLED = ("lia", "olia", "balia", "fully-coupled", "linked-increases")
SMALL = ("64 KiB", "128 KiB", "256 KiB", "512 KiB", "1 MiB", "2 MiB", "4 MiB")
# For each kind of scenario: fewest and most links, share of links with loss, whether buffers are
# large, and further random keys.
KINDS: dict[str, tuple[int, int, float, bool, str]] = {
    "tcp": (1, 1, 0.0, True, ""),
    "tcp, loss": (1, 1, 1.0, True, ""),
    "tcp, small window": (1, 1, 0.0, False, ""),
    "tcp, short transfer": (1, 1, 0.4, True, "size"),
    "tcp, 1 to 5 competitors": (1, 1, 0.4, True, "competitor"),
    "mptcp": (2, 8, 0.0, True, ""),
    "mptcp, loss": (2, 8, 0.8, True, ""),
    "mptcp, outage": (2, 4, 0.0, True, "outage"),
    "mptcp, short transfer": (2, 4, 0.4, True, "size"),
    "mptcp, small window": (2, 8, 0.0, False, ""),
    "mptcp, small window, loss": (2, 8, 0.8, False, ""),
    "mptcp, other scheduler": (2, 8, 0.4, False, "scheduler"),
    "mptcp, profile rfc": (2, 4, 0.4, False, "profile"),
    "mptcp, coupled": (2, 8, 0.0, True, "coupled"),
    "mptcp, coupled, loss": (2, 8, 0.8, True, "coupled"),
    "mptcp, one link shared": (2, 8, 0.0, True, "shared"),
}


def scenarios(kind: str) -> Iterator[ropewalk.Scenario]:
    """Draw the scenarios of a kind, always the same."""
    draw = random.Random(f"{SEED} {kind}")
    fewest, most, lossy, large, extra = KINDS[kind]
    for _ in range(EACH):
        count = draw.randint(fewest, most)
        seconds = draw.choice((5, 10, 20, 30))
        lines = [f'duration = "{seconds} s"']
        for number in range(count):
            lines += [
                f'[[link]]\nname = "l{number}"',
                f'rate = "{10 ** draw.uniform(0.3, 1.7):.2f} Mbit/s"',
                f'delay = "{10 ** draw.uniform(0.3, 2):.1f} ms"',
                f'queue = "{draw.choice((0.5, 1, 1, 1, 2))} bdp"',
            ]
            if draw.random() < lossy:
                lines.append(f'loss = "{10 ** draw.uniform(-2, 0.3):.3f} %"')
            if extra == "outage" and number == 0:
                begin = draw.uniform(1, 0.6 * seconds)
                lines.append(f'down = [["{begin:.2f} s", "{begin + draw.uniform(0.3, 3):.2f} s"]]')
        lines += _rest(draw, count, large, extra)
        yield ropewalk.Scenario("\n".join(lines), name=kind)


def _rest(draw: random.Random, count: int, large: bool, extra: str) -> Iterator[str]:
    if extra == "shared":
        rate = 10 ** draw.uniform(0.5, 1.7)
        yield f'[[link]]\nname = "back"\nrate = "{rate:.2f} Mbit/s"\ndelay = "5 ms"'
        for number in range(count):
            yield f'[[path]]\nname = "p{number}"\nhops = ["l{number}", "back"]'
    received = draw.choice(("6 MiB", "16 MiB")) if large else draw.choice(SMALL)
    sent = draw.choice(("4 MiB", "16 MiB")) if large else draw.choice((received, *SMALL[2:]))
    yield f'[transport]\nreceive_buffer = "{received}"\nsend_buffer = "{sent}"'
    alone = draw.choice(("cubic", "newreno"))
    if extra == "coupled":
        yield f'congestion = "{draw.choice(COUPLED)}"'
    elif count > 1:
        yield f'congestion = "uncoupled"\nsubflow = "{alone}"'
    else:
        yield f'congestion = "{alone}"'
    if extra == "profile":
        yield 'profile = "rfc"'
    elif extra == "scheduler":
        others = ("round-robin", "weighted", "redundant", "blest", "ecf")
        yield f'scheduler = "{draw.choice(others)}"'
    elif extra == "size":
        yield f'[traffic]\nkind = "bulk"\nsize = "{10 ** draw.uniform(-1, 1.5):.2f} MB"'
    elif extra == "competitor":
        yield f'[[competitor]]\npath = "l0"\ncount = {draw.choice((1, 2, 5))}'


def predicted(scenario: ropewalk.Scenario) -> float:
    """Return the fluid model's goodput, Mbit/s."""
    return fluid.run(scenario.setup)[0].goodput * 8e-6


def simulated(scenario: ropewalk.Scenario, runs: int) -> float:
    """Return the mean goodput of some runs, Mbit/s."""
    goodput: float = ropewalk.simulate(scenario, runs=runs).mean["goodput_mbps"]
    return goodput


@cache
def errors(kind: str) -> list[float]:
    """Return predicted over simulated goodput less 1, for each scenario of a kind."""
    found = []
    for scenario in scenarios(kind):
        runs = RUNS if "loss =" in scenario.text else 1
        found.append(predicted(scenario) / simulated(scenario, runs) - 1)
    return found


@cache
def subsets(buffer: str) -> pl.DataFrame:
    """Return both goodputs for subsets of the train's eight links, 10 s, with one buffer size."""
    train = ropewalk.Scenario.load(ROOT / "scenarios/trains/eight-links.toml").with_(
        {
            "duration": "10 s",
            "transport.receive_buffer": buffer,
            "transport.send_buffer": buffer,
        }
    )
    rows = []
    for count in range(1, len(train.links) + 1):
        for chosen in itertools.combinations(train.links, count):
            scenario = train.with_({"transport.paths": list(chosen)})
            rows.append((list(chosen), predicted(scenario), simulated(scenario, 1)))
    return pl.DataFrame(rows, schema=["links", "predicted", "simulated"], orient="row")


def tables() -> list[Table]:
    kinds = []
    for kind in KINDS:
        apart = 100 * np.abs(errors(kind))
        kinds.append(
            {
                "kind": kind,
                "scenarios": len(apart),
                "mean error %": float(apart.mean()),
                "median %": float(np.median(apart)),
                "95 % below %": float(np.quantile(apart, 0.95)),
                "bias %": float(100 * np.mean(errors(kind))),
            }
        )
    ranks = []
    for buffer in ("256 KiB", "1 MiB", "4 MiB", "16 MiB"):
        frame = subsets(buffer)
        chosen = frame.row(frame["predicted"].arg_max(), named=True)
        apart = (frame["predicted"] / frame["simulated"] - 1).abs()
        ranks.append(
            {
                "buffers": buffer,
                "best subset Mbit/s": frame["simulated"].max(),
                "chosen subset": chosen["simulated"],
                "links in it": len(chosen["links"]),
                "all eight": frame["simulated"][-1],
                "rank correlation": frame.select(
                    pl.corr("predicted", "simulated", method="spearman")
                ).item(),
                "mean error %": 100 * apart.mean(),
            }
        )
    percent = dict.fromkeys(("mean error %", "median %", "95 % below %"), ".1f")
    rates = dict.fromkeys(("best subset Mbit/s", "chosen subset", "all eight"), ".1f")
    return [
        Table(
            "fluid-kinds",
            "Goodput by the fluid model beside simulations",
            pl.DataFrame(kinds),
            percent | {"bias %": "+.1f"},
        ),
        Table(
            "fluid-subsets",
            "The 255 subsets of a train's eight links, ranked",
            pl.DataFrame(ranks),
            percent | rates | {"rank correlation": ".2f"},
        ),
    ]


if __name__ == "__main__":
    for table in tables():
        table.print()
