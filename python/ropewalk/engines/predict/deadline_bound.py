"""Least cost at which all deadlines are met, or least lateness if they cannot be met."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...scenario.setup import Link as WiredLink
from ...scenario.setup import Setup
from ...units import BYTES_TO_MBPS
from .paths import ConnectionPath, paths
from .result import Prediction

if TYPE_CHECKING:
    from ...model.arguments import Vector
    from ...model.cheapest_in_time import Carried, PricedLink
    from ...scenario import Scenario

NAME = "in-time"
SOURCE = (
    "linear programme of ropewalk.model.cheapest_in_time with the links' future capacity and"
    " headers"
)
VALIDITY = (
    "a bound: no scheduler has a lower cost with all data in time, since none knows the links'"
    " future"
)
WRITES = 2000
"""Most writes that are used: the linear programme has four variables per write and link."""
SEED = 1


def predict(scenario: Scenario) -> Prediction | None:
    """Bound cost and lateness of messages with deadlines and of video; None for other traffic.

    The bound has ``cost`` if a link has a price; and the delay ``late_by``, the least extension of
    all deadlines at which no data are late. Of the first run, 2000 writes are used.
    """
    setup = scenario.setup
    span, flow = setup.first.traffic.deadline, setup.first
    written = scenario.writes(SEED, WRITES)
    covered = flow.protocol in ("tcp", "mptcp") or flow.aggregates
    if span is None or written is None or not covered:
        return None
    import numpy as np

    from ...model.cheapest_in_time import Writes, least_cost, least_lateness

    used, links = paths(setup), links_of(setup, scenario.files)
    times, sizes = np.asarray(written[0]), np.asarray(written[1], np.float64)
    packets = np.ceil(sizes / flow.segment)
    writes = Writes.of(sizes + packets * flow.header_bytes, times, times + span)
    try:
        late = least_lateness(writes, links)
    except ValueError:
        warning = "the links never carry all written data"
        return Prediction(NAME, SOURCE, VALIDITY, warnings=(warning,))
    # Rounded up, so that the programme finds the same division despite rounding.
    best = least_cost(writes if late == 0 else writes.later(1.001 * late), links)
    if best is None:
        return None
    length = max(float(times[-1] - times[0]), 1e-9) * times.size / max(times.size - 1, 1)
    has_price = any(link.cost is not None for link in setup.links)
    warnings = [f"of the first {times.size} writes"] * (times.size == WRITES)
    if setup.others:
        warnings.append("other flows use the links: the bound assumes that they do not")
    if late > 0:
        warnings.append(
            f"not all data can be in time: the cost is for deadlines {1e3 * late:.3g} ms later"
        )
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        delay_ms={"late_by": 1e3 * late},
        cost=best.cost / length if has_price else None,
        warnings=tuple(warnings),
        quantities={
            "writes": int(times.size),
            "seed": SEED,
            "paths": [path.name for path in used],
            "shares": best.shares.tolist(),
        },
    )


def links_of(setup: Setup, files: Mapping[str, str]) -> list[PricedLink]:
    """Return the paths of the measured connection as links of the linear programme.

    Each has the bytes that its narrowest hop can carry by any time, and its price per byte, scaled
    so that one second costs price times Mbit/s, as in results. `files` has the scenario's traces
    in mahimahi's format.

    Examples
    --------
    >>> import numpy as np
    >>> import ropewalk
    >>> scenario = ropewalk.Scenario.load("video/wifi-lte")
    >>> links = links_of(scenario.setup, scenario.files)
    >>> links[0].price, links[0].carried(np.array([0.0, 2.0])).tolist()
    (8e-06, [0.0, 750000.0])
    """
    return [_link(setup, path, files) for path in paths(setup)]


def _link(setup: Setup, path: ConnectionPath, files: Mapping[str, str]) -> PricedLink:
    import numpy as np

    from ...model.cheapest_in_time import PricedLink

    hops = [setup.links[hop] for hop in path.hops]
    each = [_carried(hop, files) for hop in hops]

    def carried(times: Vector) -> Vector:
        least = np.min([of_hop(times) for of_hop in each], axis=0)
        return np.asarray((1 - path.loss) * least)

    price = BYTES_TO_MBPS * math.fsum(hop.cost or 0.0 for hop in hops)
    return PricedLink(price, path.rtt, carried)


def _carried(hop: WiredLink, files: Mapping[str, str]) -> Carried:
    import numpy as np

    from ...model.cheapest_in_time import at_rate, by_trace

    forward = hop.forward
    if forward.trace is not None:
        lines = files[forward.trace].split()
        up = by_trace([float(line) / 1e3 for line in lines])
    else:
        up = at_rate(min(forward.rate, UNLIMITED) / 8)

    def carried(times: Vector) -> Vector:
        reached = up(times)
        for begin, end in hop.down:
            lost = up(np.clip(times, begin, end)) - up(np.full_like(times, begin))
            reached = reached - lost
        return reached

    return carried


UNLIMITED = 1e12
"""Substitute for an unlimited rate, bit/s; more than any scenario writes."""
