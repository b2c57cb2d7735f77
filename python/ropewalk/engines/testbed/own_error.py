"""Error of a testbed run that the machine causes: where its numbers would be without it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...support.numerals import decimal

if TYPE_CHECKING:
    from ...scenario import Scenario

MUCH = 0.05  # share of a number: an interval with an end farther from it is wide
LATE_MS = 1.0  # so near a mean delay no end makes its interval wide
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
GATEWAY = ("bas", "striped-tcp")  # protocols whose data pass two programs on the way
MOST_WRITES = 1_000_000  # of an application that writes more, the offered rate is not asked


def own_error(report: Mapping[str, Any], scenario: Scenario) -> dict[str, Any] | None:
    """Return where a run's numbers would be without what the machine added.

    docs/guide/own-error.md derives it.

    Parameters
    ----------
    report : mapping
        A run's JSON object, with ``emulator`` and ``machine``.
    scenario : Scenario
        What was run.

    Returns
    -------
    dict or None
        ``goodput_mbps`` and of ``delay_ms`` ``mean``, ``p50``, ``p95`` and ``p99``: from ``low``
        to ``high``, which is absent where nothing bounds it. ``added_ms``: how much later links, a
        writer with times of its own and the threads that read made a packet. ``time_share``: part
        of the time in which a thread of the run may have had no processor. ``disturbed``: an
        interval is wide, or the links' lateness above 1 ms at 99 %. None of a run whose links were
        the kernel's own.

    References
    ----------
    For quantiles of a wait of which the mean is known: Markov's inequality.
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
    # Links take a packet in late, and hand it on late.
    added = {"mean": 2 * late["mean"] + written["mean"] + wait} | {
        name: 2 * late["p99"] + written["p99"] + wait / (1 - quantile)
        for name, quantile in QUANTILES.items()
    }
    written_at = scenario.writes(report["seed"], MOST_WRITES)
    delay: dict[str, dict[str, float]] = {}
    for name, measured in report.get("delay_ms", {}).items():
        if name in added:
            delay[name] = {"low": max(0.0, measured * (1 - share) - added[name])}
            # What is written at times of its own waits behind no more than that.
            if written_at is not None or share < 1:
                delay[name]["high"] = measured / (1 if written_at is not None else 1 - share)
    goodput, warmup = report["goodput_mbps"], scenario.warmup_s
    before = (late["max"] + wait) / 1e3 / (lasted - warmup) if 0 < warmup < lasted else 0.0
    longer = _longer(report, 4 * late["mean"] + 2 * wait)
    most = [goodput / (1 - share) * longer] if share < 1 and longer is not None else []
    most += _limits(scenario, written_at)
    told = {"low": goodput * max(0.0, 1 - before)}
    if most:
        told["high"] = max(goodput, min(most))
    found = {"goodput_mbps": told, "delay_ms": delay, "added_ms": added, "time_share": share}
    return found | {"disturbed": not emulator["trusted"] or any(wide(report, found))}


def width(report: Mapping[str, Any], error: Mapping[str, Any]) -> float:
    """Return how far an end of an interval is from goodput or mean delay at the most, as a share.

    Examples
    --------
    >>> error = {"goodput_mbps": {"low": 9.0, "high": 9.9}, "delay_ms": {}}
    >>> round(width({"goodput_mbps": 9.0}, error), 3)
    0.1
    """
    return max(part for _, part, _ in _widths(report, error))


def wide(report: Mapping[str, Any], error: Mapping[str, Any]) -> Iterator[str]:
    """Yield which intervals are wide, in words.

    Goodput's is if one of its ends is farther from it than a twentieth of it, that of the mean
    delay if it is so and farther than 1 ms.

    Examples
    --------
    >>> error = {"goodput_mbps": {"low": 9.0, "high": 9.9}, "delay_ms": {}}
    >>> list(wide({"goodput_mbps": 9.0}, error))
    ['goodput may be off by 10 %']
    """
    for of, part, allowed in _widths(report, error):
        if part == float("inf"):
            yield f"{of} may be off by anything"
        elif part > allowed:
            yield f"{of} may be off by {100 * part:.0f} %"


