"""Least cost at which writes meet their deadlines, over links of known capacity.

This bounds the scheduler cheapest-in-time and any other. Data is a fluid that may be divided over
links at will. Data leave after they are written, each link sends in order, and the last byte
arrives half the smallest round trip after it left the bottleneck. Units are bytes, seconds from
the start, and prices per byte. Functions raise `ValueError` for arguments out of bounds.

If everything is written at once, the data that a link carries in time are independent sets of a
scheduling matroid (Lawler, "Combinatorial Optimization", 1976, section 7.5), and `first_fit` is
optimal. With later writes it is not: it leaves the expensive link idle during an early write, and
both may be too slow for the next. `least_cost` is right for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..support.deprecation import renamed
from ..support.optional_deps import require
from .arguments import Floats, Vector, number, numbers

Carried: TypeAlias = Callable[[Vector], Vector]
"""Function of times to the bytes that a link carries from the start until then; times may be
negative.
"""

EXACT = 1e-9  # share of the written bytes below which an unassigned rest is rounding
NEAR = 1e-6  # tolerance of a lateness, relative and in seconds
DOUBLINGS = 60

__getattr__ = renamed(__name__, {"Link": "PricedLink"})


def at_rate(rate: float) -> Carried:
    """Return the capacity function of a link with a constant rate, for `PricedLink.carried`.

    Parameters
    ----------
    rate : float
        Bytes per second, at least 0.

    Examples
    --------
    >>> at_rate(1000)(np.array([-1.0, 0.0, 2.0])).tolist()
    [0.0, 0.0, 2000.0]
    """
    steady = number("rate", rate, least=0)

    def carried(times: Vector) -> Vector:
        reached: Vector = steady * np.maximum(times, 0.0)
        return reached

    return carried


def by_trace(opportunities: ArrayLike, size: float = 1500.0) -> Carried:
    """Return the capacity function, for `PricedLink.carried`, of a link that sends at given times.

    Parameters
    ----------
    opportunities : array_like, shape (n,)
        Sending times, seconds, at least 0 and in order; the last one, above 0, is also the period
        of the trace, as in mahimahi's format.
    size : float
        Bytes per opportunity, above 0.

    Examples
    --------
    >>> by_trace([0.5, 1.0])(np.array([0.4, 0.5, 1.0, 1.5])).tolist()
    [0.0, 1500.0, 3000.0, 4500.0]
    """
    times = numbers("opportunities", opportunities, least=0)
    _in_order("opportunities", times)
    each = number("size", size, above=0)
    period = number("the last of opportunities", float(times[-1]), above=0)

    def carried(at: Vector) -> Vector:
        rounds, rest = np.divmod(np.maximum(at, 0.0), period)
        within = np.searchsorted(times, rest, side="right")
        return np.asarray(each * (rounds * times.size + within), np.float64)

    return carried


@dataclass(frozen=True)
class PricedLink:
    """One link, or the subflow over it.

    Attributes
    ----------
    price : float
        Per byte, at least 0.
    rtt_min : float
        Smallest round trip, seconds, at least 0.
    carried : callable
        Capacity, from `at_rate` or `by_trace`.
    queue : float
        Bytes in its queue at the start, at least 0.
    """

    price: float
    rtt_min: float
    carried: Carried
    queue: float = 0.0


@dataclass(frozen=True)
class Writes:
    """Writes of the application.

    Attributes
    ----------
    sizes : numpy.ndarray, shape (k,)
        Bytes of each write, at least 0.
    written : numpy.ndarray, shape (k,)
        Time of each write, seconds, in order.
    deadlines : numpy.ndarray, shape (k,)
        Latest arrival of each write, seconds, in order.
    """

    sizes: Vector
    written: Vector
    deadlines: Vector

    @classmethod
    def of(cls, sizes: ArrayLike, written: ArrayLike, deadlines: ArrayLike) -> Writes:
        """Return writes with checked numbers.

        Parameters
        ----------
        sizes, written, deadlines : array_like, shape (k,)
            As the attributes; a scalar `written` applies to all writes.
        """
        amounts = numbers("sizes", sizes, least=0)
        since = numbers("written", written, amounts.size, least=0)
        due = numbers("deadlines", deadlines, amounts.size, least=0)
        _in_order("written", since)
        _in_order("deadlines", due)
        return cls(amounts, since, due)

    def later(self, lateness: float) -> Writes:
        """Return the same writes with deadlines that are later by some seconds."""
        return Writes(self.sizes, self.written, self.deadlines + lateness)


@dataclass(frozen=True)
class Division:
    """Bytes of each write by link.

    Attributes
    ----------
    amounts : numpy.ndarray, shape (n, k)
        Bytes of each of k writes on each of n links.
    cost : float
        Sum of bytes times prices.
    """

    amounts: Floats
    cost: float

    @property
    def shares(self) -> Vector:
        """Share of all bytes on each link; 0 if nothing was written."""
        carried: Vector = self.amounts.sum(axis=1)
        return carried / max(float(carried.sum()), 1.0)


def least_cost(writes: Writes, links: Sequence[PricedLink]) -> Division | None:
    """Divide writes over links at minimum cost with all in time: a linear programme.

    y[s,k] are the bytes of write k on link s, and w[s,k] is the position in the capacity of s at
    which the last of them leaves, with the constraints

    - w[s,k] >= w[s,k-1] + y[s,k],
    - w[s,k] >= A_s(written[k]) + y[s,k],
    - w[s,k] <= A_s(deadline[k] - rtt_min[s]/2),
    - sum over s of y[s,k] = size[k].

    Parameters
    ----------
    writes : Writes
    links : sequence of Link
        At least one.

    Returns
    -------
    Division or None
        None if no division delivers every byte in time.

    Examples
    --------
    3 kB are due in 2 s; the cheap link carries 1 kB/s, the expensive one the rest:

    >>> links = [PricedLink(1, 0, at_rate(1000)), PricedLink(10, 0, at_rate(5000))]
    >>> found = least_cost(Writes.of([3000], 0, [2]), links)
    >>> found.amounts.round(6).tolist(), round(found.cost, 6)
    ([[2000.0], [1000.0]], 12000.0)
    """
    require("the least cost in time", "scipy")
    from scipy.optimize import linprog  # slow to load, and needed only here
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    price, ready, limit = _reach(writes, links)
    n, k = ready.shape
    unit = max(float(writes.sizes.max()), 1.0)  # scale of the solver's numbers
    one = eye_array(n * k, format="csr")
    growth = one - kron(eye_array(n), eye_array(k, k=-1))  # w[s,k] - w[s,k-1]
    # scipy-stubs do not know that linprog takes sparse matrices.
    at_most: Any = vstack([hstack([one, -growth]), hstack([one, -one])], format="csr")
    equal: Any = hstack([kron(np.ones((1, n)), eye_array(k)), csr_array((k, n * k))], format="csr")
    highest = np.concatenate([np.tile(writes.sizes, n), limit.ravel()]) / unit
    result = linprog(
        np.concatenate([np.repeat(price, k), np.zeros(n * k)]),
        A_ub=at_most,
        b_ub=np.concatenate([-_first_column(_queues(links), k).ravel(), -ready.ravel()]) / unit,
        A_eq=equal,
        b_eq=writes.sizes / unit,
        bounds=[(0.0, most) for most in highest],
        method="highs",
        options={"primal_feasibility_tolerance": EXACT},
    )
    if result.status == 2:  # infeasible
        return None
    if result.x is None:
        raise ArithmeticError(f"the solver gave up: {result.message}")
    amounts: Floats = result.x[: n * k].reshape(n, k) * unit
    return Division(amounts, float(price @ amounts.sum(axis=1)))


def first_fit(writes: Writes, links: Sequence[PricedLink]) -> Division | None:
    """Divide writes over links, each on the cheapest that is in time.

    In order of deadlines, as much as arrives in time is put on the cheapest link, the rest on the
    next. At the cost of `least_cost` if everything is written at once.

    Parameters
    ----------
    writes, links
        As in `least_cost`.

    Returns
    -------
    Division or None
        None if a byte finds no link in time.

    Examples
    --------
    Two links of 1 kB/s, and writes at 0 and 1 s with deadlines at 2 and 3 s. First-fit puts the
    first write on the cheap link alone, and only 3 of the second's 4 kB fit; an even division
    meets both deadlines:

    >>> links = [PricedLink(1, 0, at_rate(1000)), PricedLink(10, 0, at_rate(1000))]
    >>> writes = Writes.of([2000, 4000], [0, 1], [2, 3])
    >>> first_fit(writes, links) is None, least_cost(writes, links).shares.round(6).tolist()
    (True, [0.5, 0.5])
    """
    price, ready, limit = _reach(writes, links)
    reached = _queues(links)
    amounts = np.zeros_like(ready)
    by_price = np.argsort(price, kind="stable")
    for write, size in enumerate(writes.sizes):
        left = float(size)
        for link in by_price:
            begin = max(reached[link], ready[link, write])
            taken = min(left, limit[link, write] - begin)
            if taken > 0:
                amounts[link, write] = taken
                reached[link] = begin + taken
                left -= taken
        if left > EXACT * max(float(writes.sizes.sum()), 1.0):
            return None
    return Division(amounts, float(price @ amounts.sum(axis=1)))


def least_lateness(writes: Writes, links: Sequence[PricedLink]) -> float:
    """Return the least extension of all deadlines at which all writes are in time.

    Parameters
    ----------
    writes, links
        As in `least_cost`.

    Returns
    -------
    float
        Seconds; 0 if all are in time already. At most 1e-6 (relative, or in seconds) too large.

    Raises
    ------
    ValueError
        As in `least_cost`, or the links never carry all writes.

    Examples
    --------
    3 kB over 1 kB/s with a deadline at 2 s:

    >>> late = least_lateness(Writes.of([3000], 0, [2]), [PricedLink(1, 0, at_rate(1000))])
    >>> round(late, 5)
    1.0
    """
    if least_cost(writes, links) is not None:
        return 0.0
    low, high = 0.0, 0.001
    for _ in range(DOUBLINGS):
        if least_cost(writes.later(high), links) is not None:
            break
        low, high = high, 2 * high
    else:
        raise ValueError("the links never carry all written data")
    while high - low > NEAR * max(high, 1.0):
        middle = (low + high) / 2
        if least_cost(writes.later(middle), links) is None:
            low = middle
        else:
            high = middle
    return high


def _reach(writes: Writes, links: Sequence[PricedLink]) -> tuple[Vector, Floats, Floats]:
    """Return prices, and each link's earliest start and latest end for each write.

    A write whose deadline precedes its earliest arrival gets a limit at the link's current
    position.
    """
    if not links:
        raise ValueError("links is empty: must have at least one")
    price = numbers("price", [link.price for link in links], least=0)
    rtt = numbers("rtt_min", [link.rtt_min for link in links], least=0)
    ready = np.stack([link.carried(writes.written) for link in links])
    ready = np.maximum(ready, _queues(links)[:, None])
    gone = [
        link.carried(writes.deadlines - half) for link, half in zip(links, rtt / 2, strict=True)
    ]
    return price, ready, np.maximum(np.stack(gone), ready)


def _queues(links: Sequence[PricedLink]) -> Vector:
    return numbers("queue", [link.queue for link in links], least=0)


def _first_column(values: Vector, count: int) -> Floats:
    """Return the values in the first of `count` columns, zeros in the others."""
    columns = np.zeros((values.size, count))
    columns[:, 0] = values
    return columns


def _in_order(name: str, values: Vector) -> None:
    if (np.diff(values) < 0).any():
        first = int(np.argmax(np.diff(values) < 0)) + 1
        raise ValueError(
            f"{name}[{first}] is {values[first]:g}: must be at least {values[first - 1]:g}, "
            "the one before"
        )
