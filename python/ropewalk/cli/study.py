"""``ropewalk study``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..scenario import bundled
from ..support.optional_deps import require
from .failures import failures, wrong_input
from .options import (
    Changes,
    Json,
    check_pictures,
    load,
    override,
    plot_option,
    runs_option,
    seed_option,
)
from .output import print_result, save_pictures
from .progress import progress
from .statuses import FAILED, INTERRUPTED

if TYPE_CHECKING:
    from ..analysis.study import Definition

RESULTS = Path("results")


def study(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY",
            help="Study file, or a scenario with --vary; - means a scenario on standard input.",
            show_default=False,
        ),
    ],
    as_json: Json = False,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=A,B,C",
            help="Values of a key, or a range: KEY=FROM..TO:STEPS, KEY=FROM..TO:STEPS:log."
            " Repeat for several keys, which are crossed.",
            show_default=False,
        ),
    ] = None,
    zipped: Annotated[
        list[str] | None,
        typer.Option(
            "--zip",
            metavar="KEY,KEY",
            help="Keys of --vary whose values change together, instead of being crossed.",
            show_default=False,
        ),
    ] = None,
    verb: Annotated[
        str | None,
        typer.Option(
            metavar="VERB",
            help="Verb to run: simulate, predict, compare, testbed, advise. Default: simulate.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int | None, runs_option("Number of seeds for each combination. Default: 1.")
    ] = None,
    seed: Annotated[
        int | None, seed_option("Seed of the first run of each combination. Default: 1.")
    ] = None,
    ci95: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Add seeds until half the 95 % interval of the goodput is at most this share of"
            " its mean, such as 2%.",
            show_default=False,
        ),
    ] = None,
    at_most: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Largest number of runs of each combination with --ci95. Default: 100.",
            show_default=False,
        ),
    ] = None,
    changes: Changes = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder that stores the runs. Runs that it already has are not repeated."
            " Default: results/ and the file's name.",
            show_default=False,
        ),
    ] = None,
    pictures: Annotated[
        list[Path] | None,
        plot_option("lines, dots or maps over the varied keys"),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Place of the runs: a number of processes, local (a Dask cluster of this"
            " machine), or a Dask scheduler, tcp://HOST:PORT. Default: all cores of this machine.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a study: a scenario with varied keys. Finished runs are not repeated.

    Run the same command again to resume an interrupted study. The exit status is 1 if a run has
    failed; the other runs are stored.

    Example: ropewalk study scenarios/start/two-links.toml --vary link.dsl.delay=10ms,50ms,100ms
    --vary transport.scheduler=min-rtt,blest --runs 10
    """
    from ..analysis.study.api import RESUME, run
    from ..analysis.study.backends import check_on
    from ..analysis.study.folder import check_folder
    from ..analysis.study.rows import EARLIER, read

    pictures = pictures or []
    with wrong_input():
        require("study", "polars")
        check_pictures(pictures)
        until = _until(ci95, at_most)
        defined = _defined(
            file,
            changes,
            vary=_all_varied(vary) if vary else None,
            zipped=[_split(group) for group in zipped] if zipped else None,
            verb=verb,
            runs=runs,
            seed=seed,
            until=until,
        )
        where = int(on) if on is not None and on.isdecimal() else on
        check_on(where)
        stem = file.name.removesuffix(".toml").removesuffix(".study")
        folder = out or RESULTS / (stem if str(file) != "-" else "study")
        check_folder(folder)

    def print_begun(there: int, missing: int) -> None:
        if there:
            text = f"{there:,} runs exist, {missing:,} are missing: {folder}"
            print(text, file=sys.stderr, flush=True)

    try:
        with failures(), progress("running", rate=True) as finished:
            made = run(defined, folder, on=where, progress=finished, begun=print_begun)
    except KeyboardInterrupt as interrupt:
        # An interrupt before the first run has no note.
        (note,) = getattr(interrupt, "__notes__", ()) or (f"{RESUME}: {folder}",)
        print(f"interrupted; {note}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    written = [f"points:  {folder / 'points'}", f"tables:  {folder / 'tables'}"]
    if unused := read(folder / EARLIER).height:
        note = f"{unused:,} runs of an earlier study, which this one does not use"
        written.append(f"earlier: {folder / EARLIER} ({note})")
    undrawn = ""
    with failures():
        try:
            written = save_pictures(made, pictures) + written
        except ValueError as error:
            undrawn = str(error)
    print_result(made, written, as_json=as_json)
    if undrawn:
        print(f"no picture: {undrawn}", file=sys.stderr)
    if made.failed.height:
        first = made.failed["error"][0]
        count = f"{made.failed.height} of {made.points.height}"
        print(f"{count} runs failed; the first: {first}", file=sys.stderr)
    if made.failed.height or undrawn:
        raise typer.Exit(FAILED)


def _defined(file: Path, changes: list[str] | None, **others: Any) -> Definition:
    from ..analysis.study import definition

    if str(file) != "-" and definition.is_study(bundled.found(file)):
        overrides = [override(change) for change in changes or []]
        return definition.load(file, overrides, **others)
    scenario = load(file, changes)
    if others["vary"] is None:
        raise ValueError(f"{file}: is a scenario: needs --vary, or a study file instead")
    given = {key: value for key, value in others.items() if value is not None}
    return definition.define(scenario, given.pop("vary"), **given)


def _until(ci95: str | None, at_most: int | None) -> dict[str, Any] | None:
    if ci95 is None:
        if at_most is not None:
            raise ValueError(f"--at-most {at_most}: only with --ci95")
        return None
    return {"ci95": ci95, "at_most": at_most or 100}


def _all_varied(texts: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        key, values = _varied(text)
        if key in found:
            raise ValueError(f"--vary {text}: {key} is varied twice; give all its values at once")
        found[key] = values
    return found


def _varied(text: str) -> tuple[str, Any]:
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise ValueError(f"--vary {text}: expected KEY=A,B,C or KEY=FROM..TO:STEPS")
    low, dots, rest = values.partition("..")
    if not dots:
        return key.strip(), _split(values)
    high, _, steps = rest.partition(":")
    count, _, scale = steps.partition(":")
    if not count.strip().isdecimal():
        raise ValueError(f"--vary {text}: how many steps? Expected KEY=FROM..TO:STEPS")
    known: dict[str, Any] = {"from": low.strip(), "to": high.strip(), "steps": int(count)}
    return key.strip(), known | ({"scale": scale.strip()} if scale else {})


def _split(text: str) -> list[str]:
    """Split at commas outside brackets and quotes.

    Examples
    --------
    >>> _split('min-rtt, { name = "blest", lambda = 1.2 }')
    ['min-rtt', '{ name = "blest", lambda = 1.2 }']
    """
    parts, depth, quoted, word = [], 0, False, ""
    for letter in text:
        quoted ^= letter == '"'
        if not quoted:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0 and not quoted:
            parts.append(word.strip())
            word = ""
        else:
            word += letter
    return [*parts, word.strip()]
