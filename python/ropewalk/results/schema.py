"""Every key of the JSON objects that ``--json`` prints and folders keep: one declaration.

`results_schema` gives it as a JSON Schema. The tables of docs/guide/results.md are made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
ANY: Schema = {}
NAME = "name"


class Key:
    """A key of an object.

    Parameters
    ----------
    name : str
        Name of the key.
    kind : dict
        JSON Schema of its value.
    meaning : str
        Meaning, in Markdown.
    always : bool
        Whether each object has the key.
    """

    def __init__(self, name: str, kind: Schema, meaning: str, *, always: bool = False) -> None:
        self.name, self.always = name, always
        self.schema = {**kind, "description": meaning} if meaning else kind


def several(kind: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": kind}


def by_name(kind: Schema) -> Schema:
    """Return the schema of an object whose keys are names."""
    return {"type": "object", "additionalProperties": kind}


def of(*keys: Key, more: Schema | None = None) -> Schema:
    """Return the schema of an object with these keys; others are wrong or of the kind `more`."""
    return {
        "type": "object",
        "properties": {key.name: key.schema for key in keys},
        "required": [key.name for key in keys if key.always],
        "additionalProperties": False if more is None else more,
    }


def _plain(kind: Schema, *names: str) -> tuple[Key, ...]:
    return tuple(Key(name, kind, "", always=True) for name in names)


DELAY = of(*_plain(NUMBER, "mean", "p50", "p95", "p99", "max"))
TEXTS = several(TEXT)
STALL = of(
    Key("count", WHOLE, "number of stalls", always=True),
    Key("total_s", NUMBER, "their duration", always=True),
    Key("share", NUMBER, "share of the time since the player started", always=True),
)
LATE = (
    Key("late_percent", NUMBER, "share of them late or missing"),
    Key("late_bytes", WHOLE, "bytes of these"),
)
APPLICATION = (
    Key(
        "messages",
        of(Key("count", WHOLE, "messages that are due", always=True), *LATE),
        "messages with a `deadline`: `count` of all that are due, `late_percent` of them late or"
        " missing, `late_bytes`",
    ),
    Key(
        "video",
        of(
            Key("frames", WHOLE, "frames that are due", always=True),
            *LATE,
            Key("frame_delay_ms", DELAY, "delay of the frames that arrived"),
            Key("stall", STALL, "stalls of the player"),
        ),
        "`frames`, `late_percent`, `late_bytes`, `frame_delay_ms` of the frames that arrived; with"
        " a `buffer`, `stall.count`, `stall.total_s`, and `stall.share` of the time since the"
        " player started",
    ),
    Key(
        "chunks",
        of(
            Key("count", WHOLE, "received chunks", always=True),
            Key("rate_mbps", NUMBER, "mean rate of their quality", always=True),
            Key("switches", WHOLE, "changes of quality", always=True),
            *LATE,
            Key("response_s", DELAY, "time from request to receipt"),
            Key("stall", STALL, "stalls of the player", always=True),
        ),
        "`count` of received chunks, `rate_mbps` (mean rate of their quality), `switches` of"
        " quality, `late_percent`, `late_bytes`, `response_s` from request to receipt (`mean`,"
        " `p50`, `p95`, `p99`, `max`), `stall` as of a video",
    ),
    Key(
        "requests",
        of(
            Key("count", WHOLE, "responses", always=True),
            Key("response_s", DELAY, "time from request to response"),
            *LATE,
        ),
        "`count` of responses, `response_s`, and with a `deadline` `late_percent` and"
        " `late_bytes`",
    ),
    Key(
        "web",
        of(
            Key("pages", WHOLE, "complete pages", always=True),
            Key("objects", WHOLE, "their objects", always=True),
            Key("page_load_s", DELAY, "time from request to complete page"),
            Key("response_s", DELAY, "time from request to receipt of an object"),
        ),
        "complete `pages`, their `objects`, `page_load_s` from request to complete page,"
        " `response_s` of an object",
    ),
)
NSTAT = _plain(
    WHOLE,
    "TcpExtTCPDSACKUndo",
    "TcpExtTCPPartialUndo",
    "TcpExtTCPFullUndo",
    "TcpExtTCPLossUndo",
    "TcpExtTCPSpuriousRTOs",
    "TcpExtTCPSACKReorder",
    "TcpExtTCPTSReorder",
    "TcpExtPAWSEstab",
)
SUBFLOW = of(
    Key("link", TEXT, "name of its path, or of the link if the path is one link", always=True),
    Key("goodput_mbps", NUMBER, "10^6 bit/s newly delivered by this subflow"),
    Key("share", NUMBER, "its part of all subflows' goodput"),
    Key("segments_sent", WHOLE, "transmitted data segments, retransmissions included"),
    Key("retransmissions", WHOLE, "data segments retransmitted on the same subflow"),
    Key("fast_recoveries", WHOLE, "number of fast recoveries"),
    Key("timeouts", WHOLE, "number of retransmission timeouts"),
    Key(
        "spurious_retransmissions",
        WHOLE,
        "retransmissions of segments that the receiver had",
    ),
    Key(
        "undone",
        WHOLE,
        "with an answer to [reordering](../reordering.md): number of loss detections found wrong"
        " and undone",
    ),
    Key("spurious_fast_recoveries", WHOLE, "the undone detections by duplicates or time"),
    Key("spurious_timeouts", WHOLE, "the undone detections by timeout"),
    Key("dupthresh_max", WHOLE, "largest DupThresh in the whole run"),
    Key(
        "nstat",
        of(*NSTAT),
        'with `reordering = "linux"`, Linux\'s counters, for example `TcpExtTCPDSACKUndo`',
    ),
    Key(
        "resent_bytes",
        WHOLE,
        "with `bas`: payload of its carriers that was also sent on others",
    ),
    Key("srtt_ms", NUMBER, "SRTT at the end of the run"),
)
LINK = of(
    Key(NAME, TEXT, "name of the link", always=True),
    Key(
        "sent_packets",
        WHOLE,
        "transmitted packets, without packets dropped at the queue",
        always=True,
    ),
    Key("lost_packets", WHOLE, "packets lost by loss or outage", always=True),
    Key("dropped_packets", WHOLE, "packets dropped at the full queue", always=True),
    Key("delivered_bytes", WHOLE, "IP bytes that left the link", always=True),
    Key("utilization", NUMBER, "transmitted bits over the bits that the rate or trace allows"),
    Key("attempts", WHOLE, "802.11: transmission attempts"),
    Key("frame_error_ratio", NUMBER, "802.11: share of them that failed"),
    Key("drops_tries", WHOLE, "802.11: packets dropped after the last attempt"),
    Key(
        "flows",
        several(
            of(
                *_plain(TEXT, NAME),
                *_plain(WHOLE, "delivered_bytes"),
                *_plain(NUMBER, "share"),
            )
        ),
        "with several flows, each flow's part of the link: `name`, `delivered_bytes`, `share`",
    ),
)
AIRTIME = of(*_plain(NUMBER, "data", "retries", "ack", "rts", "defer", "idle"))
CHANNEL = of(
    *_plain(TEXT, NAME),
    *_plain(NUMBER, "busy_ratio", "collision_ratio"),
    *_plain(AIRTIME, "airtime"),
)
NODE = of(
    *_plain(TEXT, NAME),
    *_plain(several(NUMBER), "at"),
    *_plain(NUMBER, "queue_mean"),
    *_plain(WHOLE, "queue_max"),
)
RADIO = of(
    *_plain(TEXT, "node", "channel"),
    *_plain(WHOLE, "frames", "retries", "drops_tries", "drops_queue", "drops_lifetime"),
    *_plain(WHOLE, "collisions"),
    *_plain(NUMBER, "airtime_ratio"),
    *_plain(AIRTIME, "airtime"),
)
FLOW = of(
    *_plain(TEXT, NAME, "protocol"),
    Key("count", WHOLE, ""),
    *_plain(NUMBER, "goodput_mbps", "share"),
    *_plain(WHOLE, "delivered_bytes"),
    Key("completion_s", NUMBER, ""),
    Key("delay_ms", DELAY, ""),
    *APPLICATION,
    Key("subflows", several(SUBFLOW), ""),
)
REORDERING = of(
    Key(
        "out_of_order_ratio",
        NUMBER,
        "share of data packets that waited for an earlier one (data sequence)",
        always=True,
    ),
    Key(
        "buffer_max_bytes",
        WHOLE,
        "most bytes that waited in the receive buffer for a gap",
        always=True,
    ),
    Key(
        "metrics",
        of(
            *_plain(NUMBER, "reordered_ratio"),
            *_plain(several(WHOLE), "extents"),
            *_plain(several(several(NUMBER)), "density"),
            *_plain(several(NUMBER), "buffer_density"),
        ),
        "with `--reordering`: `reordered_ratio` and `extents` (RFC 4737), `density` and"
        " `buffer_density` (RFC 5236)",
    ),
)
ORIGIN = of(
    Key("version", TEXT, "Ropewalk's version", always=True),
    Key(
        "commit",
        TEXT,
        "git commit of the package, followed by `+changes` if its sources were modified; absent"
        " if unknown",
    ),
    Key("date", TEXT, "start of the work: ISO 8601, UTC", always=True),
    Key("command", TEXT, "the command as a shell reads it, or `in a notebook`", always=True),
    Key("machine", TEXT, "cores, processor, memory, system and Python", always=True),
    Key("wall_s", NUMBER, "wall-clock time of the work", always=True),
    Key("seeds", several(WHOLE), "seed of each run, if anything is random"),
    Key("scenario", TEXT, "text of the scenario with the changes of `--set`"),
    Key("scenarios", by_name(TEXT), "texts by name, of a reproduction with several scenarios"),
)
ENDS = ("low", "high")
INTERVAL = of(*(Key(end, NUMBER, "") for end in ENDS))
# Groups of the keys of a run; each is a table of docs/guide/results.md.
RUN: dict[str, tuple[Key, ...]] = {
    "run": (
        Key("engine", {"enum": ["simulate", "testbed"]}, '`"simulate"`', always=True),
        Key("scenario", TEXT, "the scenario's title", always=True),
        Key("seed", WHOLE, "the run's seed", always=True),
        Key(
            "goodput_mbps",
            NUMBER,
            "10^6 bit/s delivered in order, from the first write or the end of the warm-up to the"
            " completion or the end of the run",
            always=True,
        ),
        Key(
            "delivered_bytes",
            WHOLE,
            "bytes delivered in order in the measured time",
            always=True,
        ),
        Key(
            "completion_s",
            NUMBER,
            "time from the first write to the last delivery of a complete finite transfer",
        ),
        Key("duration_s", NUMBER, "virtual time of the run, with its warm-up", always=True),
        Key(
            "cost",
            NUMBER,
            "sum over the links of price times delivered Mbit/s of IP packets, if a link has a"
            " price",
        ),
        Key(
            "cost_per_gb",
            NUMBER,
            "price of 10^9 bytes delivered to the application, at the same price per Mbit",
        ),
        Key(
            "quota",
            several(of(*_plain(TEXT, "link"), *_plain(WHOLE, "used", "left"))),
            "for each link with a `quota`: `link`, bytes `used` in the period at the end of the"
            " run, warm-up included, and `left`",
        ),
        Key("delay_ms", DELAY, "`mean`, `p50`, `p95`, `p99`, `max` of the delay"),
        *APPLICATION,
        Key(
            "longest_gap_s",
            NUMBER,
            "longest time without a delivery, after the first delivery and the warm-up",
        ),
        Key(
            "warnings",
            TEXTS,
            "read them before you trust the numbers. A flow that delivered nothing causes one,"
            " with the reason. With `--json` they are also printed on standard error",
        ),
    ),
    "reordering": (Key("reordering", REORDERING, ""),),
    "links": (
        Key("links", several(LINK), ""),
        Key("channels", several(CHANNEL), "802.11: [airtime](wireless.md) of each channel"),
        Key("radios", several(RADIO), "802.11: airtime and drops of each radio"),
        Key("nodes", several(NODE), "802.11: queues of each node"),
    ),
    "subflows": (Key("subflows", several(SUBFLOW), "", always=True),),
    "flows": (
        Key(
            "competitors",
            several(
                of(*_plain(TEXT, NAME), *_plain(WHOLE, "count"), Key("goodput_mbps", NUMBER, ""))
            ),
            "`name`, `count`, mean `goodput_mbps` of one flow",
        ),
        Key(
            "flows",
            several(FLOW),
            "with several flows, one entry each, competitors included: `name`, `protocol`,"
            " `count` (if not 1), mean `goodput_mbps`, `share` of all delivered data,"
            " `delivered_bytes`, `completion_s`. Without competitors also: `delay_ms`,"
            " `messages`, `video`, `chunks`, `requests`, `web`, `subflows`",
        ),
        Key(
            "jain_index",
            NUMBER,
            "fairness of the flows' goodputs, (sum of x)² / (n sum of x²); 1 if all are equal"
            " (Jain, Chiu and Hawe, 1984)",
        ),
        Key(
            "mesh",
            of(
                *_plain(WHOLE, "nodes", "links", "draws"),
                *_plain(TEXT, "source", "destination"),
                *_plain(of(*_plain(WHOLE, "link", "node", "zone")), "routes"),
            ),
            "`nodes`, `links`, `draws`, `source`, `destination`, and the number of `routes` that"
            " share no `link`, no inner `node`, no `zone`",
        ),
        Key(
            "mptcp_ns3",
            of(
                *_plain(TEXT, "reordering"),
                *_plain(NUMBER, "out_of_order_percent", "buffer_max_kib"),
                *_plain(WHOLE, "buffer_max_segments"),
                Key("gthroughput_mbps", NUMBER, ""),
            ),
            'with `profile = "mptcp-ns3"`: [quantities of its papers](mptcp-ns3.md)',
        ),
    ),
    "stats": (
        Key(
            "stats",
            of(
                Key(
                    "data_packets",
                    WHOLE,
                    "data packets sent by endpoints, competitors included",
                    always=True,
                ),
                Key("events", WHOLE, "events of the run loop", always=True),
                Key("wall_s", NUMBER, "wall-clock time of the run"),
            ),
            "",
        ),
        Key(
            "origin",
            ORIGIN,
            "[where the result comes from](#where-a-result-comes-from), in the output of every"
            " verb",
        ),
    ),
}
# Of the testbed alone; docs/guide/testbed.md describes them.
TESTBED = (
    Key("write_lateness_ms", DELAY, "delay of the sender's writes"),
    Key(
        "emulator",
        of(
            Key("lateness_ms", by_name(NUMBER), ""),
            *_plain(FLAG, "trusted", "real_time"),
            *_plain(WHOLE, "packets"),
            *_plain(NUMBER, "cpu_s"),
        ),
        "the emulator of the links",
    ),
    Key("machine", by_name(NUMBER), "what the machine did meanwhile"),
    Key("tc", by_name(TEXTS), "commands that made the links"),
    Key(
        "kernel",
        of(
            *_plain(TEXT, "release"),
            Key("congestion", TEXT, ""),
            *_plain(by_name(by_name(WHOLE)), "counters"),
        ),
        "release of the kernel, and its counters",
    ),
    Key("captured_packets", WHOLE, "packets of the capture"),
    Key(
        "own_error",
        of(
            Key("goodput_mbps", INTERVAL, ""),
            Key("delay_ms", by_name(INTERVAL), ""),
            Key("added_ms", by_name(NUMBER), ""),
            Key("time_share", NUMBER, ""),
            Key("disturbed", {"type": ["boolean", "number"]}, ""),
            Key("runs", NUMBER, ""),
        ),
        "numbers without what the machine added",
    ),
)


def _runs() -> Schema:
    """Return the schema of what ``simulate`` and ``testbed`` print."""
    one = of(*(key for keys in RUN.values() for key in keys), *TESTBED)
    means = _means_of(one)
    engine, scenario, seed, *_ = RUN["run"]
    together = of(
        engine,
        scenario,
        seed,
        Key("runs", several(one), "each run's object", always=True),
        Key("mean", means, "mean over the runs of each number", always=True),
        Key("ci95", means, "half the width of the 95 % interval of each mean", always=True),
        Key("warnings", TEXTS, "warnings of the runs"),
        Key("origin", ORIGIN, ""),
    )
    return {"if": {"required": ["runs"]}, "then": together, "else": one}


def _means_of(schema: Schema) -> Schema:
    """Return the schema of means: any of the keys, and numbers that need not be whole."""
    if "properties" in schema:
        inner = {key: _means_of(each) for key, each in schema["properties"].items()}
        return {**schema, "properties": inner, "required": []}
    found = dict(schema)
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), Mapping):
            found[key] = _means_of(found[key])
    if found.get("type") in ("integer", "boolean"):
        found["type"] = "number"
    return found


MODEL = of(
    *_plain(TEXT, NAME, "source"),
    Key("goodput_mbps", NUMBER, "10^6 bit/s"),
    Key("delay_ms", by_name(NUMBER), "delays, and parts of them"),
    Key("cost", NUMBER, "as of a run"),
    Key("bottleneck", TEXT, "what limits the goodput"),
    Key("validity", TEXT, "where the formula holds"),
    Key("warnings", TEXTS, "what of the scenario the formula does not have"),
    Key("quantities", by_name(ANY), "further numbers of the formula"),
)
PREDICT = (
    Key("engine", {"const": "predict"}, "", always=True),
    Key("scenario", TEXT, "the scenario's title", always=True),
    Key("goodput_mbps", NUMBER, "of the model to believe"),
    Key("cost", NUMBER, "of the same"),
    Key("delay_ms", by_name(NUMBER), "of the same"),
    Key("best", TEXT, "name of the model to believe"),
    Key("reason", TEXT, "why that one"),
    Key("asymmetry", by_name(NUMBER), "mean difference of two paths"),
    Key("models", several(MODEL), "each model that applies", always=True),
    Key("warnings", TEXTS, "warnings"),
    Key("origin", ORIGIN, ""),
)
SETTINGS = by_name(ANY)
EVIDENCE = of(
    Key("what", TEXT, "the candidate", always=True),
    Key("settings", SETTINGS, "keys to set"),
    Key("remarks", TEXTS, "remarks, such as `advised`"),
    more=NUMBER,
)
ADVICE = of(
    *_plain(TEXT, "question", "title", "answer"),
    Key("settings", SETTINGS, "keys to set"),
    Key("evidence", several(EVIDENCE), "candidates with their numbers", always=True),
    Key("notes", TEXTS, "how the answer was found"),
    more=NUMBER,
)
SHARES = by_name(NUMBER)
COMPARED: dict[str, tuple[Key, ...]] = {
    "compare": (
        Key("ways", by_name({"type": "object"}), "each way's own object", always=True),
        Key("accuracy", SHARES, "accuracy of goodputs", always=True),
        Key(
            "agreements",
            several(
                of(
                    *_plain(TEXT, "judged", "against", "of"),
                    Key("unit", TEXT, "unit of the quantity"),
                    Key("accuracy", NUMBER, "1 if both are equal"),
                    Key("differs", FLAG, "whether the difference is significant"),
                )
            ),
            "agreement of each pair of ways in each quantity",
            always=True,
        ),
        Key("explanation", TEXTS, "why ways differ"),
        Key("left_out", by_name(TEXT), "ways that do not apply, with the reason"),
    ),
    "advise": (
        *_plain(WHOLE, "seed", "runs", "simulated"),
        Key("model", TEXT, "the model that ranked subsets of the links"),
        Key("advised", TEXTS, "the advised paths", always=True),
        Key("advice", several(ADVICE), "an answer to each question", always=True),
        Key(
            "check",
            of(
                *_plain(WHOLE, "subsets", "rank"),
                *_plain(NUMBER, "ratio"),
                *_plain(EVIDENCE, "best", "advised"),
                Key("model", SHARES, "accuracy of the model"),
            ),
            "with `--check`: the advised subset among all",
        ),
        Key("warnings", TEXTS, "warnings of the scenario"),
    ),
    "explain": (
        Key(
            "settings",
            several(
                of(
                    *_plain(TEXT, "key", "value"),
                    Key("source", TEXT, ""),
                    Key("meaning", TEXT, ""),
                )
            ),
            "every setting",
        ),
        Key(
            "wireless_links",
            several(
                of(
                    *_plain(TEXT, NAME, "channel", "from", "to"),
                    *_plain(NUMBER, "distance_m"),
                    Key("exchange_us", SHARES, "times of a frame's exchange"),
                    more=NUMBER,
                )
            ),
            "budget of each radio link",
        ),
        Key("hidden", several(by_name(TEXT)), "hidden stations"),
        Key("warnings", TEXTS, "warnings"),
    ),
    "mesh": (
        *_plain(WHOLE, "seed"),
        Key(
            "mesh",
            several(
                of(
                    *_plain(WHOLE, "nodes", "graphs", "draws", "all_feasible"),
                    *_plain(SHARES, "feasible"),
                    *_plain(by_name(several(NUMBER)), "feasible_ci95"),
                    Key("optimal", SHARES, "the same of the most routes there are"),
                    Key("optimal_ci95", by_name(several(NUMBER)), ""),
                    Key("unproven", WHOLE, "searches that were given up"),
                    *_plain(by_name(SHARES), "routes", "hops_first", "hops_second"),
                )
            ),
            "an entry for each number of nodes",
            always=True,
        ),
    ),
    "sweep": (
        *_plain(TEXT, "verb"),
        *_plain(WHOLE, "runs", "seed"),
        Key("until", {"type": "object"}, "when there are enough runs"),
        Key("zip", several(TEXTS), "keys that step together"),
        Key("vary", by_name(TEXTS), "values of each key", always=True),
        Key("points", by_name(WHOLE), "finished, failed and missing runs"),
        Key("combinations", several({"type": "object"}), "means of each combination"),
        Key("warnings", TEXTS, "warnings"),
        Key("errors", TEXTS, "errors of failed runs"),
        Key("origins", several(ORIGIN), "origin of the runs of each command"),
    ),
}
COMPARISON = of(
    *_plain(TEXT, "quantity"),
    Key("published", {"type": ["number", "string"]}, "the paper's value"),
    Key("ours", {"type": ["number", "string"]}, "our value", always=True),
    Key("difference", NUMBER, "ours less the published one"),
    Key("unit", TEXT, "unit of both"),
    *_plain(WHOLE, "digits"),
    Key("reason", TEXT, "why they differ"),
)
CHOICE = of(
    *_plain(TEXT, "question", "chosen"),
    *_plain(several(of(*_plain(TEXT, NAME), *_plain(SHARES, "numbers"))), "alternatives"),
    *_plain(WHOLE, "digits"),
)


def _verbs() -> Iterator[tuple[str, Schema]]:
    """Yield the engines that objects name, and the schema of each one's object."""
    yield "simulate", _runs()
    yield "testbed", _runs()
    yield "predict", of(*PREDICT)
    for engine, keys in COMPARED.items():
        head = Key("engine", {"const": engine}, "", always=True)
        title = Key("scenario", TEXT, "the scenario's title", always=True)
        yield engine, of(head, title, *keys, Key("origin", ORIGIN, ""))
    engine = Key("engine", {"const": "reproduce"}, "", always=True)
    item = of(
        engine,
        *_plain(TEXT, "paper", "item", "title", "source"),
        Key("seed", WHOLE, ""),
        Key("runs", WHOLE, ""),
        Key("comparisons", several(COMPARISON), "published values and ours", always=True),
        Key("choices", several(CHOICE), "choices that the paper leaves open", always=True),
        Key("origin", ORIGIN, ""),
    )
    listed = of(engine, Key("items", several({"type": "object"}), "the items", always=True))
    yield "reproduce", {"if": {"required": ["items"]}, "then": listed, "else": item}
    yield (
        "check",
        of(
            Key("engine", {"const": "check"}, "", always=True),
            Key("violations", WHOLE, "violations in all files", always=True),
            Key("files", several({"type": "object"}), "the report of each file", always=True),
        ),
    )


def results_schema() -> Schema:
    """Return the JSON Schema of what ``--json`` prints.

    Returns
    -------
    dict
        The schema; the key ``engine`` of an object says which of its definitions applies.

    Examples
    --------
    >>> results_schema()["$defs"]["origin"]["properties"]["date"]["description"]
    'start of the work: ISO 8601, UTC'
    """
    verbs = dict(_verbs())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Results of Ropewalk",
        "type": "object",
        "required": ["engine"],
        "properties": {"engine": {"enum": list(verbs)}},
        "allOf": [
            {
                "if": {"properties": {"engine": {"const": engine}}},
                "then": {"$ref": f"#/$defs/{engine}"},
            }
            for engine in verbs
        ],
        "$defs": {**verbs, "origin": ORIGIN},
    }
