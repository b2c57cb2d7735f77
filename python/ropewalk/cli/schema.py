"""``ropewalk schema``."""

from __future__ import annotations

import json
import sys

from ..scenario import scenario


def schema() -> None:
    """Print the JSON Schema of scenario files.

    Example: ropewalk schema > scenario.schema.json
    """
    print(json.dumps(scenario.schema(), indent=2))
    sys.stdout.flush()
