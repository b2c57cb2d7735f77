"""Advice on buffer sizes: a search for the smallest buffers that cost little goodput."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...engines.predict.paths import paths as described
from ...scenario.setup import Setup
from ...support.numerals import decimal
from .evaluator import CandidateResult, Changes, Evaluator
from .result import Advice, Evidence
from .significance import Judge
from .subsets import Paths, settings_for, use_paths

SUFFICIENT_SHARE = 0.95  # sufficient share of the best goodput
MIN_KIB = 16
MAX_KIB = 256 * 1024
MAX_IN_PRODUCTS = (
    4  # upper limit of the search, in products of total rate and round trip with full queues
)
HALVINGS = 3  # bisections of the last step, a factor of 2: to 9 %
TITLE = "How large must the buffers be?"
RECEIVE, SEND = "transport.receive_buffer", "transport.send_buffer"


def advise_buffers(
    evaluator: Evaluator, judge: Judge, choices: Sequence[tuple[Paths, Changes]]
) -> Advice:
    """Find the smallest send and receive buffers for the best of several choices.

    A choice is a set of paths with settings. The first choice with the best goodput, with ample or
    with the present buffers, is examined. The result has no settings if a link has no rate limit,
    if nothing is delivered, or if the present buffers beat all equal pairs.

    First find the smallest equal pair of buffers that is as good as the best up to the limit.
    Then, with that send buffer, find the smallest receive buffer; then the smallest send buffer.
    Each search goes down in factors of 2 and bisects the last step. The size found and all tested
    larger sizes give 95 % of the best goodput.
    """
    setup = evaluator.scenario.setup
    every = list(dict.fromkeys(name for paths, _ in choices for name in paths))
    used = described(setup.with_paths(every))
    if any(path.wireless for path in used):
        return Advice(
            "buffers",
            TITLE,
            "A link is on an 802.11 channel. [wifi] sets the queues of its radios, and its rate "
            "depends on all stations of the channel.",
        )
    if any(math.isinf(path.rate) for path in used):
        return Advice("buffers", TITLE, "A link is unlimited, so no buffer is too large.")
    plenty = max(_plenty_kib(setup, paths) for paths, _ in choices)
    fixed, way = _best_choice(evaluator, judge, choices, plenty)

    def search(
        up_to: int, enough: CandidateResult | None, sizes: Callable[[int], Changes]
    ) -> _Search:
        return _search(evaluator, judge, enough, up_to, lambda size: {**fixed, **sizes(size)})

    present = evaluator.one(fixed)
    equal = search(plenty, None, lambda size: _sizes(size, size))
    best = judge.best([present, *equal.tried.values()])
    if best.goodput == 0:
        return Advice("buffers", TITLE, "Nothing is delivered with any buffers.")
    if not judge.as_good(equal.found, best):
        return _keep(setup, equal, present, plenty)
    receive = search(equal.size, equal.found, lambda size: _sizes(size, equal.size))
    send = search(equal.size, equal.found, lambda size: _sizes(receive.size, size))
    most, largest = equal.found, f"{format_kib(equal.size)} each"
    top = judge.best(list(send.tried.values()))
    if not judge.as_good(most, top):  # less to send is better here, so raise the reference
        size = next(size for size, made in send.tried.items() if made is top)
        most, largest = (
            top,
            f"{format_kib(receive.size)} to receive and {format_kib(size)} to send",
        )
        again = search(size, top, lambda size: _sizes(receive.size, size))
        send = _Search(again.size, again.found, send.tried | again.tried)
    found = _Found(way, equal, receive, send, most, largest, present)
    return Advice(
        question="buffers",
        title=TITLE,
        answer=_answer(judge, setup, found),
        settings={
            **settings_for(evaluator.scenario, way[0]),
            **way[1],
            **_sizes(receive.size, send.size),
        },
        numbers={
            "receive_buffer_bytes": 1024 * receive.size,
            "send_buffer_bytes": 1024 * send.size,
            "rule_of_thumb_bytes": _rule(setup, way[0]),
            "goodput_mbps": send.found.goodput,
            "most_mbps": most.goodput,
            "present_mbps": present.goodput,
            "lost_by_present": 1 - present.goodput / most.goodput,
        },
        evidence=_evidence(setup, found),
        notes=(
            f"enough is {SUFFICIENT_SHARE:.0%} of the goodput with {largest}"
            + (f", and a delay of at most 1/{SUFFICIENT_SHARE:g} of that" if judge.stream else "")
            + f", which is as good as any up to {format_kib(plenty)}; searched in"
            " factors of 2, then between the last two to 9 %",
            "rule of thumb: 2 x sum of rates x largest round trip (RFC 6182, 5.3), without queues"
            " and losses that time out; buffers larger than needed fill queues and lengthen the"
            " delay",
        ),
    )


@dataclass(frozen=True)
class _Search:
    """Smallest sufficient size in KiB, its results, and all sizes tested."""

    size: int
    found: CandidateResult
    tried: dict[int, CandidateResult]


@dataclass(frozen=True)
class _Found:
    way: tuple[Paths, Changes]
    alike: _Search
    receive: _Search
    send: _Search
    most: CandidateResult
    largest: str
    present: CandidateResult


def _best_choice(
    evaluator: Evaluator, judge: Judge, choices: Sequence[tuple[Paths, Changes]], plenty: int
) -> tuple[Changes, tuple[Paths, Changes]]:
    """Return the settings and the index of the best choice."""
    ways = [{**base, **use_paths(evaluator.scenario, paths)} for paths, base in choices]
    present = evaluator.measure(ways)
    ample = evaluator.measure([{**way, **_sizes(plenty, plenty)} for way in ways])
    better = [judge.best(list(pair)) for pair in zip(present, ample, strict=True)]
    best = judge.best(better)
    first = next(number for number, made in enumerate(better) if judge.as_good(made, best))
    return ways[first], choices[first]


def _search(
    evaluator: Evaluator,
    judge: Judge,
    most: CandidateResult | None,
    up_to: int,
    changes: Callable[[int], Changes],
) -> _Search:
    """Find the smallest size with nearly the goodput of `most`, or of the best size if None."""
    ladder = [MIN_KIB * 2**step for step in range(int(math.log2(up_to / MIN_KIB)) + 1)]
    ladder += [up_to] if ladder[-1] < up_to else []
    tried = dict(zip(ladder, evaluator.measure([changes(size) for size in ladder]), strict=True))
    if most is None:
        best = judge.best(list(tried.values()))
        size = next(size for size in ladder if judge.as_good(tried[size], best))
        return _Search(size, tried[size], tried)

    def enough(size: int) -> bool:
        slow = judge.stream and tried[size].delay > most.delay / SUFFICIENT_SHARE
        return tried[size].goodput >= SUFFICIENT_SHARE * most.goodput and not slow

    low = max((size for size in ladder if not enough(size)), default=0)
    high = min((size for size in ladder if size > low), default=up_to)
    for _ in range(HALVINGS if 0 < low < high else 0):
        middle = round(math.sqrt(low * high))
        tried[middle] = evaluator.one(changes(middle))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return _Search(high, tried[high], tried)


def _keep(setup: Setup, alike: _Search, present: CandidateResult, plenty: int) -> Advice:
    return Advice(
        "buffers",
        TITLE,
        f"Keep the present ones, {_present(setup)}: {decimal(present.goodput)} Mbit/s. No equal "
        f"pair up to {format_kib(plenty)} is as good ({decimal(alike.found.goodput)} Mbit/s at "
        f"{format_kib(alike.size)}).",
        evidence=(
            _now(setup, present),
            *_rows("both", alike, None, alike.found, lambda size: f"{format_kib(size)} each"),
        ),
    )


def _evidence(setup: Setup, found: _Found) -> tuple[Evidence, ...]:
    equal, receive, send = format_kib(found.alike.size), found.receive.size, found.send.size
    most = found.most
    return (
        *_rows("both", found.alike, None, most, lambda size: f"{format_kib(size)} each"),
        *_rows(
            "receive",
            found.receive,
            receive,
            most,
            lambda size: f"receive {format_kib(size)}, send {equal}",
        ),
        *_rows(
            "send",
            found.send,
            send,
            most,
            lambda size: f"receive {format_kib(receive)}, send {format_kib(size)}",
        ),
        _now(setup, found.present),
    )


def _now(setup: Setup, present: CandidateResult) -> Evidence:
    what = f"as they are: {_present(setup)}"
    return Evidence(what, present.numbers, present.changes, ("present",))


def _rows(
    name: str,
    search: _Search,
    advised: int | None,
    most: CandidateResult,
    what: Callable[[int], str],
) -> list[Evidence]:
    return [
        Evidence(
            what(size),
            made.numbers | {f"{name}_buffer_bytes": 1024 * size},
            made.changes,
            ("advised",) * (size == advised) + ("as good as any",) * (made is most),
        )
        for size, made in sorted(search.tried.items())
    ]


def _sizes(receive_kib: int, send_kib: int) -> dict[str, str]:
    return {RECEIVE: f"{receive_kib} KiB", SEND: f"{send_kib} KiB"}


def _plenty_kib(setup: Setup, paths: Paths) -> int:
    """Return a power of 2 that is an upper limit for buffers, at least the present size."""
    used = described(setup.with_paths(paths))
    flow = setup.first
    longest = max(
        path.rtt
        + sum(
            8 * setup.links[hop].forward.queue / setup.links[hop].forward.rate
            for hop in path.hops
            if math.isfinite(setup.links[hop].forward.rate)
        )
        for path in used
    )
    window = sum(path.rate for path in used) / 8 * longest
    needed = max(
        MAX_IN_PRODUCTS * window / flow.receive_window_share,
        flow.receive_buffer,
        flow.send_buffer,
        1024 * MIN_KIB,
    )
    return min(1 << math.ceil(math.log2(needed / 1024)), MAX_KIB)


def _rule(setup: Setup, paths: Paths) -> float:
    used = described(setup.with_paths(paths))
    return 2 * sum(path.rate for path in used) / 8 * max(path.rtt for path in used)


def _answer(judge: Judge, setup: Setup, found: _Found) -> str:
    paths, base = found.way
    receive, send, present = found.receive, found.send, found.present
    most, both = found.most, found.send.found
    used = ", ".join([*paths, *(str(value) for value in base.values())])
    rule = _rule(setup, paths)
    share = setup.first.receive_window_share
    text = (
        f"Over {used}: {format_kib(receive.size)} to receive and {format_kib(send.size)} to send"
        f" give {decimal(both.goodput)} Mbit/s, {both.goodput / most.goodput:.1%} of the"
        f" {decimal(most.goodput)} with {found.largest}. The rule of thumb says"
        f" {format_kib(rule / 1024)} each"
    )
    if share < 1:
        enough = format_kib(rule / share / 1024)
        text += f" ({enough} to receive if {share:.0%} of it is advertised)"
    lost = 1 - present.goodput / most.goodput
    text += f". The present ones, {_present(setup)}, "
    if abs(lost) < 0.0005:
        text += "cost no goodput"
    elif lost > 0:
        text += f"cost {lost:.1%} of goodput ({decimal(present.goodput)} Mbit/s)"
    else:
        text += f"give {-lost:.1%} more ({decimal(present.goodput)} Mbit/s)"
    if math.isfinite(both.delay) and math.isfinite(present.delay):
        what = "messages" if judge.stream else "the data"
        text += (
            f". 95 % of {what} take at most {present.delay:,.0f} ms from write to delivery with"
            f" them, and {both.delay:,.0f} ms with the advised ones"
        )
    return text + "."


def _present(setup: Setup) -> str:
    flow = setup.first
    receive, send = flow.receive_buffer / 1024, flow.send_buffer / 1024
    return f"{format_kib(receive)} to receive and {format_kib(send)} to send"


def format_kib(size: float) -> str:
    """Format a size in KiB.

    Examples
    --------
    >>> format_kib(512), format_kib(1536), format_kib(16384), format_kib(0.5)
    ('512 KiB', '1.5 MiB', '16 MiB', '0.5 KiB')
    """
    return f"{size / 1024:.3g} MiB" if size >= 1024 else f"{size:.3g} KiB"
