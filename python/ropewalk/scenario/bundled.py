"""The bundled scenarios, which have names such as ``start/two-links``.

A name is the path below the folder, without ``.toml``. `Scenario.load <ropewalk.Scenario.load>`
and every command accept it in place of a file.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from ..support.suggestion import closest_match

__all__ = ["FOLDER", "STUDY", "copy", "file", "found", "names", "titles"]

_PACKAGE = Path(__file__).parents[1]
_CLONE = _PACKAGE.parents[1]
# A clone has one folder for all its parts; a wheel has it inside the package.
FOLDER = (_CLONE if (_CLONE / "crates").is_dir() else _PACKAGE) / "scenarios"
STUDY = "*.study.toml"  # study files, which are not scenarios


def names() -> list[str]:
    """Return the names of all bundled scenarios, in order.

    Examples
    --------
    >>> "start/two-links" in names()
    True
    """
    files = sorted(file for file in FOLDER.rglob("*.toml") if not file.match(STUDY))
    return [file.relative_to(FOLDER).with_suffix("").as_posix() for file in files]


def titles() -> dict[str, str]:
    """Return the titles by name.

    Examples
    --------
    >>> titles()["start/two-links"]
    'Two unequal links'
    """
    return {name: tomllib.loads(file(name).read_text()).get("title", "") for name in names()}


def file(name: str) -> Path:
    """Return the file of a bundled scenario; its trace files are in the same folder.

    Raises
    ------
    ValueError
        The name is unknown.

    Examples
    --------
    >>> file("start/two-links").name
    'two-links.toml'
    >>> file("start")
    Traceback (most recent call last):
    ValueError: start: no bundled scenario; `ropewalk scenarios` lists them
    """
    known = names()
    if name not in known:
        near = closest_match(name, known)
        meant = f" {near}?" if near else ""
        raise ValueError(f"{name}: no bundled scenario;{meant} `ropewalk scenarios` lists them")
    return FOLDER / f"{name}.toml"


def found(path: Path) -> Path:
    """Return the path if it exists, else the file of the bundled scenario that it names.

    Raises
    ------
    FileNotFoundError
        It is neither; the message suggests a similar name.

    Examples
    --------
    >>> found(Path("start/two-links")).suffix
    '.toml'
    """
    if path.exists() or path.is_absolute():
        return path
    if path.suffix:
        same = [name for name in names() if Path(name).name == path.stem]
        if path.suffix != ".toml" or not same:
            return path
        message = f"no such file; did you mean the bundled scenario {same[0]}?"
        raise FileNotFoundError(2, message, str(path))
    try:
        return file(str(path))
    except ValueError as error:
        message = str(error).removeprefix(f"{path}: ")
        raise FileNotFoundError(2, f"no such file, and {message}", str(path)) from None


def copy(folder: Path, wanted: Sequence[str] = ()) -> list[Path]:
    """Copy bundled scenarios and their traces to a folder.

    If any file exists already, nothing is copied.

    Parameters
    ----------
    folder : Path
        Target; created if it is missing.
    wanted : sequence of str
        Names; all scenarios if empty.

    Raises
    ------
    ValueError
        A name is unknown.
    OSError
        A file exists already, or cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as there:
    ...     made = copy(Path(there) / "mine", ["start/two-links", "start/wifi-lte-traces"])
    ...     [path.name for path in made], len([*made[1].parent.glob("traces/*.down")])
    (['two-links.toml', 'wifi-lte-traces.toml'], 2)
    """
    scenarios = [file(name) for name in wanted or names()]
    sources = dict.fromkeys(
        each for scenario in scenarios for each in (scenario, *_traces(scenario))
    )
    targets = {source: folder / source.relative_to(FOLDER) for source in sources}
    for target in targets.values():
        if target.exists():
            raise FileExistsError(17, "file exists", str(target))
    for source, target in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return [targets[scenario] for scenario in scenarios]


def _traces(scenario: Path) -> list[Path]:
    """Return the trace files in a scenario's folder that it names."""
    text = scenario.read_text()
    traces = sorted(each for each in scenario.parent.rglob("*") if each.is_file())
    relative = ((each, each.relative_to(scenario.parent).as_posix()) for each in traces)
    return [each for each, path in relative if f'"{path}"' in text]
