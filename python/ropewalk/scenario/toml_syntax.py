"""Values and keys in scenario file syntax."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ..support.arguments import builtin_value, mapping, short_repr

Value: TypeAlias = str | int | float | bool | Sequence[Any] | Mapping[str, Any]
Overrides: TypeAlias = "Sequence[tuple[str, Value]] | Mapping[str, Value]"
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_value(value: Value) -> str:
    """Return a value in scenario file syntax.

    Raises
    ------
    ValueError
        No scenario file has this type; the message begins with the value.

    Examples
    --------
    >>> toml_value("50 ms"), toml_value(2), toml_value(True), toml_value([["5 s", "10 s"]])
    ('50 ms', '2', 'true', '[["5 s", "10 s"]]')
    >>> toml_value({"model": "gilbert-elliott", "p": 0.1})
    '{ model = "gilbert-elliott", p = 0.1 }'
    """
    value = builtin_value(value)
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        pairs = (f"{_key(key)} = {toml_entry(item)}" for key, item in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(toml_entry(item) for item in value) + "]"
    if not isinstance(value, (bool, int, float)):
        allowed = "text, a number, True, False, or a list or mapping of these"
        raise ValueError(f"{short_repr(value)}: allowed: {allowed}")
    return json.dumps(value, ensure_ascii=False)


def toml(keys: Mapping[str, Any]) -> str:
    """Return keys and values as the text of a scenario file.

    Raises ValueError, which names the key, for a value of a type that no scenario file has.

    Examples
    --------
    >>> print(toml({"duration": "2 s", "link": [{"name": "dsl", "rate": "16 Mbit/s"}]}))
    duration = "2 s"
    [[link]]
    name = "dsl"
    rate = "16 Mbit/s"
    <BLANKLINE>
    """
    plains = {
        key: builtin_value(value) for key, value in mapping("scenario", keys, "keys").items()
    }
    # Keys come before tables: after a heading they would belong to its table.
    tables = {key: value for key, value in plains.items() if _is_tables(value)}
    lines = [*_lines({key: value for key, value in plains.items() if key not in tables}, "")]
    for key, value in tables.items():
        is_list = not isinstance(value, Mapping)
        for at, entry in enumerate(value if is_list else [value], 1):
            lines.append(f"[[{_key(key)}]]" if is_list else f"[{_key(key)}]")
            lines += _lines(entry, f"{key}-{at}." if is_list else f"{key}.")
    return "".join(f"{line}\n" for line in lines)


def pairs(name: str, overrides: Overrides) -> Iterator[tuple[str, str]]:
    """Yield dotted keys and values in scenario file syntax."""
    pairs = overrides.items() if isinstance(overrides, Mapping) else overrides
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or not isinstance(pair[0], str):
            allowed = 'a dotted key with its value, such as ("link.dsl.delay", "10 ms")'
            raise ValueError(f"{name}: {short_repr(pair)}: allowed: {allowed}")
        key, value = pair
        try:
            yield key, toml_value(value)
        except ValueError as error:
            raise ValueError(f"{name}: {key} = {error}") from None


def _is_tables(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(each, Mapping) for each in value)
    return isinstance(value, Mapping)


def _lines(keys: Mapping[str, Any], before: str) -> Iterator[str]:
    for key, value in keys.items():
        try:
            yield f"{_key(key)} = {toml_entry(builtin_value(value))}"
        except ValueError as error:
            raise ValueError(f"scenario: {before}{key} = {error}") from None


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise ValueError(f"scenario: key {short_repr(key)}: allowed: text")
    return key if BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def toml_entry(value: Value) -> str:
    """Return a value in the syntax of a list's or table's entry.

    Examples
    --------
    >>> toml_entry("50 ms"), toml_entry(2)
    ('"50 ms"', '2')
    """
    value = builtin_value(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else toml_value(value)
