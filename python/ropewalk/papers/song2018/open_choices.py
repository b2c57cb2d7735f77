"""Open choices in the figures of Song et al. 2018, in words."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ...analysis.reproduction import Alternative, Choice

if TYPE_CHECKING:
    import polars as pl

S = TypeVar("S")

WORDS = {
    "even": "evenly spaced",
    "one high": "all but one at the minimum",
    "one low": "all but one at one higher value",
    "least": "the least",
    "mean": "the mean",
    "greatest": "the greatest",
    "printed": "as printed: one more for each n-th",
    "own": "the earlier segments and itself",
    "in turn": "the next in turn, equation (2)",
    "uniform": "any, equally likely (section 4.3)",
}

QUESTIONS = {
    "delays": "How are the delays distributed for an average asymmetry?",
    "rates": "How are the rates distributed for an average asymmetry?",
    "held_delay": "Which delay is constant as the delays' asymmetry grows?",
    "held_rate": "Which rate is constant as the rates' asymmetry grows?",
    "queue": "Which segments delay a segment at its link, equation (3)?",
    "start": "Which link carries a round's first segment?",
    "transfer_bytes": "How large is the transfer?",
}


def every(
    alternatives: Mapping[str, Sequence[Any]],
    setting: Callable[..., S],
    numbers: Callable[[S], Mapping[str, float]],
) -> pl.DataFrame:
    """Return a row for each combination of choices, with the resulting numbers."""
    import polars as pl

    settled = (
        setting(**dict(zip(alternatives, values, strict=True)))
        for values in itertools.product(*alternatives.values())
    )
    rows = [asdict(each) | dict(numbers(each)) for each in settled]  # type: ignore[call-overload]
    return pl.DataFrame(rows, infer_schema_length=None)


def choices(
    alternatives: Mapping[str, Sequence[Any]],
    chosen: S,
    numbers: Callable[[S], Mapping[str, float]],
    digits: int = 2,
) -> tuple[Choice, ...]:
    """Return each open choice: the chosen alternative, and the numbers of each."""
    return tuple(
        Choice(
            QUESTIONS[key],
            in_words(getattr(chosen, key)),
            tuple(
                Alternative(
                    in_words(value),
                    numbers(replace(chosen, **{key: value})),  # type: ignore[type-var]
                )
                for value in values
            ),
            digits=digits,
        )
        for key, values in alternatives.items()
    )


def in_words(value: str | float) -> str:
    """Describe a setting.

    Examples
    --------
    >>> in_words("even"), in_words(2e4), in_words(1e7)
    ('evenly spaced', '20 kB', '10 MB')
    """
    if isinstance(value, str):
        return WORDS[value]
    return f"{value / 1e6:g} MB" if value >= 1e6 else f"{value / 1e3:g} kB"
