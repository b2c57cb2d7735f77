"""Error that the machine adds to a testbed run: intervals of the undisturbed numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...support.numerals import decimal

if TYPE_CHECKING:
    from ...scenario import Scenario

MUCH = 0.05  # an interval is wide if an end is farther than this share
LATE_MS = 1.0  # and, for a mean delay, also farther than this
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
GATEWAY = ("bas", "gateway", "striped-tcp")  # protocols whose data pass two programs
MOST_WRITES = 1_000_000  # with more writes, the offered rate is not computed


def own_error(report: Mapping[str, Any], scenario: Scenario) -> dict[str, Any] | None:
    """Return the intervals of a run's numbers without the machine's influence.

    See docs/guide/own-error.md for the derivation. None for links of the kernel (netem).
    Otherwise:

    - ``goodput_mbps``, and ``mean``, ``p50``, ``p95`` and ``p99`` of ``delay_ms``: ``low`` to
      ``high``, the latter absent if unbounded.
    - ``added_ms``: delay added to a packet by links, a timed writer and reading threads.
    - ``time_share``: largest share of time in which a thread lacked a processor.
    - ``disturbed``: an interval is wide, or the links' 99th percentile lateness exceeds 1 ms.

    References
    ----------
    Markov's inequality, for quantiles of a wait with known mean.
    """
    emulator, machine = report.get("emulator"), report["machine"]
    if emulator is None:
        return None
    setup = scenario.setup
    wakes = 3 if setup.first.protocol in GATEWAY else 1
    lasted = report["duration_s"]
    share = _time_share(machine, lasted)
    late = emulator.get("lateness_ms", dict.fromkeys(("mean", "p99", "max"), 0.0))
    written = report.get("write_lateness_ms", dict.fromkeys(("mean", "p99"), 0.0))
    wait = wakes * machine.get("wait_ms", 0.0)
    # Links are late at their input and at their output.
    added = {"mean": 2 * late["mean"] + written["mean"] + wait} | {
        name: 2 * late["p99"] + written["p99"] + wait / (1 - quantile)
        for name, quantile in QUANTILES.items()
    }
    written_at = scenario.writes(report["seed"], MOST_WRITES)
    delay: dict[str, dict[str, float]] = {}
    for name, measured in report.get("delay_ms", {}).items():
        if name in added:
            delay[name] = {"low": max(0.0, measured * (1 - share) - added[name])}
            # A timed writer adds no queueing beyond this.
            if written_at is not None or share < 1:
                delay[name]["high"] = measured / (1 if written_at is not None else 1 - share)
    goodput, warmup = report["goodput_mbps"], scenario.warmup_s
    before = (late["max"] + wait) / 1e3 / (lasted - warmup) if 0 < warmup < lasted else 0.0
    longer = _longer(report, 4 * late["mean"] + 2 * wait)
    most = [goodput / (1 - share) * longer] if share < 1 and longer is not None else []
    most += _limits(scenario, written_at)
    of_goodput = {"low": goodput * max(0.0, 1 - before)}
    if most:
        of_goodput["high"] = max(goodput, min(most))
    found = {"goodput_mbps": of_goodput, "delay_ms": delay, "added_ms": added, "time_share": share}
    return found | {"disturbed": not emulator["trusted"] or any(wide_intervals(report, found))}


def width(report: Mapping[str, Any], error: Mapping[str, Any]) -> float:
    """Return the largest relative distance of an interval's end from goodput or mean delay.

    Examples
    --------
    >>> error = {"goodput_mbps": {"low": 9.0, "high": 9.9}, "delay_ms": {}}
    >>> round(width({"goodput_mbps": 9.0}, error), 3)
    0.1
    """
    return max(part for _, part, _ in _widths(report, error))


def wide_intervals(report: Mapping[str, Any], error: Mapping[str, Any]) -> Iterator[str]:
    """Yield descriptions of the wide intervals.

    Goodput: an end is farther than 5 %. Mean delay: also farther than 1 ms.

    Examples
    --------
    >>> error = {"goodput_mbps": {"low": 9.0, "high": 9.9}, "delay_ms": {}}
    >>> list(wide_intervals({"goodput_mbps": 9.0}, error))
    ['goodput may be off by 10 %']
    """
    for of, part, allowed in _widths(report, error):
        if part == float("inf"):
            yield f"{of} may be off by anything"
        elif part > allowed:
            yield f"{of} may be off by {100 * part:.0f} %"


def warning(report: Mapping[str, Any], error: Mapping[str, Any]) -> str | None:
    """Return the warning of a run with a wide interval, with causes; None for other runs.

    Examples
    --------
    >>> error = {"goodput_mbps": {"low": 9.0, "high": 9.9}, "delay_ms": {}}
    >>> text = warning({"goodput_mbps": 9.0, "machine": {"others_s": 9.2}}, error)
    >>> text.partition(": ")[2]
    'goodput may be off by 10 %, more than 5 %; other processes used 9.20 s'
    """
    intervals = list(wide_intervals(report, error))
    if not intervals:
        return None
    words = {
        "stolen_s": "a hypervisor took {} s from the processors",
        "waited_s": "the run's threads waited {} s for a processor",
        "others_s": "other processes used {} s",
    }
    machine = report["machine"]
    why = [text.format(f"{machine[key]:.2f}") for key, text in words.items() if machine.get(key)]
    return (
        f"the machine disturbed the run: {' and '.join(intervals)},"
        f" more than {100 * MUCH:.0f} %{''.join(f'; {part}' for part in why)}"
    )


def bounds(error: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the ends of each interval by flat names, without unbounded intervals.

    Examples
    --------
    >>> delay = {"mean": {"low": 80.0, "high": 81.5}}
    >>> bounds({"goodput_mbps": {"low": 9.0, "high": 9.1}, "delay_ms": delay})
    {'goodput_mbps': (9.0, 9.1), 'delay_ms.mean': (80.0, 81.5)}
    """
    each = {"goodput_mbps": error["goodput_mbps"]}
    each |= {f"delay_ms.{name}": of for name, of in error.get("delay_ms", {}).items()}
    return {name: (of["low"], of["high"]) for name, of in each.items() if "high" in of}


