"""Registry of items, and their reproduction."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..engines.simulate import check_runs
from ..provenance import Stopwatch
from ..support.suggestion import closest_match

if TYPE_CHECKING:
    from ..analysis.reproduction import Reproduction


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper, identified by ``"song-2018"`` and ``"fig9"``.

    `module` and `function` reproduce it. `runs` is the default number of simulated runs of each
    scenario; None without simulations. `folder` names the option that gives the item a folder of
    the user's data.
    """

    paper: str
    name: str
    title: str
    module: str
    runs: int | None = None
    function: str = "reproduce"
    folder: str | None = None


# To add an item, add a file with a function `reproduce` and a line here. Several items in one file
# name their functions. A function takes no arguments if `runs` is None, else `seed`, `runs` and
# `progress`, and the option that `folder` names. For mesh statistics, `runs` are deployments.
ITEMS = (
    Item("song-2018", "equations", "equations against sums and orders", "song2018.equations"),
    Item("song-2018", "mechanisms", "the virtual network device", "song2018.mechanisms"),
    Item("song-2018", "fig1", "round trips and rates in a train", "song2018.fig1"),
    Item("song-2018", "first_arrival", "order of arrivals", "song2018.first_arrival", runs=1),
    Item("song-2018", "fig6", "models against the simulator", "song2018.fig6", runs=3),
    Item("song-2018", "fig8", "a download in a train", "song2018.fig8", 5, folder="traces"),
    Item("song-2018", "fig9", "throughput over both asymmetries", "song2018.fig9"),
    Item("song-2018", "fig10", "throughput over delay asymmetry", "song2018.fig10"),
    Item("elahi-2011", "equations", "equations against exact sums", "elahi2011.equations"),
    Item("elahi-2011", "mechanisms", "striping and reassembly", "elahi2011.mechanisms"),
    Item("elahi-2011", "table1", "transmission rates of six systems", "elahi2011.table1", runs=5),
    Item("elahi-2011", "fig3", "probability of n packets", "elahi2011.fig3"),
    Item("elahi-2011", "fig4", "probability of at most n packets", "elahi2011.fig4"),
    Item("elahi-2011", "fig5", "the rates of table 1 as a picture", "elahi2011.fig5", runs=5),
    Item("gomez-2014", "equations", "windows against the equations", "gomez2014.equations"),
    Item("gomez-2014", "mechanisms", "MPTCP over two links", "gomez2014.mechanisms"),
    Item("elahi-2011", "text", "statements of the text", "elahi2011.claims", runs=1),
    Item("elahi-2011", "transient", "the queue before its steady state", "elahi2011.over_time"),
    Item("gomez-2014", "fig3a", "TCP over two radio hops", "gomez2014.fig3", 10, "fig3a"),
    Item("gomez-2014", "fig3b", "MPTCP on one channel", "gomez2014.fig3", 10, "fig3b"),
    Item("gomez-2014", "fig3c", "MPTCP on two channels", "gomez2014.fig3", 10, "fig3c"),
    Item("gomez-2014", "fig3d", "the same, fully coupled", "gomez2014.fig3", 60, "fig3d"),
    Item("gomez-2014", "fig4", "throughput over lossy links", "gomez2014.fig4", 50),
    Item("gomez-2014", "fig5", "shares under unequal errors", "gomez2014.fig5", 50),
    Item("gomez-2014", "fig6", "two routes through 16 nodes", "gomez2014.mesh", 100, "fig6"),
    Item("gomez-2014", "fig7", "how often a mesh has two routes", "gomez2014.mesh", 1000, "fig7"),
    Item("gomez-2014", "fig8", "how many routes a mesh has", "gomez2014.mesh", 1000, "fig8"),
    Item("gomez-2014", "fig9", "how long they are", "gomez2014.mesh", 1000, "fig9"),
    Item(
        "gomez-2014",
        "fig10",
        "TCP and MPTCP over two routes",
        "gomez2014.fig10",
        1,
        folder="deployments",
    ),
    Item("alheid-2016", "equations", "path loss", "alheid2016.equations"),
    Item("alheid-2016", "mechanisms", "reordering without losses", "alheid2016.mechanisms"),
    Item("alheid-2016", "table3", "out-of-order segments", "alheid2016.tables", 5, "table3"),
    Item("alheid-2016", "table4", "stored out-of-order data", "alheid2016.tables", 5, "table4"),
    Item("alheid-2016", "fig3", "policies, 54 and 54 Mbit/s", "alheid2016.figures", 5, "fig3"),
    Item("alheid-2016", "fig4", "policies, 2 and 2 Mbit/s", "alheid2016.figures", 5, "fig4"),
    Item("alheid-2016", "fig5", "policies, 54 and 2 Mbit/s", "alheid2016.figures", 5, "fig5"),
    Item("alheid-2016", "fig6", "policies, 6 and 2 Mbit/s", "alheid2016.figures", 5, "fig6"),
    Item("park-2014", "equations", "equations against searches", "park2014.equations"),
    Item("park-2014", "delay", "bounds on the delay, greedy split", "park2014.delay", runs=1),
    Item("park-2014", "fig2", "delay of conventional MPTCP and of TSC", "park2014.fig2", 20),
    Item("park-2014", "fig3", "round trips on Wi-Fi", "park2014.fig3", 20),
    Item("park-2014", "fig4", "cost, and rate over capacity", "park2014.fig4", 20),
    Item("park-2014", "fig5", "peak of rate over capacity", "park2014.fig5", 20),
)