def warning(report: Mapping[str, Any], error: Mapping[str, Any]) -> str | None:
    """Return the warning of a run with a wide interval, and what the machine did; None of others.

    Examples
    --------
    >>> error = {"goodput_mbps": {"low": 9.0, "high": 9.9}, "delay_ms": {}}
    >>> told = warning({"goodput_mbps": 9.0, "machine": {"others_s": 9.2}}, error)
    >>> told.partition(": ")[2]
    'goodput may be off by 10 %, more than 5 %; other processes had 9.20 s'
    """
    told = list(wide(report, error))
    if not told:
        return None
    words = {
        "stolen_s": "a hypervisor kept {} s from the processors",
        "waited_s": "the run's threads waited {} s for one",
        "others_s": "other processes had {} s",
    }
    machine = report["machine"]
    why = [text.format(f"{machine[key]:.2f}") for key, text in words.items() if machine.get(key)]
    return (
        f"the machine disturbed the run: {' and '.join(told)},"
        f" more than {100 * MUCH:.0f} %{''.join(f'; {part}' for part in why)}"
    )


def bounds(error: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return the ends of each interval by flat names; nothing where it has no upper end.

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
    """Say from where to where numbers would be without what the machine added.

    Examples
    --------
    >>> delay = {"mean": {"low": 80.0, "high": 81.5}, "p99": {"low": 95.0, "high": 99.0}}
    >>> in_words({"goodput_mbps": {"low": 9.0, "high": 9.1}, "delay_ms": delay})
    'goodput 9.00 to 9.10 Mbit/s, delay 80.0 to 81.5 ms in the mean and 95.0 to 99.0 at 99 %'
    """
    goodput, delay = error["goodput_mbps"], error.get("delay_ms", {})
    most = f"to {decimal(goodput['high'])} Mbit/s" if "high" in goodput else "Mbit/s or more"
    told = f"goodput {decimal(goodput['low'])} {most}"
    of = [delay[name] for name in ("mean", "p99") if "high" in delay.get(name, {})]
    if len(of) == 2:
        mean, p99 = (f"{each['low']:,.1f} to {each['high']:,.1f}" for each in of)
        told += f", delay {mean} ms in the mean and {p99} at 99 %"
    return told


def _time_share(machine: Mapping[str, Any], lasted: float) -> float:
    """Return which part of the time a thread of the run may have had no processor."""
    waited = machine.get("waited_s", 0.0)
    # Threads that wait at a time wait once.
    waited = min(waited, machine.get("pressure_s", waited))
    missing = machine.get("stolen_s", 0.0) + waited
    return float(min(1.0, missing / lasted)) if lasted > 0 else 0.0


def _longer(report: Mapping[str, Any], added_ms: float) -> float | None:
    """Return by what factor the machine made the shortest round trip longer; None: by any."""
    trips = [subflow["srtt_ms"] for subflow in report["subflows"] if "srtt_ms" in subflow]
    if not trips:
        return 1.0
    shortest = min(trips)
    return float(shortest / (shortest - added_ms)) if shortest > added_ms else None


def _limits(scenario: Scenario, written: tuple[list[float], list[int]] | None) -> list[float]:
    """Return what goodput cannot exceed, in Mbit/s: the links' rates, and what was written."""
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
    """Yield a number's name, how far an end is from it, as a share of it, and what is allowed."""
    goodput, of = report["goodput_mbps"], error["goodput_mbps"]
    yield "goodput", _farther(of, goodput), MUCH
    delay = error["delay_ms"].get("mean")
    if delay is not None and (mean := report["delay_ms"]["mean"]) > 0:
        yield "the mean delay", _farther(delay, mean), max(MUCH, LATE_MS / mean)


def _farther(interval: Mapping[str, float], measured: float) -> float:
    """Return the distance of the farther end as a share of what was measured; 0 of nothing."""
    if measured <= 0:
        return 0.0
    above = interval.get("high", float("inf")) - measured
    return max(above, measured - interval["low"]) / measured
