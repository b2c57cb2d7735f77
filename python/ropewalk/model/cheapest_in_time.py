"""The least price at which writes arrive by their deadlines, over links of known capacity.

What scheduler cheapest-in-time aims at, and no scheduler can undercut. Data is a fluid: a write
may be divided over the links at will. It leaves no sooner than it was written, each link sends
what it is given in order, and the last byte is at the receiver half a smallest round trip after it
left the bottleneck. Sizes are bytes, times seconds from the beginning, prices per byte.

With everything written at once, what one link carries in time are the independent sets of a
scheduling matroid (Lawler, "Combinatorial Optimization", 1976, section 7.5), nested by deadline:
`first_fit` is then the optimum. With writes that come over time it is not: it leaves the dear link
idle while the cheap one carries an early write, and both may then be too slow for the next.
`least_cost` is right for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..support.optional_deps import need
from .arguments import Floats, Vector, number, numbers

Carried: TypeAlias = Callable[[Vector], Vector]
"""Bytes that a link carries from the beginning to each of some times, which may be below 0."""

EXACT = 1e-9  # share of the bytes written below which a rest without a link is rounding
NEAR = 1e-6  # tolerance of a lateness, relative and in seconds
DOUBLINGS = 60


def at_rate(rate: float) -> Carried:
    """Return what a link of a constant rate carries.

    Parameters
    ----------
    rate : float
        Bytes per second, at least 0.

    Returns
    -------
    callable
        For `Link.carried`.

    Raises
    ------
    ValueError
        The rate is out of bounds.

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
    """Return what a link carries that may send at given times, over and over.

    Parameters
    ----------
    opportunities : array_like, shape (n,)
        When it may send, seconds, at least 0 and in order; the last one, above 0, is also how long
        the trace lasts until it begins anew, as in mahimahi's format.
    size : float
        Bytes that each carries, above 0.

    Returns
    -------
    callable
        For `Link.carried`.

    Raises
    ------
    ValueError
        An argument is out of bounds or out of order.

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
class Link:
    """One link, or the subflow over it.

    Attributes
    ----------
    price : float
        Per byte, at least 0.
    rtt_min : float
        Its smallest round trip, seconds, at least 0.
    carried : callable
        What it carries, of `at_rate` or `by_trace`.
    queue : float
        Bytes that wait for it at the beginning, at least 0.
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
        When each was written, seconds, in order.
    deadlines : numpy.ndarray, shape (k,)
        When each is to be with the receiver, seconds, in order.
    """

    sizes: Vector
    written: Vector
    deadlines: Vector

    @classmethod
    def of(cls, sizes: ArrayLike, written: ArrayLike, deadlines: ArrayLike) -> Writes:
        """Return writes whose numbers were checked.

        Parameters
        ----------
        sizes, written, deadlines : array_like, shape (k,)
            As the attributes; `written` may be a scalar, which stands for all.

        Returns
        -------
        Writes
            The writes.

        Raises
        ------
        ValueError
            A number is out of bounds or out of order, or there are too many or too few.
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
        """Share of all bytes that each link carries; 0 where nothing was written."""
        carried: Vector = self.amounts.sum(axis=1)
        return carried / max(float(carried.sum()), 1.0)


def least_cost(writes: Writes, links: Sequence[Link]) -> Division | None:
    """Divide writes over links so that all are in time at the least cost: a linear programme.

    y[s,k] are the bytes of write k on link s, w[s,k] how far s has come in what it carries when
    the last of them leaves: w[s,k] >= w[s,k-1] + y[s,k], w[s,k] >= A_s(written[k]) + y[s,k],
    w[s,k] <= A_s(deadline[k] - rtt_min[s]/2), sum over s of y[s,k] = size[k].

    Parameters
    ----------
    writes : Writes
        Writes of the application.
    links : sequence of Link
        At least one.

    Returns
    -------
    Division or None
        None where no division brings every byte in time.

    Raises
    ------
    ValueError
        There is no link, or one of a negative price, round trip or queue.

    Examples
    --------
    3 kB are due in 2 s; the cheap link carries 1 kB/s, the dear one what is left:

    >>> links = [Link(1, 0, at_rate(1000)), Link(10, 0, at_rate(5000))]
    >>> found = least_cost(Writes.of([3000], 0, [2]), links)
    >>> found.amounts.round(6).tolist(), round(found.cost, 6)
    ([[2000.0], [1000.0]], 12000.0)
    """
    need("the cheapest division in time", "scipy")
    from scipy.optimize import linprog  # slow to load, and nothing else here needs it
    from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

    price, ready, limit = _reach(writes, links)
    n, k = ready.shape
    unit = max(float(writes.sizes.max()), 1.0)  # so that the solver sees numbers near 1
    one = eye_array(n * k, format="csr")
    growth = one - kron(eye_array(n), eye_array(k, k=-1))  # w[s,k] - w[s,k-1]
    # scipy-stubs know of no sparse matrix here, which linprog takes.
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


def first_fit(writes: Writes, links: Sequence[Link]) -> Division | None:
    """Divide writes over links, each on the cheapest that still brings it in time.

    In order of deadlines, as much of each as arrives in time goes on the cheapest link, what is
    left on the next. At the cost of `least_cost` if everything is written at once.

    Parameters
    ----------
    writes, links
        As in `least_cost`.

    Returns
    -------
    Division or None
        None where some byte finds no link in time.

    Raises
    ------
    ValueError
        As in `least_cost`.

    Examples
    --------
    Two links of 1 kB/s, and writes at 0 and 1 s that are due at 2 and 3 s. All would be in time if
    both links carried half of the first one; first-fit has it on the cheap one alone, and of the 4
    kB of the second only 3 find room:

    >>> links = [Link(1, 0, at_rate(1000)), Link(10, 0, at_rate(1000))]
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


def least_lateness(writes: Writes, links: Sequence[Link]) -> float:
    """Return by how much every deadline must be later for all to be in time.

    Parameters
    ----------
    writes, links
        As in `least_cost`.

    Returns
    -------
    float
        Seconds, 0 where all are in time as it is; else from above within 1e-6 of itself, or 1e-6
        s.

    Raises
    ------
    ValueError
        As in `least_cost`, or the links never carry what was written.

    Examples
    --------
    3 kB over 1 kB/s that are due in 2 s:

    >>> late = least_lateness(Writes.of([3000], 0, [2]), [Link(1, 0, at_rate(1000))])
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
        raise ValueError("links carry too little: what was written never arrives")
    while high - low > NEAR * max(high, 1.0):
        middle = (low + high) / 2
        if least_cost(writes.later(middle), links) is None:
            low = middle
        else:
            high = middle
    return high


def _reach(writes: Writes, links: Sequence[Link]) -> tuple[Vector, Floats, Floats]:
    """Prices; how far each link is when each write comes, and at most when it must be gone.

    A write that is due before it could arrive at all has no room: its limit is where the link
    stands.
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


def _queues(links: Sequence[Link]) -> Vector:
    return numbers("queue", [link.queue for link in links], least=0)


def _first_column(values: Vector, count: int) -> Floats:
    """Values in the first of `count` columns, zeros in the others."""
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
