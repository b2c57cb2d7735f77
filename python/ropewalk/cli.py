"""The command ``ropewalk``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ._core import ScenarioError, __version__
from .scenario import Scenario, schema
from .simulation import SEED_MAX, SNAPLEN_MAX, simulate

if TYPE_CHECKING:
    from .results import Results

FAILED = 1
WRONG_INPUT = 2
STEP = "100 ms"

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line and exit: 0 done, 1 the run failed, 2 the input is wrong."""
    try:
        app()
    except OSError as error:
        # Nothing more can be said on standard output, not even at exit. If whoever read it
        # has left, nothing is to be said at all.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"standard output: {error.strerror or error}".lower(), file=sys.stderr)
        sys.exit(FAILED)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ropewalk {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Say which this is."),
    ] = False,
) -> None:
    """What several unequal network links give together."""


@app.command("simulate")
def _simulate(
    scenario: Annotated[Path, typer.Argument(help="The scenario file.", show_default=False)],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, max=SEED_MAX, metavar="N", help="Seed of the first run.")
    ] = 1,
    runs: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="How many runs; each has the seed after the one before."
        ),
    ] = 1,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a key of the scenario to another value; may be given several times.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep tables (Parquet), plots, the scenario used and the JSON object.",
            show_default=False,
        ),
    ] = None,
    pictures: Annotated[
        list[Path] | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw all plots of the first run on one page: .png, .svg or .pdf.",
            show_default=False,
        ),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help=f"Step of the timeline that --out keeps and plots show; default: {STEP}.",
            show_default=False,
        ),
    ] = None,
    reordering: Annotated[
        bool, typer.Option("--reordering", help="Measure reordering by RFC 4737 and RFC 5236.")
    ] = False,
    capture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the packets of the first run, for Wireshark: .pcapng or .pcap.",
            show_default=False,
        ),
    ] = None,
    capture_at: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Where --capture sees them: sender, receiver, or a link's name; default: sender.",
            show_default=False,
        ),
    ] = None,
    snaplen: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=SNAPLEN_MAX,
            metavar="BYTES",
            help="How much of each packet --capture keeps; default: all.",
            show_default=False,
        ),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write windows, round-trip times and losses of the first run, as qlog: .sqlog.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="How many runs at a time; default: all cores.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a scenario packet by packet, in virtual time.

    Example: ropewalk simulate scenarios/start/two-links.toml
    --set link.dsl.delay=50ms --runs 20
    """
    pictures = pictures or []
    with _wrong_input():
        overrides = [_override(change) for change in changes or []]
        loaded = Scenario.load(scenario, overrides)
        _check_outputs(out, [*pictures, *(path for path in (capture, qlog) if path)])
        _check_pictures(pictures)
        for option, value in (("--capture-at", capture_at), ("--snaplen", snaplen)):
            if value is not None and capture is None:
                raise ValueError(f"{option} {value}: only with --capture")
        if step is not None and not (out or pictures):
            raise ValueError(f"--step {step}: only with --out or --plot")
    with _failures(), _progress(runs) as progress:
        results = simulate(
            loaded,
            seed=seed,
            runs=runs,
            step=(step or STEP) if out or pictures else None,
            reordering=reordering,
            threads=threads,
            progress=progress,
            capture=capture,
            capture_at=capture_at or "sender",
            snaplen=snaplen,
            qlog=qlog,
        )
    with _failures():
        written = _keep(results, out, pictures)
        if capture is not None:
            place = f"at {capture_at}" if capture_at else "at the sender"
            count = f"{results.captured_packets:,}".replace(",", " ")
            written.append(f"packets: {capture} ({count}, {place})")
        if qlog is not None:
            written.append(f"qlog:    {qlog}")
    if as_json:
        print(json.dumps(results.json()))
    else:
        _print(results, written)
    sys.stdout.flush()


@app.command("schema")
def _schema() -> None:
    """Print the JSON Schema of scenario files.

    Example: ropewalk schema > scenario.schema.json
    """
    print(json.dumps(schema(), indent=2))
    sys.stdout.flush()


def _override(change: str) -> tuple[str, str]:
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise ValueError(f"--set {change}: expected KEY=VALUE, such as link.wifi.delay=50ms")
    return key.strip(), value.strip()


def _check_outputs(out: Path | None, files: list[Path]) -> None:
    """Find out before the run what would be in the way after it."""
    if out is not None:
        from .store import check_folder

        check_folder(out)
    for file in files:
        if not file.parent.is_dir():
            raise FileNotFoundError(f"{file.parent}: no such folder")
        if file.is_dir():
            raise IsADirectoryError(f"{file}: is a folder")


def _check_pictures(pictures: list[Path]) -> None:
    if pictures:
        from .plot import check_format

        for picture in pictures:
            check_format(picture)


def _keep(results: Results, out: Path | None, pictures: list[Path]) -> list[str]:
    """Write what was asked for; say what is where."""
    written = []
    if pictures:
        from . import plot

        page = plot.overview(results)
        written += [f"picture: {plot.save(page, picture)}" for picture in pictures]
    if out is not None:
        from .store import keep

        first, *others = keep(results, out)
        also = ", ".join(path.name for path in others)
        written.append(f"picture: {first}" + (f" (beside it: {also})" if also else ""))
        written.append(f"tables:  {out}")
    return written


def _print(results: Results, written: list[str]) -> None:
    from rich.console import Console

    from .table import table

    console = Console(highlight=False)
    console.print(table(results))
    for line in written:
        console.print(line, soft_wrap=True, markup=False)


@contextmanager
def _wrong_input() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.filename is not None and error.strerror is not None:
            _fail(f"{error.filename}: {error.strerror.lower()}", WRONG_INPUT)
        _fail(str(error), WRONG_INPUT)
    except ValueError as error:
        _fail(str(error), WRONG_INPUT)


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except (ScenarioError, ValueError) as error:
        _fail(str(error), WRONG_INPUT)
    except (OSError, RuntimeError, MemoryError) as error:
        _fail(str(error) or type(error).__name__, FAILED)


def _fail(message: str, status: int) -> NoReturn:
    print(message, file=sys.stderr)
    raise typer.Exit(status)


@contextmanager
def _progress(runs: int) -> Iterator[Callable[[int], object] | None]:
    """Show on a terminal how many runs are done; stay silent elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("simulating", total=runs)
        yield lambda finished: shown.update(task, completed=finished)
