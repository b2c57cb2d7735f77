"""Reordering: one TCP on a link with jitter, and one TCP striped over links of unequal delay.

    python tests/agreement/reordering.py

prints the tables of docs/reordering.md and updates them and the picture there, in a minute.
"""

from functools import cache

import polars as pl

import ropewalk
from ropewalk.output import plot
from tables import ROOT, Table, write_into_pages

PAGE = ROOT / "docs/reordering.md"
PICTURE = ROOT / "docs/images/undone.png"
# RFC 4653, careful and aggressive.
NCR = {"ncr": '"ncr"', "ncr, aggressive": '{ name = "ncr", aggressive = true }'}
ANSWERS = {
    "none": '"none"',
    "dsack": '"dsack"',
    "eifel": '"eifel"',
    "f-rto": '"f-rto"',
    "tcp-door": '"tcp-door"',
    "linux": '"linux"',
    **NCR,
}
JITTERS_MS = (0, 1, 3, 10)
RUNS = 15
RATES_MBPS = (35.9, 18.4, 33.3, 14.7)
STEPS_MS = (5, 20, 40)


def jittering(jitter_ms: int, transport: str) -> ropewalk.Scenario:
    """Return one TCP over 50 Mbit/s and a round trip of 40 ms, for 20 s."""
    jitter = f'jitter = {{ amount = "{jitter_ms} ms", reorder = true }}' if jitter_ms else ""
    return ropewalk.Scenario(
        f"""
        duration = "20 s"
        [[link]]
        name = "link"
        rate = "50 Mbit/s"
        delay = "20 ms"
        {jitter}
        [transport]
        protocol = "tcp"
        {transport}
        """
    )


# Loss detection: by duplicate ACKs as in the RFCs, or by time as in Linux.
KINDS = {
    "NewReno, RFC 6675": 'profile = "rfc"\ncongestion = "newreno"',
    "NewReno without SACK, RFC 6582": 'profile = "rfc"\ncongestion = "newreno"\nsack = false',
    "CUBIC with RACK, as Linux": 'profile = "linux"',
}


def has(kind: str, answer: str) -> bool:
    """Return whether a response applies: RFC 4653 needs SACK and counted duplicates."""
    return answer not in NCR or kind in ("NewReno, RFC 6675", "ns-3")


@cache
def jitter() -> pl.DataFrame:
    """Return goodput by jitter of each response, mean of some runs, and the detection delay."""
    rows = []
    for kind, transport in KINDS.items():
        for answer, value in ANSWERS.items():
            if not has(kind, answer):
                continue
            row: dict[str, object] = {"TCP": kind, "answer": answer}
            highest = 0
            for jitter_ms in JITTERS_MS:
                scenario = jittering(jitter_ms, f"{transport}\nreordering = {value}")
                results = ropewalk.simulate(scenario, runs=RUNS)
                row[f"{jitter_ms} ms"] = results.mean["goodput_mbps"]
                waited = [run["subflows"][0].get("dupthresh_max", 3) for run in results.runs]
                highest = max(highest, *waited)
            rows.append({**row, "dupthresh": highest})
    return pl.DataFrame(rows)


@cache
def striped() -> pl.DataFrame:
    """Return goodput of 2 MB over two to four links, whose delays increase in steps."""
    rows = []
    for profile in ("ns-3", "linux"):
        for answer, value in ANSWERS.items():
            if answer == "f-rto" or not has(profile, answer):
                continue
            row: dict[str, object] = {"profile": profile, "answer": answer}
            for links in (2, 3, 4):
                for step_ms in STEPS_MS:
                    described = "".join(
                        f'[[link]]\nname = "{link}"\nrate = "{RATES_MBPS[link]} Mbit/s"\n'
                        f'delay = "{50 + link * step_ms} ms"\n'
                        for link in range(links)
                    )
                    scenario = ropewalk.Scenario(
                        f'duration = "300 s"\n{described}[transport]\nprotocol = "striped-tcp"\n'
                        f'profile = "{profile}"\nsack = true\nsegment = "536 B"\n'
                        f'reordering = {value}\n[traffic]\nsize = "2 MB"\n'
                    )
                    results = ropewalk.simulate(scenario)
                    row[f"{links}: {step_ms} ms"] = results.mean["goodput_mbps"]
            rows.append(row)
    return pl.DataFrame(rows)


def draw() -> None:
    """Draw recoveries that are undone: the first 800 ms over 3 ms of jitter."""
    eifel = jittering(3, f'{KINDS["NewReno, RFC 6675"]}\nreordering = "eifel"')
    changes = {"duration": "800 ms", "title": "3 ms of jitter, eifel"}
    results = ropewalk.simulate(eifel.with_(changes), step="1 ms")
    plot.save(plot.windows(results), PICTURE)


def tables() -> list[Table]:
    goodput = {f"{jitter_ms} ms": ".1f" for jitter_ms in JITTERS_MS}
    steps = {f"{links}: {step_ms} ms": ".2f" for links in (2, 3, 4) for step_ms in STEPS_MS}
    return [
        Table("jitter", "Goodput in Mbit/s by jitter, link of 50 Mbit/s", jitter(), goodput),
        Table("striped", "Goodput in Mbit/s by links and step of delay", striped(), steps),
    ]


if __name__ == "__main__":
    for table in tables():
        table.print()
    write_into_pages(tables(), PAGE)
    draw()
