"""The fluid model, for bulk and streams over tcp, mptcp and bas."""

from __future__ import annotations

import math

from ...model import fluid
from ...model.fluid.coupling import INCREASES
from ...scenario.registry import is_coupled
from .paths import Path, Values, ack_bytes, header_bytes, others, paths, payload_share
from .result import NoFormulaError, Prediction

NAME = "fluid"
SOURCE = (
    "ropewalk.model.fluid: windows as a fluid, after Misra, Gong and Towsley, SIGCOMM 2000;"
    " congestion control by RFC 5681, 6356, 9438 and the papers of olia and balia"
)
VALIDITY = (
    "windows that hold many packets; links whose rate, delay and loss stay as they are. How far"
    " it was from simulations is in docs/agreement/formulas.md"
)
FEW_ROUND_TRIPS = 20
HELD_UP = 0.3  # share of time from which on the shared window counts as the bottleneck
FULL = 0.85  # share of capacity from which on links count as full
MUCH_LOSS = 0.05
SENT_HEADERS = 576  # memory of a segment besides its payload in Linux, sk_buff included, bytes
SK_BUFF = 256
SENT_MEMORY = 416  # memory besides the payload of a sent segment, bytes
WIDEST = 1.3  # largest over mean window; fitted to simulations
FILLED = 5 / 6  # mean fill of a send buffer: a blocked writer is woken when a third is free
MAX_LOSS = 0.999  # loss above which nothing gets through in a reasonable time


def predict(values: Values) -> Prediction | None:
    """Predict the goodput of bulk transfers and streams; None for striped-tcp."""
    transport, traffic = values["transport"], values["traffic"]
    used = paths(values)
    endless = any(math.isinf(path.rate) and path.loss == 0 for path in used)
    if transport["protocol"] == "striped-tcp":
        return None
    outcome = run(values)[0]
    carried = outcome.goodput * 8e-6
    if not math.isfinite(carried):
        return None
    streamed = traffic["kind"] != "bulk"
    goodput = min(carried, traffic["rate"] * 1e-6) if streamed else carried
    share = goodput / carried if carried > 0 else 0.0
    subflows = [
        {
            "path": path.name,
            "goodput_mbps": each * share * 8e-6,
            "rtt_ms": 1e3 * rtt,
        }
        for path, each, rtt in zip(
            _ways(values, used), outcome.subflows, outcome.rtts, strict=True
        )
    ]
    quantities: dict[str, object] = {"subflows": subflows}
    if math.isfinite(outcome.completion):
        quantities["completion_s"] = outcome.completion
    if streamed:
        quantities["bulk_goodput_mbps"] = carried
    else:
        quantities["window_limited_share"] = outcome.limited
    return Prediction(
        NAME,
        SOURCE,
        VALIDITY,
        goodput_mbps=goodput,
        delay_ms={} if streamed else _delay(values, outcome),
        bottleneck=(
            "none: the links carry what is offered"
            if streamed and share < 1
            else _bottleneck(values, outcome)
        ),
        warnings=_outside(values, endless, outcome),
        quantities=quantities,
        cost=_cost(values, subflows),
    )


def _ways(values: Values, used: tuple[Path, ...]) -> list[Path]:
    """Return the path of each subflow."""
    transport = values["transport"]
    many = transport["subflows_per_path"] if transport["protocol"] == "mptcp" else 1
    return [path for path in used for _ in range(many)]


def _delay(values: Values, outcome: fluid.Outcome) -> dict[str, float]:
    """Return the mean delay of bytes through a full send buffer; unknown for bas under loss.

    The first that fill it are all written at once, and wait longer the later they go;
    each of the others waits for as many as the buffer holds, less the way back of the
    acknowledgement that let it in.
    """
    if outcome.goodput <= 0:
        return {}
    transport = values["transport"]
    room = transport["send_buffer"]
    if transport["protocol"] == "bas":
        if any(path.loss for path in paths(values)):
            return {}
        room = transport["main_buffer"] + len(outcome.rtts) * room
    if transport["protocol"] != "bas" and transport["send_buffer_autotuning"]:
        carried = zip(outcome.subflows, outcome.rtts, strict=True)
        windows = sum(rate * rtt for rate, rtt in carried)
        room = min(len(outcome.rtts) * room, FILLED * _buffered_windows(transport) * windows)
    held = min(room, outcome.delivered)
    first = held / outcome.goodput / 2
    later = max(held / outcome.goodput - min(outcome.rtts) / 2, 0.0)
    share = held / outcome.delivered if values["warmup"] == 0 else 0.0
    return {"mean": 1e3 * (share * first + (1 - share) * later)}


