"""Quantities common to all ways of running a scenario, by flat names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...engines.predict import Predictions

PLAIN = ("goodput_mbps", "delivered_bytes", "completion_s", "duration_s", "cost", "cost_per_gb")
DELAYS = ("mean", "p50", "p95", "p99", "max")
REORDERING = ("out_of_order_ratio", "buffer_max_bytes")
SUBFLOW = (
    "goodput_mbps",
    "segments_sent",
    "retransmissions",
    "fast_recoveries",
    "timeouts",
    "spurious_retransmissions",
    "srtt_ms",
)
FLOW = ("goodput_mbps", "share", "completion_s")
LINK = ("sent_packets", "lost_packets", "dropped_packets", "delivered_bytes", "utilization")


def flat_numbers(run: Mapping[str, Any]) -> dict[str, float]:
    """Return a run's numbers by flat names, without unknown ones.

    `run` is a run's JSON object, or a mean or interval in the same form. Names are
    ``"goodput_mbps"``, ``"delay_ms.p95"``, ``"subflows.wifi.goodput_mbps"``,
    ``"links.wifi.dropped_packets"``, ... in the object's order. A second subflow on one path is
    ``"subflows.wifi (2)..."``.

    Examples
    --------
    >>> flat_numbers({"goodput_mbps": 9.0, "links": [{"name": "dsl", "lost_packets": 2}]})
    {'goodput_mbps': 9.0, 'links.dsl.lost_packets': 2.0}
    """
    known = dict(_some(run, PLAIN))
    known |= _some(run.get("delay_ms", {}), DELAYS, "delay_ms.")
    known |= _some(run.get("reordering", {}), REORDERING, "reordering.")
    kinds = (("subflows", "link", SUBFLOW), ("links", "name", LINK), ("flows", "name", FLOW))
    for kind, label, keys in kinds:
        seen: dict[str, int] = {}
        for entry in run.get(kind, []):
            name = entry[label]
            seen[name] = seen.get(name, 0) + 1
            numbered = name if seen[name] == 1 else f"{name} ({seen[name]})"
            known |= _some(entry, keys, f"{kind}.{numbered}.")
    return known


def predicted(predictions: Predictions) -> dict[str, float]:
    """Return the numbers of the preferred model, named as by `flat_numbers`.

    Examples
    --------
    >>> import ropewalk
    >>> known = predicted(ropewalk.predict("start/two-links"))
    >>> [name for name in known if "goodput" in name]
    ['goodput_mbps', 'subflows.dsl.goodput_mbps', 'subflows.cable.goodput_mbps']
    """
    best = predictions.best
    if best is None:
        return {}
    run = {key: best.quantities[key] for key in PLAIN if key in best.quantities} | best.json()
    subflows = best.quantities.get("subflows", [])
    return flat_numbers(run | {"subflows": [{"link": each["path"], **each} for each in subflows]})


def entry_names(known: Mapping[str, float], kind: str) -> list[str]:
    """Return the names of subflows or links with numbers, in order.

    Examples
    --------
    >>> entry_names({"goodput_mbps": 9.0, "links.dsl.lost_packets": 2.0}, "links")
    ['dsl']
    """
    names = (name[len(kind) + 1 :].rpartition(".")[0] for name in known if name.startswith(kind))
    return list(dict.fromkeys(names))


def total(known: Mapping[str, float], key: str) -> float | None:
    """Return the sum of a key over all subflows; None if no subflow has it.

    Examples
    --------
    >>> total({"subflows.a.timeouts": 1.0, "subflows.b.timeouts": 2.0}, "timeouts")
    3.0
    """
    of = [known.get(f"subflows.{name}.{key}") for name in entry_names(known, "subflows")]
    there = [value for value in of if value is not None]
    return sum(there) if there else None


def _some(
    of: Mapping[str, Any], keys: tuple[str, ...], before: str = ""
) -> Iterator[tuple[str, float]]:
    return ((before + key, float(of[key])) for key in keys if key in of)
