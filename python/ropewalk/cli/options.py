"""Common arguments and options of the verbs, with their checks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from ..engines.simulate import SEED_MAX
from ..scenario import Scenario
from ..support.atomic_write import check_file
from ..support.optional_deps import require
from .completion import keys

STEP = "100 ms"

ScenarioFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        help="Scenario file, or name of a bundled scenario; - means standard input.",
        show_default=False,
    ),
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")
]
Changes: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a key of the scenario to another value. Repeat for several keys.",
        show_default=False,
        autocompletion=keys,
    ),
]
Capture: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write the packets of the first run to a file for Wireshark: .pcapng or .pcap.",
        show_default=False,
    ),
]
CaptureAt: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="PLACE",
        help="Observation point of --capture: sender, receiver, a link's name, channel/NAME, "
        "node/NAME. Default: sender.",
        show_default=False,
    ),
]
Again: TypeAlias = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=0,
        help="Largest number of repetitions of a testbed run that the machine disturbed.",
    ),
]
Step: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help=f"Time step of the timeline that --out stores and plots show. Default: {STEP}.",
        show_default=False,
    ),
]


def seed_option(what: str) -> Any:
    """Return ``--seed`` with this help, for any seed."""
    return typer.Option(min=0, max=SEED_MAX, metavar="N", help=what)


def runs_option(what: str) -> Any:
    """Return ``--runs`` with this help, at least 1."""
    return typer.Option(min=1, metavar="N", help=what)


def out_option(kept: str) -> Any:
    """Return ``--out``, which stores `kept` and the JSON object in a folder."""
    return typer.Option(
        metavar="DIR",
        help=f"Folder in which to store {kept} and the JSON object.",
        show_default=False,
    )


def plot_option(drawn: str, more: str = "") -> Any:
    """Return ``--plot``, which draws `drawn`; `more` ends the help."""
    return typer.Option(
        "--plot",
        metavar="FILE",
        help=f"Draw {drawn}. Formats: .png, .svg or .pdf{more}.",
        show_default=False,
    )


Seed: TypeAlias = Annotated[
    int, seed_option("Seed of the first run. Later runs have the next seeds.")
]
RunsFolder: TypeAlias = Annotated[
    Path | None, out_option("tables (Parquet), plots, the scenario used")
]
RunsPage: TypeAlias = Annotated[
    list[Path] | None,
    plot_option("all plots on one page, for several runs means with 95 % bands"),
]
PictureFolder: TypeAlias = Annotated[
    Path | None, out_option("tables (Parquet), the picture, the scenario used")
]


def load(scenario: Path, changes: list[str] | None) -> Scenario:
    """Read a scenario file or, for ``-``, standard input, and set the keys of ``--set``.

    Raises ValueError for an invalid scenario or change, OSError for an unreadable file.
    """
    overrides = [override(change) for change in changes or []]
    if str(scenario) == "-":
        return Scenario.read(sys.stdin.buffer, name="<stdin>", overrides=overrides)
    return Scenario.load(scenario, overrides)


def check_outputs(out: Path | None, pictures: list[Path], *others: Path | None) -> None:
    """Raise OSError before the run if results cannot be written, ValueError as check_pictures."""
    if out is not None:
        require("--out", "polars", "matplotlib")
        from ..results.folders import check_folder

        check_folder(out)
    for file in (*pictures, *others):
        if file is not None:
            check_file(file)
    check_pictures(pictures)


def check_pictures(pictures: list[Path]) -> None:
    """Raise ValueError if a picture's name ends in no known format."""
    if pictures:
        require("--plot", "polars", "matplotlib")
        from ..output.plot import check_format

        for picture in pictures:
            check_format(picture)


def check_needed(option: str, value: object, needed: str, *given: object) -> None:
    """Raise ValueError if an option is given without one that it needs.

    `needed` names these options, `given` has their values.
    """
    if value is not None and not any(given):
        raise ValueError(f"{option} {value}: only with {needed}")


def check_step(step: str | None, out: Path | None, pictures: list[Path]) -> None:
    """Raise ValueError if the timeline of ``--step`` is neither stored nor drawn."""
    check_needed("--step", step, "--out or --plot", out, pictures)


def effective_step(step: str | None, out: Path | None, pictures: list[Path]) -> str | None:
    """Return the timeline's step; None if it is neither stored nor drawn."""
    return (step or STEP) if out or pictures else None


def override(change: str) -> tuple[str, str]:
    """Split a ``--set`` into key and value; ValueError if it is not KEY=VALUE."""
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"--set {change}: expected KEY=VALUE, such as link.wifi.delay=50ms")
    return key.strip(), value.strip()
