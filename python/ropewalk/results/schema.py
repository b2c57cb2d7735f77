"""The JSON Schema of the objects that ``--json`` prints and folders keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .keys import (
    ANY,
    FLAG,
    NAME,
    NUMBER,
    ORIGIN,
    RUN,
    TESTBED,
    TEXT,
    TEXTS,
    WHOLE,
    Key,
    Schema,
    by_name,
    of,
    plain,
    several,
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
    *plain(TEXT, NAME, "source"),
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
    *plain(TEXT, "question", "title", "answer"),
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
                    *plain(TEXT, "judged", "against", "of"),
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
        *plain(WHOLE, "seed", "runs", "simulated"),
        Key("model", TEXT, "the model that ranked subsets of the links"),
        Key("advised", TEXTS, "the advised paths", always=True),
        Key("advice", several(ADVICE), "an answer to each question", always=True),
        Key(
            "check",
            of(
                *plain(WHOLE, "subsets", "rank"),
                *plain(NUMBER, "ratio"),
                *plain(EVIDENCE, "best", "advised"),
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
                    *plain(TEXT, "key", "value"),
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
                    *plain(TEXT, NAME, "channel", "from", "to"),
                    *plain(NUMBER, "distance_m"),
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
        *plain(WHOLE, "seed"),
        Key(
            "mesh",
            several(
                of(
                    *plain(WHOLE, "nodes", "graphs", "draws", "all_feasible"),
                    *plain(SHARES, "feasible"),
                    *plain(by_name(several(NUMBER)), "feasible_ci95"),
                    Key("optimal", SHARES, "the same of the most routes there are"),
                    Key("optimal_ci95", by_name(several(NUMBER)), ""),
                    Key("unproven", WHOLE, "searches that were given up"),
                    *plain(by_name(SHARES), "routes", "hops_first", "hops_second"),
                )
            ),
            "an entry for each number of nodes",
            always=True,
        ),
    ),
    "sweep": (
        *plain(TEXT, "verb"),
        *plain(WHOLE, "runs", "seed"),
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
    *plain(TEXT, "quantity"),
    Key("published", {"type": ["number", "string"]}, "the paper's value"),
    Key("ours", {"type": ["number", "string"]}, "our value", always=True),
    Key("difference", NUMBER, "ours less the published one"),
    Key("unit", TEXT, "unit of both"),
    *plain(WHOLE, "digits"),
    Key("reason", TEXT, "why they differ"),
)
CHOICE = of(
    *plain(TEXT, "question", "chosen"),
    *plain(several(of(*plain(TEXT, NAME), *plain(SHARES, "numbers"))), "alternatives"),
    *plain(WHOLE, "digits"),
)


def _verbs() -> Iterator[tuple[str, Schema]]:
    """Yield the engines that objects name, and the schema of each one's object."""
    yield "simulate", _runs()
    yield "testbed", _runs()
    yield "predict", of(*PREDICT)
    for name, keys in COMPARED.items():
        head = Key("engine", {"const": name}, "", always=True)
        title = Key("scenario", TEXT, "the scenario's title", always=True)
        yield name, of(head, title, *keys, Key("origin", ORIGIN, ""))
    engine = Key("engine", {"const": "reproduce"}, "", always=True)
    item = of(
        engine,
        *plain(TEXT, "paper", "item", "title", "source"),
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
