"""Section of a report on simulated or testbed runs."""

from __future__ import annotations

from ...results import Results
from ...results.folders import ResultFolder
from ..storage.runs import restore
from ..tables.runs import entry_tables, summary_lines
from . import common_parts, credibility
from .over_time import pictures
from .section import Facts, Part, Section, Table
from .tables import of_listing

KINDS = {
    "simulate": "Simulated packet by packet, in virtual time",
    "testbed": "Measured on this kernel's own TCP and MPTCP, over emulated links",
}


def section(stored: ResultFolder) -> Section:
    """Return the section on runs of one scenario."""
    ran = restore(stored)
    return Section(
        stored.scenario.title,
        KINDS.get(stored.engine, stored.engine),
        (
            common_parts.introduction(stored),
            Part("In short", (Facts(tuple(summary_lines(ran))),)),
            common_parts.scenario_part(stored.scenario),
            Part("Pictures", tuple(pictures(ran))),
            Part("Numbers", tuple(tables(ran))),
            credibility.runs_credibility(ran),
            common_parts.origin_part(stored),
        ),
    )


def tables(ran: Results) -> list[Table]:
    """Return the applicable tables: subflows, links, flows, radios."""
    halves = {each.what: each for each in entry_tables(ran.ci95)} if ran.ci95 else {}
    return [of_listing(each, halves.get(each.what)) for each in entry_tables(ran.mean)]
