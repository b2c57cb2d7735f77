"""The keys of a run's JSON object, with their meanings: one declaration.

The schema of results and the tables of docs/guide/results.md are made of it.
"""

from __future__ import annotations

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


def plain(kind: Schema, *names: str) -> tuple[Key, ...]:
    """Return keys of one kind that each object has, and that their names explain."""
    return tuple(Key(name, kind, "", always=True) for name in names)


DELAY = of(*plain(NUMBER, "mean", "p50", "p95", "p99", "max"))
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
NSTAT = plain(
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
                *plain(TEXT, NAME),
                *plain(WHOLE, "delivered_bytes"),
                *plain(NUMBER, "share"),
            )
        ),
        "with several flows, each flow's part of the link: `name`, `delivered_bytes`, `share`",
    ),
)
AIRTIME = of(*plain(NUMBER, "data", "retries", "ack", "rts", "defer", "idle"))
CHANNEL = of(
    *plain(TEXT, NAME),
    *plain(NUMBER, "busy_ratio", "collision_ratio"),
    *plain(AIRTIME, "airtime"),
)
NODE = of(
    *plain(TEXT, NAME),
    *plain(several(NUMBER), "at"),
    *plain(NUMBER, "queue_mean"),
    *plain(WHOLE, "queue_max"),
)
RADIO = of(
    *plain(TEXT, "node", "channel"),
    *plain(WHOLE, "frames", "retries", "drops_tries", "drops_queue", "drops_lifetime"),
    *plain(WHOLE, "collisions"),
    *plain(NUMBER, "airtime_ratio"),
    *plain(AIRTIME, "airtime"),
)
FLOW = of(
    *plain(TEXT, NAME, "protocol"),
    Key("count", WHOLE, ""),
    *plain(NUMBER, "goodput_mbps", "share"),
    *plain(WHOLE, "delivered_bytes"),
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
            *plain(NUMBER, "reordered_ratio"),
            *plain(several(WHOLE), "extents"),
            *plain(several(several(NUMBER)), "density"),
            *plain(several(NUMBER), "buffer_density"),
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
            several(of(*plain(TEXT, "link"), *plain(WHOLE, "used", "left"))),
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
                of(*plain(TEXT, NAME), *plain(WHOLE, "count"), Key("goodput_mbps", NUMBER, ""))
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
                *plain(WHOLE, "nodes", "links", "draws"),
                *plain(TEXT, "source", "destination"),
                *plain(of(*plain(WHOLE, "link", "node", "zone")), "routes"),
            ),
            "`nodes`, `links`, `draws`, `source`, `destination`, and the number of `routes` that"
            " share no `link`, no inner `node`, no `zone`",
        ),
        Key(
            "mptcp_ns3",
            of(
                *plain(TEXT, "reordering"),
                *plain(NUMBER, "out_of_order_percent", "buffer_max_kib"),
                *plain(WHOLE, "buffer_max_segments"),
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
            *plain(FLAG, "trusted", "real_time"),
            *plain(WHOLE, "packets"),
            *plain(NUMBER, "cpu_s"),
        ),
        "the emulator of the links",
    ),
    Key("machine", by_name(NUMBER), "what the machine did meanwhile"),
    Key("tc", by_name(TEXTS), "commands that made the links"),
    Key(
        "kernel",
        of(
            *plain(TEXT, "release"),
            Key("congestion", TEXT, ""),
            *plain(by_name(by_name(WHOLE)), "counters"),
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
