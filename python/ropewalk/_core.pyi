from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, final

from numpy.typing import NDArray

__all__ = [
    "MAX_SCENARIO_BYTES",
    "MAX_TRACE_BYTES",
    "Run",
    "Scenario",
    "ScenarioError",
    "__version__",
    "algorithms_json",
    "decode",
    "effective",
    "gateway",
    "schema_json",
    "simulate",
    "testbed_doctor",
    "testbed_world",
]

__version__: str
MAX_SCENARIO_BYTES: int
MAX_TRACE_BYTES: int

class ScenarioError(ValueError): ...

@final
class Scenario:
    def __new__(
        cls,
        text: str,
        name: str,
        overrides: Sequence[tuple[str, str]],
        read: Callable[[str], str],
    ) -> Scenario: ...
    @property
    def title(self) -> str: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def warmup_s(self) -> float: ...
    @property
    def links(self) -> list[str]: ...
    @property
    def link_rates_mbps(self) -> list[float | None]: ...
    @property
    def paths(self) -> list[str]: ...
    @property
    def path_hops(self) -> list[list[int]]: ...
    @property
    def transport_paths(self) -> list[int]: ...
    @property
    def warnings(self) -> list[str]: ...
    def values_json(self) -> str: ...

@final
class Run:
    @property
    def captured_packets(self) -> int | None: ...
    def summary_json(self) -> str: ...
    def subflow_timeline(self) -> dict[str, NDArray[Any]] | None: ...
    def connection_timeline(self) -> dict[str, NDArray[Any]] | None: ...
    def delay_bins(self) -> dict[str, NDArray[Any]]: ...

def simulate(
    scenario: Scenario,
    seeds: Sequence[int],
    *,
    step: str | None = None,
    reordering: bool = False,
    threads: int | None = None,
    progress: Callable[[int], object] | None = None,
    capture: str | PathLike[str] | None = None,
    capture_at: str = "sender",
    snaplen: int | None = None,
    qlog: str | PathLike[str] | None = None,
) -> list[Run]: ...
def testbed_world(request: str) -> str: ...
def testbed_doctor(request: str | None = None) -> str: ...
def schema_json() -> str: ...
def algorithms_json() -> str: ...
def decode(content: bytes, name: str) -> str: ...
def effective(text: str, name: str, overrides: Sequence[tuple[str, str]]) -> str: ...
def gateway(arguments: Sequence[str]) -> int: ...
