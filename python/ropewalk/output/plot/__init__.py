"""Pictures of results: goodput, windows, delays, buffers, airtime, shares of links.

Each function takes `Results` and returns a matplotlib figure, which notebooks display. It needs no
display and changes no global state. `save` writes a figure as PNG, SVG or PDF. All but `delays`,
`shares` and `airtime` need a timeline: run with ``step``.

Arguments common to most functions are ``results`` (runs, with a timeline where needed), ``seed``
(run to show; by default the means of all runs, with a band for their 95 % interval by Student's
t), ``ax`` (axes to draw on, which keep their settings and are returned) and ``width``
(``"column"`` or ``"page"`` of a paper). They raise ValueError if there is no run with this seed,
or no data for the picture.
"""

from .export import FORMATS, check_format, save
from .over_keys import heat_map, hull, series
from .runs import (
    airtime,
    delays,
    flows,
    goodput,
    overview,
    player_buffer,
    reorder_buffer,
    shares,
    windows,
)

__all__ = [
    "FORMATS",
    "airtime",
    "check_format",
    "delays",
    "flows",
    "goodput",
    "heat_map",
    "hull",
    "overview",
    "player_buffer",
    "reorder_buffer",
    "save",
    "series",
    "shares",
    "windows",
]