def _cost(values: Values, subflows: list[dict[str, object]]) -> float | None:
    links = values["link"]
    if not any("cost" in link for link in links):
        return None
    wire = 1 / payload_share(values)
    price = {
        path.name: math.fsum(links[hop]["cost"] for hop in path.hops) for path in paths(values)
    }
    return math.fsum(
        price[str(each["path"])] * float(str(each["goodput_mbps"])) * wire for each in subflows
    )


def _capacity(values: Values) -> float:
    """Return what the paths carry in bytes of payload per second, each link counted once."""
    left = [link["forward"].get("rate", math.inf) / 8 for link in values["link"]]
    total = 0.0
    for path in sorted(paths(values), key=lambda path: path.rtt):
        carried = min((left[hop] for hop in path.hops), default=math.inf)
        for hop in path.hops:
            left[hop] = max(left[hop] - carried, 0.0) if math.isfinite(carried) else left[hop]
        total += carried
    return total * payload_share(values)


def _bottleneck(values: Values, outcome: fluid.Outcome) -> str:
    used = paths(values)
    if outcome.goodput >= FULL * _capacity(values):
        names = ", ".join(path.name for path in used)
        return f"the rate of {names}" if len(used) == 1 else "the links' rates"
    if outcome.limited > HELD_UP:
        transport = values["transport"]
        window = transport["receive_buffer"] * transport["receive_window_share"]
        what = "send_buffer" if transport["send_buffer"] < window else "receive_buffer"
        if len(used) == 1:
            return f"the {what}: less than the path holds"
        ways = zip(_ways(values, used), outcome.subflows, outcome.rtts, strict=True)
        # In-order data wait for the segments with the longest round trip, queue included.
        rtt, name = max((rtt, path.name) for path, rate, rtt in ways if rate > 0.0)
        least = 1e3 * min(outcome.rtts)
        return (
            f"the {what}: it is full while data wait on {name}, with a round trip of"
            f" {1e3 * rtt:.0f} ms (shortest: {least:.0f} ms)"
        )
    if others(values):
        return "the links' rates, shared with others"
    round_trips = values["duration"] / max(outcome.rtts)
    if math.isfinite(outcome.completion):
        round_trips = outcome.completion / max(outcome.rtts)
    if round_trips < FEW_ROUND_TRIPS:
        return "the start: it is over after few round trips"
    lossy = [path.name for path in used if path.loss]
    if lossy:
        return f"random loss on {', '.join(lossy)}"
    return "congestion control, whose windows do not fill the paths all the time"


def _outside(values: Values, endless: bool, outcome: fluid.Outcome) -> tuple[str, ...]:
    transport, used = values["transport"], paths(values)
    links = [values["link"][hop] for path in used for hop in path.hops]
    jitter = any(
        link[way]["jitter"] or link[way]["slot"]
        for link in links
        for way in ("forward", "reverse")
    )
    checks = {
        "a small window over several paths: its turns are single bursts, and simulations can"
        " give half as much or twice as much; `simulate` is quick there": len(used) > 1
        and transport["protocol"] == "mptcp"
        and outcome.limited > HELD_UP,
        f"{transport['congestion']} couples the windows of several paths: simulations mostly give"
        " less": len(used) > 1 and is_coupled(transport["congestion"]),
        "congestion has parameters of its own: the model has the defaults": any(
            key in transport for key in ("congestion_parameters", "subflow_parameters")
        ),
        "links have jitter or slots: the model has constant delays": jitter,
        "a link's rate follows a trace: the model has its mean": any(
            "trace" in link["forward"] for link in links
        ),
        "more than 5 % are lost: timeouts rule, which the model has only roughly": any(
            path.loss > MUCH_LOSS for path in used
        ),
        "a link's rate is unlimited and nothing is lost: the goodput is a window over a round"
        " trip": endless,
        "schedulers but linux and min-rtt are modelled roughly": len(used) > 1
        and transport["protocol"] == "mptcp"
        and transport["scheduler"] not in ("linux", "min-rtt"),
    }
    return tuple(text for text, holds in checks.items() if holds)


