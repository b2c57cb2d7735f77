"""Pictures of results: goodput, windows, delays, buffers, airtime, shares of links.

Each function takes `Results` and returns a matplotlib figure, which notebooks display. It needs no
display and changes no global state. `save` writes a figure as PNG, SVG or PDF. All but `delays`,
`shares` and `airtime` need a timeline: run with ``step``.

For several runs a picture shows means with bands: the 95 % interval of the mean by Student's t.
``seed`` selects one run. ``ax`` draws on your axes and returns them. ``width`` draws for a paper,
``"column"`` or ``"page"`` wide.
"""

from .export import FORMATS, check_format, save
from .over_keys import heat_map, hull, series
from .over_time import flows, goodput, overview, player_buffer, reorder_buffer, windows
from .totals import airtime, delays, shares

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
