"""Result folders: one layout for every command, written atomically.

``result.json`` is the output of ``--json``, ``scenario.toml`` the scenario with its ``traces/``.
``tables/`` has Parquet, ``pictures/`` PNG files. A reproduction has its ``scenarios/``.
"""

from __future__ import annotations

import io
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import provenance
from ..scenario import Scenario
from ..support.atomic_write import named, umask

if TYPE_CHECKING:
    import polars as pl

RESULT = "result.json"
SCENARIO = "scenario.toml"
TRACES = "traces"
TABLES = "tables"
PICTURES = "pictures"
SCENARIOS = "scenarios"
DEPLOYMENTS = "deployments"
NODES = "nodes.csv"
REPORT = "report.html"
OWN_NAMES = {RESULT, SCENARIO, TRACES, TABLES, PICTURES, SCENARIOS, DEPLOYMENTS, NODES, REPORT}
# Suffixes of the layout of earlier versions, whose folders are replaced as well.
LEGACY_SUFFIXES = (".parquet", ".png")


@dataclass(frozen=True)
class ResultFolder:
    """An opened result folder, with its JSON object."""

    folder: Path
    result: Mapping[str, Any] = field(repr=False)

    @property
    def engine(self) -> str:
        """The command that made the results, such as ``"simulate"``."""
        engine: str = self.result["engine"]
        return engine

    @property
    def origin(self) -> provenance.Origin | None:
        """Origin of the results; None in folders of versions without origins."""
        return provenance.restored(self.result, self.scenarios)

    @property
    def scenarios(self) -> dict[str, Scenario]:
        """The scenarios of the results, by title if there is one, else by name."""
        if (self.folder / SCENARIO).exists():
            scenario = self.scenario
            return {scenario.title: scenario}
        files = {file.stem: file for file in (self.folder / SCENARIOS).glob("*.toml")}
        files |= {
            file.parent.name: file for file in (self.folder / SCENARIOS).glob(f"*/{SCENARIO}")
        }
        named_so = self.result.get(provenance.KEY, {}).get(SCENARIOS, sorted(files))
        return {name: Scenario.load(files[name]) for name in named_so}

    @cached_property
    def scenario(self) -> Scenario:
        """The only scenario of the results; ScenarioError if it is wrong for this version."""
        return Scenario.load(self.folder / SCENARIO)

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted(file.stem for file in (self.folder / TABLES).glob("*.parquet"))

    def table(self, name: str) -> pl.DataFrame:
        """Return a table, empty if there is none of this name; ValueError if it is not Parquet."""
        import polars as pl

        file = self.folder / TABLES / f"{name}.parquet"
        if not file.exists():
            return pl.DataFrame()
        try:
            return pl.read_parquet(file)
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"{file}: {str(error).partition(chr(10))[0].lower()}") from None

    def tables_with_prefix(
        self, names: Sequence[str], before: str = ""
    ) -> dict[str, pl.DataFrame]:
        """Return the tables whose names have a prefix, by the rest of the name."""
        return {name: self.table(before + name) for name in names}


def open_result_folder(folder: Path) -> ResultFolder:
    """Open a result folder; OSError if it cannot be read, ValueError if it holds no results."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder")
    file = folder / RESULT
    if not file.exists():
        raise ValueError(f"{folder}: has no {RESULT}; name a folder written by --out")
    try:
        result = json.loads(file.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}: line {error.lineno}: {error.msg.lower()}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{file}: not UTF-8 text") from None
    if not isinstance(result, dict) or not isinstance(result.get("engine"), str):
        raise ValueError(f"{file}: has no key engine; name a folder written by --out")
    return ResultFolder(folder, result)


def check_folder(folder: Path) -> None:
    """Raise OSError if results cannot be written to a folder.

    It may be new, empty, or hold earlier results, which are replaced.
    """
    if folder.exists():
        held = {entry.name for entry in folder.iterdir()}
        others = sorted(name for name in held - OWN_NAMES if not name.endswith(LEGACY_SUFFIXES))
        if held and (RESULT not in held or others):
            other = others[:1] or sorted(held)[:1]
            raise FileExistsError(
                f"{folder}: has {other[0]!r}, which is not a result of ropewalk; name a new or"
                " empty folder"
            )
    folder.parent.mkdir(parents=True, exist_ok=True)
    _temporary_folder(folder).rmdir()


@contextmanager
def replacing_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that replaces another one at the end; OSError as `check_folder`.

    On an error the other folder stays as it was, and the temporary one is removed.
    """
    check_folder(folder)
    made = _temporary_folder(folder)
    try:
        yield made
        made.chmod(0o777 & ~umask())
        _put_in_place(made, folder)
    except BaseException as error:
        shutil.rmtree(made, ignore_errors=True)
        if isinstance(error, OSError):
            raise named(error, folder) from None
        raise


def write_result(folder: Path, result: Mapping[str, Any]) -> None:
    """Write the JSON object."""
    (folder / RESULT).write_text(json.dumps(result, indent=2) + "\n")


def write_scenario(file: Path, scenario: Scenario) -> None:
    """Write a scenario with its traces in the same folder.

    For a mesh, also write the nodes' positions, for ``placement = { file = "nodes.csv" }``.
    """
    text, traces = scenario.self_contained()
    file.write_text(text)
    for trace, content in traces.items():
        (file.parent / trace).parent.mkdir(exist_ok=True)
        (file.parent / trace).write_text(content)
    if scenario.setup.mesh is not None:
        (file.parent / NODES).write_text(positions_csv(scenario.setup.mesh.nodes))


def positions_csv(places: Sequence[Sequence[float]]) -> str:
    """Return positions as the lines of a file for ``[mesh]``.

    Examples
    --------
    >>> positions_csv([(0, 0), (12.5, 3)]).split()
    ['x_m,y_m', '0.0,0.0', '12.5,3.0']
    """
    return "".join(["x_m,y_m\n", *(f"{float(x)!r},{float(y)!r}\n" for x, y in places)])


def write_table(frame: pl.DataFrame, file: Path) -> None:
    """Write a data frame as Parquet; a full disk raises `OSError`."""
    content = io.BytesIO()
    frame.write_parquet(content)
    file.write_bytes(content.getbuffer())


def _temporary_folder(folder: Path) -> Path:
    """Make a temporary folder next to another, which errors name."""
    try:
        return Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise named(error, folder) from None


def _put_in_place(made: Path, folder: Path) -> None:
    if folder.exists():
        before = made.with_name(f"{made.name}.before")
        folder.rename(before)
        made.rename(folder)
        shutil.rmtree(before)
    else:
        made.rename(folder)