def items() -> tuple[Item, ...]:
    """List the tables and figures that can be reproduced.

    Returns
    -------
    tuple of Item
        Grouped by paper.

    Examples
    --------
    >>> [item.name for item in items() if item.paper == "song-2018"][:2]
    ['equations', 'mechanisms']
    """
    return ITEMS


def reproduce(
    paper: str,
    item: str,
    *,
    seed: int | None = None,
    runs: int | None = None,
    traces: str | os.PathLike[str] | None = None,
    deployments: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Reproduction:
    """Reproduce a table or figure of a paper.

    Parameters
    ----------
    paper, item : str
        Identification as in `items`.
    seed : int, optional
        Seed of the first simulated run, 0 to 2^64 - 1 (1). Only for simulated items.
    runs : int, optional
        Runs of each scenario, with consecutive seeds. Default: the item's number. Only for
        simulated items.
    traces : path, optional
        Folder of recorded links, instead of drawn ones, for items that take it (song-2018 fig8).
        ``NAME.down`` has the times in ms at which 1500 bytes may leave (mahimahi's format),
        ``NAME.rtt`` lines with a time and the round trip from then on, both in ms.
    deployments : path, optional
        Folder with `nodes.csv` and `routes.csv`, in place of random deployments. Only for
        gomez-2014 fig10.
    progress : callable, optional
        Called with the finished and the total number of runs.

    Returns
    -------
    Reproduction
        Published values and ours, open choices, data and picture.

    Raises
    ------
    ValueError
        The paper or item is unknown, a number is out of range, an option is given for an item
        that does not take it, or a file of a folder is wrong: the message names file and line.
    OSError
        A file of a folder cannot be read.

    Examples
    --------
    >>> import ropewalk
    >>> made = ropewalk.reproduce("song-2018", "fig9")
    >>> made.comparisons[0].published
    1.8
    """
    began = Stopwatch()
    found = find(paper, item)
    make = getattr(import_module(f"{__package__}.{found.module}"), found.function)
    made: Reproduction
    folders = {"traces": traces, "deployments": deployments}
    given = {name: Path(folder) for name, folder in folders.items() if folder is not None}
    for name, folder in given.items():
        if found.folder != name:
            takers = [f"{each.paper} {each.name}" for each in ITEMS if each.folder == name]
            raise ValueError(
                f"{name} = {folder}: {paper} {item} takes none; allowed: with {', '.join(takers)}"
            )
    if found.runs is None:
        for name, value in (("seed", seed), ("runs", runs)):
            if value is not None:
                raise ValueError(f"{name} = {value}: nothing in {paper} {item} is simulated")
        made = make()
        return replace(made, origin=began.origin())
    seed, runs = check_runs(1 if seed is None else seed, found.runs if runs is None else runs)
    made = make(seed=seed, runs=runs, progress=progress, **given)
    seeds = range(seed, seed + runs)
    return replace(made, origin=began.of_several(made.scenarios, seeds))


def find(paper: str, item: str) -> Item:
    """Return an item by name; ValueError names the nearest if it is unknown.

    Examples
    --------
    >>> find("song-2081", "fig9")
    Traceback (most recent call last):
    ValueError: song-2081: no such paper; did you mean song-2018?
    """
    of_paper = [each for each in ITEMS if each.paper == paper]
    if not of_paper:
        papers = list(dict.fromkeys(each.paper for each in ITEMS))
        raise ValueError(f"{paper}: no such paper{_nearest(paper, papers)}")
    for each in of_paper:
        if each.name == item:
            return each
    names = [each.name for each in of_paper]
    raise ValueError(f"{item}: no such item of {paper}{_nearest(item, names)}")


def _nearest(word: str, known: Sequence[str]) -> str:
    near = closest_match(word, known)
    return f"; did you mean {near}?" if near else f"; there are {', '.join(known)}"