def in_words(error: Mapping[str, Any]) -> str:
    """Return the intervals of the undisturbed numbers in words.

    Examples
    --------
    >>> delay = {"mean": {"low": 80.0, "high": 81.5}, "p99": {"low": 95.0, "high": 99.0}}
    >>> in_words({"goodput_mbps": {"low": 9.0, "high": 9.1}, "delay_ms": delay})
    'goodput 9.00 to 9.10 Mbit/s, delay 80.0 to 81.5 ms in the mean and 95.0 to 99.0 at 99 %'
    """
    goodput, delay = error["goodput_mbps"], error.get("delay_ms", {})
    most = f"to {decimal(goodput['high'])} Mbit/s" if "high" in goodput else "Mbit/s or more"
    text = f"goodput {decimal(goodput['low'])} {most}"
    of = [delay[name] for name in ("mean", "p99") if "high" in delay.get(name, {})]
    if len(of) == 2:
        mean, p99 = (f"{each['low']:,.1f} to {each['high']:,.1f}" for each in of)
        text += f", delay {mean} ms in the mean and {p99} at 99 %"
    return text


def _time_share(machine: Mapping[str, Any], lasted: float) -> float:
    """Return the largest share of time in which a thread of the run lacked a processor."""
    waited = machine.get("waited_s", 0.0)
    # Concurrent waits count once.
    waited = min(waited, machine.get("pressure_s", waited))
    missing = machine.get("stolen_s", 0.0) + waited
    return float(min(1.0, missing / lasted)) if lasted > 0 else 0.0


def _longer(report: Mapping[str, Any], added_ms: float) -> float | None:
    """Return the factor by which the machine prolonged the shortest RTT; None if unbounded."""
    trips = [subflow["srtt_ms"] for subflow in report["subflows"] if "srtt_ms" in subflow]
    if not trips:
        return 1.0
    shortest = min(trips)
    return float(shortest / (shortest - added_ms)) if shortest > added_ms else None


def _limits(scenario: Scenario, written: tuple[list[float], list[int]] | None) -> list[float]:
    """Return upper limits of goodput, Mbit/s: the links' rates, and the written data."""
    found = [] if scenario.capacity_mbps is None else [scenario.capacity_mbps]
    measured = scenario.duration_s - scenario.warmup_s
    if written is not None and len(written[0]) < MOST_WRITES and measured > 0:
        times, sizes = written
        pairs = zip(times, sizes, strict=True)
        offered = sum(size for time, size in pairs if time >= scenario.warmup_s)
        found.append(8 * offered / measured / 1e6)
    return found


def _widths(
    report: Mapping[str, Any], error: Mapping[str, Any]
) -> Iterator[tuple[str, float, float]]:
    """Yield a number's name, the relative distance of its interval's end, and the limit."""
    goodput, of = report["goodput_mbps"], error["goodput_mbps"]
    yield "goodput", _farther(of, goodput), MUCH
    delay = error["delay_ms"].get("mean")
    if delay is not None and (mean := report["delay_ms"]["mean"]) > 0:
        yield "the mean delay", _farther(delay, mean), max(MUCH, LATE_MS / mean)


def _farther(interval: Mapping[str, float], measured: float) -> float:
    """Return the relative distance of the farther end; 0 for a number of 0."""
    if measured <= 0:
        return 0.0
    above = interval.get("high", float("inf")) - measured
    return max(above, measured - interval["low"]) / measured
