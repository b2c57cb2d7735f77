"""``ropewalk explain``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..analysis import explain as api
from .failures import failures, wrong_input
from .options import Changes, Json, ScenarioFile, check_outputs, load, plot_option
from .output import print_result, save_pictures


def explain(
    scenario: ScenarioFile,
    as_json: Json = False,
    changes: Changes = None,
    pictures: Annotated[
        list[Path] | None,
        plot_option("the positions of radios and the links between them, for a mesh its routes"),
    ] = None,
) -> None:
    """Explain a scenario: every key with its source, and the budget of each radio link.

    Example: ropewalk explain scenarios/papers/gomez-2014.toml --plot place.png
    """
    with wrong_input():
        loaded = load(scenario, changes)
        check_outputs(None, pictures or [])
        explained = api.explain(loaded)
        if pictures and explained.place is None:
            raise ValueError(f"--plot {pictures[0]}: all links of the scenario are wired")
    with failures():
        written = save_pictures(explained, pictures or [])
    print_result(explained, written, as_json=as_json)