def run(values: Values) -> list[fluid.Outcome]:
    """Run the model on a scenario's values.

    Parameters
    ----------
    values : mapping
        Of `ropewalk.Scenario.values`.

    Returns
    -------
    list of ropewalk.model.fluid.Outcome
        The first flow's, then those of the others.

    Examples
    --------
    >>> import ropewalk
    >>> values = ropewalk.Scenario.load("trains/eight-links").values
    >>> round(run(values)[0].goodput * 8e-6) > 100
    True
    """
    links = [
        fluid.Link(
            link["forward"].get("rate", math.inf) / 8,
            link["forward"].get("queue", math.inf),
            tuple((begin, end) for begin, end in link["down"]),
        )
        for link in values["link"]
    ]
    first = {**values["transport"], "traffic": values["traffic"]}
    connections = [_connection(values, flow) for flow in (first, *others(values))]
    return fluid.run(links, connections, values["duration"], values["warmup"])


def _connection(values: Values, transport: Values) -> fluid.Connection:
    segment = transport["segment"]
    packet = segment + header_bytes(transport)
    scheme = transport["congestion"]
    scheme = transport["subflow"] if scheme == "uncoupled" else scheme
    if scheme not in INCREASES:
        raise NoFormulaError(f'{NAME} is left out: it has no formula for congestion = "{scheme}"')
    used = paths({**values, "transport": transport})
    ways = [_path(values, path, packet, ack_bytes(transport)) for path in used]
    if transport["protocol"] == "mptcp":
        ways = [way for way in ways for _ in range(transport["subflows_per_path"])]
    return fluid.Connection(
        paths=tuple(ways),
        congestion=scheme,
        segment=segment,
        packet=packet,
        receive_window=transport["receive_buffer"] * transport["receive_window_share"],
        send_buffer=transport["send_buffer"],
        buffered_windows=_buffered_windows(transport),
        size=transport["traffic"].get("size", math.inf),
        start=transport["start"],
        count=transport["count"],
        scheduler=transport["scheduler"],
        charge_reordered=transport["charge_reordered"],
        hystart=transport["hystart"],
        byte_counting=transport["byte_counting"],
        per_ack=transport["delayed_ack"],
        initial_window=transport["initial_window"] / segment,
        initial_threshold=transport.get("initial_ssthresh", math.inf) / segment,
        min_rto=transport["min_rto"],
        initial_rto=transport["initial_rto"],
        shared=transport["protocol"] == "mptcp",
    )


def _buffered_windows(transport: Values) -> float:
    """Return how many congestion windows of payload Linux's MPTCP writes ahead.

    A send buffer is for twice the memory of its greatest window's segments
    (`tcp_sndbuf_expand`), a connection's for that of all subflows. What is sent takes memory
    beside its payload; over several paths that is its subflow's.
    """
    if not transport["send_buffer_autotuning"]:
        return math.inf
    segment = transport["segment"]
    memory = 2 ** math.ceil(math.log2(segment + SENT_HEADERS)) + SK_BUFF
    sent = SENT_MEMORY / segment if transport["protocol"] != "mptcp" else 0.0
    return WIDEST * (2 * float(memory) / float(segment) - sent)


def _path(values: Values, path: Path, packet: float, ack: float) -> fluid.Path:
    links = [values["link"][hop] for hop in path.hops]
    there = sum(8 * packet / link["forward"].get("rate", math.inf) for link in links)
    back = sum(8 * ack / link["reverse"].get("rate", math.inf) for link in links)
    return fluid.Path(
        links=path.hops,
        delay=path.delay + there,
        rtt=max(path.rtt + there + back, 1e-6),
        loss=min(path.loss, MAX_LOSS),
        reverse_loss=min(path.reverse_loss, MAX_LOSS),
    )
