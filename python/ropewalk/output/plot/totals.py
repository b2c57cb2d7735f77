"""Pictures of distributions and totals of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .axes import draw_on, seeds_of

if TYPE_CHECKING:
    from ...results import Results
    from ...results.displayable import Width
    from .axes import On


def delays(
    results: Results,
    *,
    seed: int | None = None,
    label: str | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw the distribution of the delay from the application's write to delivery in order.

    `label` is the name of the curve if several share `ax`. Default on given axes: the last changed
    key.

    Examples
    --------
    >>> import ropewalk
    >>> figure = delays(ropewalk.simulate("start/two-links"))
    >>> figure.axes[0].get_xlabel()
    'delay from write to delivery in order (ms)'
    """
    from . import total_panels

    seeds = seeds_of(results, seed)
    if label is None and ax is not None:
        *_, last = ("", results.scenario.title), *results.scenario.overrides
        label = " ".join(last).strip()
    return draw_on(
        results, ax, width, (6, 4), lambda axes: total_panels.delays(axes, results, seeds, label)
    )


def shares(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw each flow's share of each link, competitors included, and the unused rest.

    Examples
    --------
    >>> import ropewalk
    >>> figure = shares(ropewalk.simulate("start/three-flows"))
    >>> figure.axes[0].get_xlabel()
    "share of the link's traffic (%)"
    """
    from . import total_panels

    seeds = seeds_of(results, seed)
    if not total_panels.has_shares(results):
        raise ValueError("there is only one flow, which shares no link")
    height = 1.6 + 0.4 * results.link_flows["link"].n_unique()
    return draw_on(
        results, ax, width, (9, height), lambda axes: total_panels.shares(axes, results, seeds)
    )


def airtime(
    results: Results,
    *,
    seed: int | None = None,
    ax: On | None = None,
    width: Width | None = None,
) -> On:
    """Draw each 802.11 radio's use of time, as stacked shares.

    Examples
    --------
    >>> import ropewalk
    >>> airtime(ropewalk.simulate("start/two-links"))
    Traceback (most recent call last):
    ValueError: there are no radios: all links are wired
    """
    from . import total_panels

    seeds = seeds_of(results, seed)
    runs = [run for run in results.runs if run["seed"] in seeds]
    if not total_panels.has_radios(runs[0]):
        raise ValueError("there are no radios: all links are wired")
    height = 1.4 + 0.45 * len(runs[0]["radios"])
    return draw_on(results, ax, width, (9, height), lambda axes: total_panels.airtime(axes, runs))
