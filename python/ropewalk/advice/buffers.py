"""How large must the buffers be? Search by simulation for the smallest that lose little."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..prediction.paths import paths as described
from .bench import Bench, Changes, Measured
from .judging import Judge
from .results import Advice, Evidence
from .subsets import Paths, over, settings_for

ENOUGH = 0.95  # of what plenty of buffer gives
LEAST_KIB = 16
MOST_KIB = 256 * 1024
PLENTY = 4  # times the round trip with full queues, at all rates together
HALVINGS = 3  # of the last step of the ladder, a factor of 2: to 9 %
TITLE = "How large must the buffers be?"
RECEIVE, SEND = "transport.receive_buffer", "transport.send_buffer"


def advise_buffers(bench: Bench, judge: Judge, choices: Sequence[tuple[Paths, Changes]]) -> Advice:
    """Find the smallest buffers for the best of some ways to use the links.

    First the smallest receive buffer, with plenty to send from; then the smallest send
    buffer beside it. Each is searched on a ladder of factors of 2 and then between two
    rungs; it and all rungs above it give 95 % of what plenty gives.

    Parameters
    ----------
    bench : Bench
        Simulates.
    judge : Judge
        Compares.
    choices : sequence of (tuple of str, mapping of str to value)
        Paths, and what is set besides. The one that is best with plenty of buffer is
        looked at; the first of equal ones.

    Returns
    -------
    Advice
        Without settings where a link is unlimited, so that no buffer is ever enough, or
        where nothing is delivered.
    """
    values = bench.scenario.values
    every = list(dict.fromkeys(name for paths, _ in choices for name in paths))
    if any(math.isinf(path.rate) for path in described(_with_paths(values, every))):
        return _unanswered(
            "A link is unlimited: it carries what the buffers allow, however large."
        )
    plenty = max(_plenty_kib(values, paths) for paths, _ in choices)
    ways = [{**base, **over(bench.scenario, paths)} for paths, base in choices]
    ample = bench.measure([{**way, **_sizes(plenty, plenty)} for way in ways])
    best = judge.best(ample)
    first = next(number for number, made in enumerate(ample) if judge.as_good(made, best))
    most, fixed = ample[first], ways[first]
    paths, base = choices[first]
    if most.goodput == 0:
        return _unanswered("Nothing is delivered, whatever the buffers.")

    def search(sizes: Callable[[int], Changes]) -> _Search:
        return _search(bench, judge, most, plenty, lambda size: {**fixed, **sizes(size)})

    receive = search(lambda size: _sizes(size, plenty))
    send = search(lambda size: _sizes(receive.size, size))
    present = bench.one(fixed)
    both = send.found
    settings = {
        **settings_for(bench.scenario, paths),
        **base,
        **_sizes(receive.size, send.size),
    }
    rule = _rule(values, paths)
    lost = 1 - present.goodput / most.goodput
    rows = [
        *_rows("receive", receive, lambda size: f"receive {kib(size)}, send plenty"),
        *_rows("send", send, lambda size: f"receive {kib(receive.size)}, send {kib(size)}"),
        Evidence("plenty of both", most.numbers, most.changes, ("plenty",)),
        Evidence(f"as they are: {_present(values)}", present.numbers, fixed, ("present",)),
    ]
    return Advice(
        question="buffers",
        title=TITLE,
        answer=_answer(
            judge, values, choices[first], (receive.size, send.size), both, most, present
        ),
        settings=settings,
        numbers={
            "receive_buffer_bytes": 1024.0 * receive.size,
            "send_buffer_bytes": 1024.0 * send.size,
            "plenty_bytes": 1024.0 * plenty,
            "rule_of_thumb_bytes": rule,
            "goodput_mbps": both.goodput,
            "plenty_mbps": most.goodput,
            "present_mbps": present.goodput,
            "lost_by_present": lost,
        },
        evidence=tuple(rows),
        notes=(
            f"enough is {ENOUGH:.0%} of the goodput with plenty ({kib(plenty)} each)"
            + (f", and a delay of at most 1/{ENOUGH:g} of that" if judge.stream else "")
            + "; searched on a ladder of factors of 2, then between two rungs to 9 %",
            "rule of thumb: 2 x sum of rates x largest round trip (RFC 6182, 5.3), without queues"
            " and losses that time out; buffers larger than needed fill queues and lengthen the"
            " delay",
        ),
    )


def _unanswered(answer: str) -> Advice:
    return Advice("buffers", TITLE, answer)


@dataclass(frozen=True)
class _Search:
    """The smallest size that is enough, in KiB; what it gave; and all that was looked at."""

    size: int
    found: Measured
    tried: dict[int, Measured]


def _search(
    bench: Bench,
    judge: Judge,
    most: Measured,
    plenty: int,
    changes: Callable[[int], Changes],
) -> _Search:
    ladder = [LEAST_KIB * 2**step for step in range(int(math.log2(plenty / LEAST_KIB)) + 1)]
    tried = dict(zip(ladder, bench.measure([changes(size) for size in ladder]), strict=True))

    def enough(size: int) -> bool:
        slow = judge.stream and tried[size].delay > most.delay / ENOUGH
        return tried[size].goodput >= ENOUGH * most.goodput and not slow

    short = [size for size in ladder if not enough(size)]
    low = max(short, default=0)
    high = min((size for size in ladder if size > low), default=plenty)
    for _ in range(HALVINGS if 0 < low < high else 0):
        middle = round(math.sqrt(low * high))
        tried[middle] = bench.one(changes(middle))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _Search(high, tried[high], tried)


def _rows(name: str, search: _Search, what: Callable[[int], str]) -> list[Evidence]:
    return [
        Evidence(
            what(size),
            made.numbers | {f"{name}_buffer_bytes": 1024.0 * size},
            made.changes,
            ("advised",) if size == search.size else (),
        )
        for size, made in sorted(search.tried.items())
    ]


def _with_paths(values: dict[str, Any], paths: Sequence[str]) -> dict[str, Any]:
    return {**values, "transport": values["transport"] | {"paths": list(paths)}}


def _sizes(receive_kib: int, send_kib: int) -> dict[str, str]:
    return {RECEIVE: f"{receive_kib} KiB", SEND: f"{send_kib} KiB"}


def _plenty_kib(values: dict[str, Any], paths: Paths) -> int:
    """Return a power of 2 that no buffer needs to exceed, and at least what is there."""
    used = described(_with_paths(values, paths))
    transport = values["transport"]
    longest = max(
        path.rtt
        + sum(
            8
            * values["link"][hop]["forward"].get("queue", 0)
            / values["link"][hop]["forward"]["rate"]
            for hop in path.hops
            if "rate" in values["link"][hop]["forward"]
        )
        for path in used
    )
    window = sum(path.rate for path in used) / 8 * longest
    needed = max(
        PLENTY * window / transport["receive_window_share"],
        transport["receive_buffer"],
        transport["send_buffer"],
        1024 * LEAST_KIB,
    )
    return min(1 << math.ceil(math.log2(needed / 1024)), MOST_KIB)


def _rule(values: dict[str, Any], paths: Paths) -> float:
    used = described(_with_paths(values, paths))
    return 2 * sum(path.rate for path in used) / 8 * max(path.rtt for path in used)


def _answer(
    judge: Judge,
    values: dict[str, Any],
    way: tuple[Paths, Changes],
    sizes: tuple[int, int],
    both: Measured,
    most: Measured,
    present: Measured,
) -> str:
    paths, base = way
    receive, send = sizes
    used = ", ".join([*paths, *(str(value) for value in base.values())])
    rule = _rule(values, paths)
    share = values["transport"]["receive_window_share"]
    said = (
        f"Over {used}: {kib(receive)} to receive and {kib(send)} to send give"
        f" {both.goodput:,.2f} Mbit/s, {both.goodput / most.goodput:.1%} of what plenty gives"
        f" ({most.goodput:,.2f}). The rule of thumb says {kib(rule / 1024)} each"
    )
    if share < 1:
        said += f" ({kib(rule / share / 1024)} to receive where {share:.0%} of it is advertised)"
    lost = 1 - present.goodput / most.goodput
    said += f". The present ones, {_present(values)}, "
    if abs(lost) < 0.0005:
        said += "cost no goodput"
    elif lost > 0:
        said += f"cost {lost:.1%} of goodput ({present.goodput:,.2f} Mbit/s)"
    else:
        said += f"give {-lost:.1%} more goodput than plenty does ({present.goodput:,.2f} Mbit/s)"
    if math.isfinite(both.delay) and math.isfinite(present.delay):
        what = "messages" if judge.stream else "the data"
        said += (
            f". 95 % of {what} take at most {present.delay:,.0f} ms from write to delivery with"
            f" them, and {both.delay:,.0f} ms with the advised ones"
        )
    return said + "."


def _present(values: dict[str, Any]) -> str:
    transport = values["transport"]
    receive, send = transport["receive_buffer"] / 1024, transport["send_buffer"] / 1024
    return f"{kib(receive)} to receive and {kib(send)} to send"


def kib(size: float) -> str:
    """Return a number of KiB as people write it.

    Examples
    --------
    >>> kib(512), kib(1536), kib(16384), kib(0.5)
    ('512 KiB', '1.5 MiB', '16 MiB', '0.5 KiB')
    """
    return f"{size / 1024:.3g} MiB" if size >= 1024 else f"{size:.3g} KiB"
