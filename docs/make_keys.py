"""Writes keys.md and the tables of guide/results.md: every key, from its schema."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ropewalk
from ropewalk.results.schema import object_of
from ropewalk.scenario import registry

PAGE = Path(__file__).with_name("keys.md")
RESULTS = Path(__file__).parent / "guide" / "results.md"
# A table of the page of results, between two such lines.
TABLE = re.compile(r"(<!-- keys: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

HEAD = """\
# Every key of a scenario file

Each table lists the keys of one section with their values and defaults. [The guide](guide.md)
explains how to write a scenario file. This page is generated from the JSON Schema by `make docs`.
"""

# The kind of a quantity, by a unit that only this kind has.
QUANTITIES = {
    "nsec": "time",
    "bdp": "packets, size or bdp",
    "packets": "packets or size",
    "bytes": "size",
    "[bB][iI][tT]": "rate",
    "(?:%)": "percentage",
}


ALGORITHMS = """
## Algorithms

{keys} take the name of an algorithm, or a table with
its name and parameters. For example, `scheduler = {{ name = "blest", lambda = 1.3 }}`;
`--set transport.scheduler.lambda=1.3` sets one parameter. Each algorithm is declared in its own
file in `crates/transport/src`, from which these tables are generated: [add one](extending.md).
"""


def page() -> str:
    """Return the text of docs/keys.md."""
    return HEAD + "".join([*sections("", ropewalk.schema()), *algorithms()])


def algorithms() -> Iterator[str]:
    """Yield the tables of the algorithms and of their parameters, by the key that names them."""
    keys = [f"`{key}`" for key in registry.algorithm_keys()]
    yield ALGORITHMS.format(keys=", ".join(keys[:-1]) + " and " + keys[-1])
    for key in registry.algorithm_keys():
        declared = ropewalk.algorithms(key)
        if key == "subflow":
            continue  # single-path algorithms are listed under `congestion`
        yield f"\n### `{key}`\n\n| name | description | source |\n| --- | --- | --- |\n"
        for each in declared:
            yield row(f"`{each.name}`", each.doc, each.source)
        parameters = [(each.name, one) for each in declared for one in each.parameters]
        if not parameters:
            continue
        yield "\n| algorithm | parameter | value | default | meaning | source |\n"
        yield "| --- | --- | --- | --- | --- | --- |\n"
        for name, one in parameters:
            value = one.allowed.removeprefix("a ")
            named = (f"`{name}`", f"`{one.name}`", value, f"`{one.default}`", one.doc, one.source)
            yield row(*named)


def row(*cells: str) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def sections(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the keys of one object, then tables of the objects within."""
    yield f"\n## {f'`{name}`' if name else 'At the top'}\n"
    if "description" in schema and name:
        yield f"\n{schema['description']}\n"
    if name == "flow":
        yield "\nIn addition, every key of [`transport`](#transport), with the same defaults.\n"
    yield "\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n"
    required = schema.get("required", [])
    keys = schema["properties"]
    if name == "flow":
        # Keys of the transport, which have their own table.
        shared = ropewalk.schema()["properties"]["transport"]["properties"]
        keys = {key: described for key, described in keys.items() if key not in shared}
    for key, described in keys.items():
        meaning, _, said = described.get("description", "").partition(" Default: ")
        default = toml(described["default"]) if "default" in described else ""
        if key in required:
            default = "required"
        elif said:
            default = f"{default}; {said}" if default else said
        cells = (f"`{key}`", kind(described), default.removesuffix("."), meaning)
        yield row(*cells)
    for key, described in keys.items():
        for inner in objects(described):
            if name and key == "reverse":
                continue  # keys of the link, which have their own table
            titled = {"description": described.get("description", "")} | inner
            yield from sections(f"{name}.{key}" if name else key, titled)


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the values of a key that are objects with keys of their own."""
    if "properties" in schema and not is_algorithm(schema):
        yield schema
    for inner in [*schema.get("anyOf", []), schema.get("items")]:
        if inner is not None:
            yield from objects(inner)


def is_algorithm(schema: dict[str, Any]) -> bool:
    """Return whether an object is an algorithm with its parameters."""
    return "enum" in schema["properties"].get("name", {})


def kind(schema: dict[str, Any]) -> str:
    """Return the values of a key in words."""
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if "const" in schema:
        return "" if schema["const"] == 0 else f"`{schema['const']}`"
    if "anyOf" in schema:
        kinds = [kind(inner) for inner in schema["anyOf"]]
        return " or ".join(dict.fromkeys(k for k in kinds if k))
    match schema.get("type"):
        case "array":
            return "list of " + kind(schema["items"])
        case "object":
            if is_algorithm(schema):
                return "a table of name and [parameters](#algorithms)"
            return "table"
        case "string":
            pattern = schema.get("pattern", "")
            return next((word for unit, word in QUANTITIES.items() if unit in pattern), "text")
        case "integer" | "number" as number:
            least, most = schema.get("minimum"), schema.get("maximum")
            word = "whole number" if number == "integer" else "number"
            return word if least is None or most is None else f"{word} from {least} to {most}"
        case "boolean":
            return "true or false"
        case other:
            return str(other)


def toml(value: object) -> str:
    """Return a default in scenario file syntax."""
    from ropewalk.scenario import toml_value

    return f"`{toml_value(value)}`" if not isinstance(value, str) else f'`"{value}"`'


def results_page(page: str) -> str:
    """Return the page of results with tables made from the schema."""

    def table(found: re.Match[str]) -> str:
        rows = "".join(result_rows(object_of(found[2])))
        return f"{found[1]}| key | meaning |\n| --- | --- |\n{rows}{found[3]}"

    return TABLE.sub(table, page)


def result_rows(schema: dict[str, Any], before: str = "") -> Iterator[str]:
    """Yield a line for each key; keys of an object without its own description are separate."""
    for key, described in schema["properties"].items():
        name = f"{before}{key}"
        inner = described.get("items", described)
        if "description" in described:
            of_all = "[]" if "properties" in described.get("items", {}) else ""
            yield row(f"`{name}{of_all}`", described["description"])
        elif "properties" in inner:
            yield from result_rows(inner, f"{name}[]." if inner is not described else f"{name}.")


if __name__ == "__main__":
    PAGE.write_text(page())
    RESULTS.write_text(results_page(RESULTS.read_text()))
