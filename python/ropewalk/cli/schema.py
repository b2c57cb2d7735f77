"""``ropewalk schema``."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """Kinds of files that have a schema."""

    SCENARIO = "scenario"
    RESULTS = "results"


def schema(
    kind: Annotated[
        Kind,
        typer.Argument(
            help="Schema to print: of scenario files, or of the results that --json prints."
        ),
    ] = Kind.SCENARIO,
) -> None:
    """Print the JSON Schema of scenario files or of results.

    Example: ropewalk schema > scenario.schema.json
    """
    if kind is Kind.RESULTS:
        from ..results.schema import results_schema as made
    else:
        from ..scenario import schema as made
    print(json.dumps(made(), indent=2))
    sys.stdout.flush()
