"""The `Scenario` class, and the JSON Schema of scenario files."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from .. import _core
from ..support.arguments import argument_error, mapping
from ..support.arguments import path as _path
from ..support.hooks import display_module
from . import bundled
from .files import named_files
from .setup import Setup, setup_of
from .toml_syntax import Overrides, Value, pairs, toml, toml_entry, toml_value

__all__ = ["Given", "Overrides", "Scenario", "Value", "schema", "toml_value"]

# A scenario as every function accepts it.
Given: TypeAlias = "Scenario | str | os.PathLike[str] | Mapping[str, Any]"


class Scenario:
    """A checked scenario: links, transport, traffic.

    A scenario is immutable; `with_` returns a changed one. A pickled scenario carries the text of
    its trace files.

    Parameters
    ----------
    text : str or mapping
        Content of a scenario file: TOML, or a mapping of its keys.
    name : str
        Name of the file in error messages.
    folder : path, optional
        Base folder of relative trace file names; by default the working directory.
    overrides : sequence of (str, value), or mapping
        Keys set to other values, as with ``--set``.
    files : mapping of str to str, optional
        Content of trace files by name; other trace files are read from the folder.

    Raises
    ------
    ScenarioError
        The scenario is wrong. The message lists every error.

    Examples
    --------
    >>> scenario = Scenario('''
    ... duration = "2 s"
    ... [[link]]
    ... name = "dsl"
    ... rate = "16 Mbit/s"
    ... delay = "20 ms"
    ... ''')
    >>> scenario.links
    ['dsl']
    >>> same = Scenario({
    ...     "duration": "2 s",
    ...     "link": [{"name": "dsl", "rate": "16 Mbit/s", "delay": "20 ms"}],
    ... })
    >>> same.links == scenario.links
    True
    """

    def __init__(
        self,
        text: str | Mapping[str, Any],
        *,
        name: str = "scenario",
        folder: str | os.PathLike[str] | None = None,
        overrides: Overrides = (),
        files: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(text, Mapping):
            text = toml(text)
        if not isinstance(text, str):
            raise argument_error("text", text, "text of a scenario file, or a mapping of its keys")
        self.text = text
        self.name = name
        self.folder = Path(folder) if folder is not None else Path()
        self.overrides = tuple(pairs("overrides", overrides))
        self._files = dict(files or {})
        self._core = _core.Scenario(text, name, list(self.overrides), self._read)

    @classmethod
    def of(cls, scenario: Given) -> Scenario:
        """Return the scenario that a function received as argument.

        Parameters
        ----------
        scenario : Scenario, path or mapping
            A scenario, a file, the name of a bundled scenario, or keys and values.

        Raises
        ------
        ScenarioError
            The scenario is wrong. The message lists every error.
        ValueError
            It is none of these.
        OSError
            The file cannot be read.

        Examples
        --------
        >>> Scenario.of({"link": [{"name": "dsl", "rate": "16 Mbit/s"}]}).links
        ['dsl']
        """
        if isinstance(scenario, Scenario):
            return scenario
        if isinstance(scenario, Mapping):
            return cls(scenario)
        if not isinstance(scenario, (str, os.PathLike)):
            allowed = "a Scenario, a path, the name of a bundled scenario, a mapping of keys"
            raise argument_error("scenario", scenario, allowed)
        if "\n" in os.fspath(scenario):
            raise argument_error(
                "scenario", scenario, "a path; for its text, ropewalk.Scenario(text)"
            )
        return cls.load(scenario)

    @classmethod
    def load(cls, path: str | os.PathLike[str], overrides: Overrides = ()) -> Scenario:
        """Read a scenario file.

        Parameters
        ----------
        path : path
            The file, or the name of a bundled scenario, such as ``start/two-links``. Trace files
            are relative to its folder.
        overrides : sequence of (str, value), or mapping
            Keys set to other values, as with ``--set``.

        Raises
        ------
        ScenarioError
            The scenario is wrong. The message lists every error.
        OSError
            The file cannot be read.

        Examples
        --------
        >>> Scenario.load("start/two-links").links
        ['dsl', 'cable']
        """
        found = bundled.found(Path(_path("path", path)))
        with found.open("rb") as file:
            return cls.read(file, name=str(found), folder=found.parent, overrides=overrides)

    @classmethod
    def read(
        cls,
        file: BinaryIO,
        *,
        name: str,
        folder: str | os.PathLike[str] | None = None,
        overrides: Overrides = (),
    ) -> Scenario:
        r"""Read a scenario from an open file, such as standard input.

        Parameters
        ----------
        file : binary file
            Opened file, read to its end.
        name : str
            Name of the file in error messages.
        folder : path, optional
            Base folder of relative trace file names; by default the working directory.
        overrides : sequence of (str, value), or mapping
            Keys set to other values, as with ``--set``.

        Raises
        ------
        ScenarioError
            The scenario is wrong. The message lists every error.
        OSError
            The file cannot be read; the error names it.

        Examples
        --------
        >>> import io
        >>> file = io.BytesIO(b'[[link]]\nname = "dsl"\nrate = "16 Mbit/s"')
        >>> Scenario.read(file, name="<memory>").links
        ['dsl']
        """
        try:
            content = _read_bounded(file, _core.MAX_SCENARIO_BYTES)
        except OSError as error:
            raise OSError(error.errno, error.strerror, name) from None
        text = _core.decode(content, name)
        return cls(text, name=name, folder=folder, overrides=overrides)

    def with_(self, changes: Mapping[str, Value]) -> Scenario:
        """Return a copy of the scenario with some keys set to other values.

        Parameters
        ----------
        changes : mapping of str to value
            Dotted keys; links, paths, flows and competitors by name: ``"link.wifi.delay"``,
            ``"transport.congestion"``.

        Raises
        ------
        ScenarioError
            A key is unknown or a value is wrong. Errors in changed keys begin with ``with_``.

        Examples
        --------
        >>> scenario = Scenario.load("start/two-links")
        >>> slower = scenario.with_({"link.dsl.rate": "4 Mbit/s", "duration": "5 s"})
        >>> slower.duration_s
        5.0
        """
        added = tuple(pairs("with_", mapping("changes", changes, "keys to values")))
        try:
            return Scenario(
                self.text,
                name=self.name,
                folder=self.folder,
                overrides=self.overrides + added,
                files=self._files,
            )
        except _core.ScenarioError as error:
            raise _core.ScenarioError(
                re.sub("^--set: ", "with_: ", str(error), flags=re.MULTILINE)
            ) from None

    @property
    def title(self) -> str:
        """The scenario's title."""
        return self._core.title

    @property
    def duration_s(self) -> float:
        """Latest end of a run, s."""
        return self._core.duration_s

    @property
    def warmup_s(self) -> float:
        """Start of measurements, s."""
        return self._core.warmup_s

    @property
    def links(self) -> list[str]:
        """Names of the links."""
        return self._core.links

    @property
    def paths(self) -> list[str]:
        """Names of the paths."""
        return self._core.paths

    @property
    def flows(self) -> list[str]:
        """Names of the flows: the measured one first, competitors last."""
        return self._core.flows

    @property
    def transport_key(self) -> str:
        """Prefix of the first flow's keys: ``transport``, or ``flow.`` and its name."""
        return self._core.transport_key

    @property
    def warnings(self) -> list[str]:
        """Warnings about the validity of results."""
        return self._core.warnings

    @property
    def files(self) -> dict[str, str]:
        """Content of the trace files, by their names in the scenario."""
        return dict(self._files)

    @cached_property
    def values(self) -> dict[str, Any]:
        """All values in base units (s, bit/s, bytes, ratios), with defaults filled in.

        Keys are the scenario file's, with these differences:

        - A link has both ``forward`` and ``reverse``.
        - ``rate`` of a trace is its mean.
        - ``transport`` and ``traffic`` belong to the first flow; ``flow`` lists the others.
        - Each flow has ``header_bytes``, the headers in an IP packet with data, and ``ack_bytes``,
          the size of an ACK's IP packet.
        - Only mptcp-ns3 has ``profile``.
        - Unlimited and absent values have no key.

        Examples
        --------
        >>> values = Scenario.load("start/two-links").values
        >>> values["link"][0]["forward"]["rate"]
        16000000
        """
        values: dict[str, Any] = json.loads(self._core.values_json())
        return values

    @cached_property
    def setup(self) -> Setup:
        """The resolved scenario as typed data classes, in base units.

        Examples
        --------
        >>> setup = Scenario.load("start/two-links").setup
        >>> setup.first.protocol, setup.links[0].forward.rate
        ('mptcp', 16000000)
        """
        return setup_of(self.values)

    def writes(self, seed: int, most: int) -> tuple[list[float], list[int]] | None:
        """Return the writes of the measured application in a run.

        Parameters
        ----------
        seed : int
        most : int
            Largest number of writes to return.

        Returns
        -------
        tuple of lists, or None
            Time of each write, s, and its bytes; None for a bulk transfer.

        Examples
        --------
        >>> times, sizes = Scenario.load("video/wifi-lte").writes(1, most=3)
        >>> [round(time, 3) for time in times], sizes[0] > sizes[1]
        ([0.0, 0.033, 0.067], True)
        """
        return self._core.writes(seed, most)

    @property
    def capacity_mbps(self) -> float | None:
        """Sum of the rates of the measured connection's links, in Mbit/s of IP packets.

        A trace counts with its mean. None if a link is unlimited or a path has several hops.
        """
        rates: dict[int, float] = {}
        for path in self._core.transport_paths:
            match self._core.path_hops[path]:
                case [link]:
                    rate = self._core.link_rates_mbps[link]
                case _:
                    return None
            if rate is None:
                return None
            rates[link] = rate
        return sum(rates.values())

    def effective(self) -> str:
        """Return the scenario as a file's content, with overrides applied.

        Examples
        --------
        >>> scenario = Scenario.load("start/two-links")
        >>> text = scenario.with_({"link.dsl.rate": "4 Mbit/s"}).effective()
        >>> 'rate = "4 Mbit/s"' in text
        True
        """
        return _core.effective(self.text, self.name, list(self.overrides))

    def resolved(self) -> str:
        """Return the scenario as a file's content, with every default.

        Examples
        --------
        >>> scenario = Scenario.load("start/two-links")
        >>> 'min_rto = "200 ms"' in scenario.resolved()
        True
        """
        return self._core.to_toml()

    def self_contained(self) -> tuple[str, dict[str, str]]:
        """Return the effective scenario, with its trace files in a folder ``traces``.

        Returns
        -------
        text : str
            Content of the scenario file.
        traces : dict of str to str
            Content of the trace files, by name relative to the scenario file.

        Examples
        --------
        >>> text, traces = Scenario.load("start/wifi-lte-traces").self_contained()
        >>> sorted(traces)
        ['traces/lte.down', 'traces/lte.up', 'traces/wifi.down', 'traces/wifi.up']
        """
        names: dict[str, str] = {}
        moved = []
        for key, old in named_files(tomllib.loads(self.effective())):
            name = f"traces/{Path(old).name}"
            if name in names.values() and old not in names:
                name = f"traces/{len(names)}-{Path(old).name}"
            moved.append((key, toml_entry(names.setdefault(old, name))))
        text = _core.effective(self.text, self.name, [*self.overrides, *moved])
        return text, {new: self._files[old] for old, new in names.items()}

    def _repr_html_(self) -> str:
        html: str = display_module().html_of(self)
        return html

    def __eq__(self, other: object) -> bool:
        """Whether keys, overrides and the content of further files are equal.

        Examples
        --------
        >>> Scenario.load("start/two-links") == Scenario.load("scenarios/start/two-links.toml")
        True
        """
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        return self.title, self.effective(), tuple(sorted(self._files.items()))

    def __repr__(self) -> str:
        changed = "".join(f", {key}={value}" for key, value in self.overrides)
        return f"<Scenario {self.title!r} from {self.name}{changed}>"

    def __reduce__(self) -> tuple[Any, ...]:
        restore = partial(
            Scenario,
            name=self.name,
            folder=self.folder,
            overrides=self.overrides,
            files=self._files,
        )
        return restore, (self.text,)

    def _read(self, path: str) -> str:
        """Read a further file of the scenario, once, so that its content cannot change."""
        if path not in self._files:
            try:
                with (self.folder / path).open("rb") as file:
                    content = _read_bounded(file, _core.MAX_TRACE_BYTES)
            except OSError as error:
                raise ValueError((error.strerror or str(error)).lower()) from None
            if len(content) > _core.MAX_TRACE_BYTES:
                raise ValueError(f"larger than {_core.MAX_TRACE_BYTES >> 20} MiB")
            try:
                self._files[path] = content.decode()
            except UnicodeDecodeError:
                raise ValueError("not UTF-8 text") from None
        return self._files[path]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a scenario file.

    Examples
    --------
    >>> schema()["type"]
    'object'
    """
    found: dict[str, Any] = json.loads(_core.schema_json())
    return found


def _read_bounded(file: BinaryIO, bytes_max: int) -> bytes:
    """Read a file, at most one byte beyond the limit."""
    return file.read(bytes_max + 1)
