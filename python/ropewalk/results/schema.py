"""JSON Schema of the ``--json`` output and of result folders, from keys.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

KINDS: dict[str, Schema] = {
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "text": {"type": "string"},
    "flag": {"type": "boolean"},
    "object": {"type": "object"},
    "any": {},
    "number or text": {"type": ["number", "string"]},
    "flag or number": {"type": ["boolean", "number"]},
}
# Tables that make up a run's object, and the commands whose objects have the same head.
RUN = ("run", "reordering", "links", "subflows", "flows", "stats", "testbed")
VERBS = ("predict", "compare", "advise", "explain", "mesh", "sweep")


def object_of(*tables: str) -> Schema:
    """Return the schema of an object with the keys of some tables of keys.toml.

    Examples
    --------
    >>> object_of("interval")["properties"]
    {'low': {'type': 'number'}, 'high': {'type': 'number'}}
    """
    keys: dict[str, Any] = {}
    for table in tables:
        keys |= _declared()[table]
    described = {
        name: [each, ""] if isinstance(each, str) else each for name, each in keys.items()
    }
    more = described.pop("*", None)
    return {
        "type": "object",
        "properties": {
            name: _kind(kind.rstrip("!")) | ({"description": meaning} if meaning else {})
            for name, (kind, meaning) in described.items()
        },
        "required": [name for name, (kind, _) in described.items() if kind.endswith("!")],
        "additionalProperties": _kind(more[0]) if more else False,
    }


def results_schema() -> Schema:
    """Return the JSON Schema of the ``--json`` output.

    Returns
    -------
    dict
        The key ``engine`` of an object selects its definition.

    Examples
    --------
    >>> results_schema()["$defs"]["origin"]["properties"]["date"]["description"]
    'start of the work: ISO 8601, UTC'
    """
    verbs = {"simulate": _runs(), "testbed": _runs()}
    verbs |= {verb: _with_head(verb) for verb in VERBS}
    listed, item = object_of("reproduce-list"), object_of("reproduce")
    statements = object_of("reproduce-coverage")
    item = {"if": {"required": ["statements"]}, "then": statements, "else": item}
    verbs["reproduce"] = {"if": {"required": ["items"]}, "then": listed, "else": item}
    verbs |= {verb: object_of(verb) for verb in ("check", "report")}
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
        "$defs": {**verbs, "origin": object_of("origin")},
    }


@cache
def _declared() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("keys.toml").read_text(encoding="utf-8"))


def _kind(kind: str) -> Schema:
    """Return the schema of a kind in keys.toml."""
    if kind in KINDS:
        return KINDS[kind]
    if kind.startswith("["):
        return {"type": "array", "items": _kind(kind[1:-1])}
    if kind.startswith("{"):
        return {"type": "object", "additionalProperties": _kind(kind[1:-1])}
    if kind.startswith("= "):
        return {"enum": kind[2:].split("|")}
    return object_of(kind)


def _with_head(verb: str) -> Schema:
    """Return the schema of a command's object, with the keys that most commands have."""
    made = object_of(verb)
    head = {"engine": {"const": verb}, "scenario": object_of("run")["properties"]["scenario"]}
    made["properties"] = head | made["properties"] | {"origin": object_of("origin")}
    made["required"] = [*head, *made["required"]]
    return made


def _runs() -> Schema:
    """Return the schema of one run, and of several with their means."""
    one = object_of(*RUN)
    means = _means_of(one)
    keys = one["properties"]
    shared = {name: keys[name] for name in ("engine", "scenario", "seed", "warnings", "origin")}
    several = {"runs": {"type": "array", "items": one}, "mean": means, "ci95": means}
    together = {
        "type": "object",
        "properties": shared | several,
        "required": ["engine", "scenario", "seed", *several],
        "additionalProperties": False,
    }
    return {"if": {"required": ["runs"]}, "then": together, "else": one}


def _means_of(schema: Schema) -> Schema:
    """Return the schema of means: any subset of the keys, and no integers."""
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
