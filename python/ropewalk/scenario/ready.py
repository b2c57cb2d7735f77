"""The ready scenarios, which come with the package and are referred to by name.

A name is a file's below the folder, without ``.toml``: ``start/two-links``. `Scenario.load
<ropewalk.Scenario.load>` takes one in place of a path, and so does every verb.
"""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path

from ..support.near import nearest

__all__ = ["FOLDER", "STUDY", "copy", "file", "found", "names", "titles"]

_PACKAGE = Path(__file__).parents[1]
_CLONE = _PACKAGE.parents[1]
# A clone has them beside the package, for all its parts; a wheel has them inside of it.
FOLDER = (_CLONE if (_CLONE / "crates").is_dir() else _PACKAGE) / "scenarios"
STUDY = "*.study.toml"  # study files, which are no scenarios


def names() -> list[str]:
    """Return the names of all of them, in order.

    Examples
    --------
    >>> "start/two-links" in names()
    True
    """
    files = sorted(file for file in FOLDER.rglob("*.toml") if not file.match(STUDY))
    return [file.relative_to(FOLDER).with_suffix("").as_posix() for file in files]


def titles() -> dict[str, str]:
    """Return the title of each, by name.

    Examples
    --------
    >>> titles()["start/two-links"]
    'Two unequal links'
    """
    return {name: tomllib.loads(file(name).read_text()).get("title", "") for name in names()}


def file(name: str) -> Path:
    """Return the file of a ready scenario; trace files that it names are beside it.

    Raises
    ------
    ValueError
        There is none of this name.

    Examples
    --------
    >>> file("start/two-links").name
    'two-links.toml'
    >>> file("start/two-link")
    Traceback (most recent call last):
    ValueError: start/two-link: no ready scenario; start/two-links? `ropewalk scenarios` lists them
    """
    known = names()
    if name not in known:
        near = nearest(name, known)
        meant = f" {near}?" if near else ""
        raise ValueError(f"{name}: no ready scenario;{meant} `ropewalk scenarios` lists them")
    return FOLDER / f"{name}.toml"


def found(path: Path) -> Path:
    """Return the path itself where something is, else the ready scenario's that it names.

    Raises
    ------
    FileNotFoundError
        It is neither; the error says how near a name it is, or which ready scenario has a file of
        this name.

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
        told = f"no such file; the ready scenario {same[0]} is there in any folder"
        raise FileNotFoundError(2, told, str(path))
    try:
        return file(str(path))
    except ValueError as error:
        told = str(error).removeprefix(f"{path}: ")
        raise FileNotFoundError(2, f"no such file, and {told}", str(path)) from None


def copy(folder: Path, wanted: Sequence[str] = ()) -> list[Path]:
    """Copy ready scenarios, with the traces that they name, to a folder of one's own.

    Nothing is written over: if a file is there already, nothing at all is copied.

    Parameters
    ----------
    folder : Path
        Where to; it is made if it is not there.
    wanted : sequence of str
        Names; all of them if none are given.

    Returns
    -------
    list of Path
        The scenario files that were made.

    Raises
    ------
    ValueError
        A name is unknown.
    OSError
        A file is there already, or cannot be written.

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
    """Return the files beside a scenario whose paths stand in it."""
    text = scenario.read_text()
    beside = sorted(each for each in scenario.parent.rglob("*") if each.is_file())
    told = ((each, each.relative_to(scenario.parent).as_posix()) for each in beside)
    return [each for each, path in told if f'"{path}"' in text]
