"""Identity of a point: a hash of everything that determines its result."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from ... import _core
from ...support import programs
from ...support.programs import UnavailableError
from .axes import Changes, value_meaning
from .definition import Definition

BYTES = 16  # length of a key
PACKAGE = Path(_core.__file__).parent
# Files of the package that determine a verb's numbers, apart from compiled code.
SHARED = (
    "scenario/scenario.py",
    "results/results.py",
    "engines/simulate.py",
    "analysis/study/jobs.py",
    "analysis/study/axes.py",
)
FORMULAS = (
    "engines/predict",
    "engines/wireless",
    "model",
    "scenario/setup.py",
    "scenario/radios.py",
    "units.py",
)
PARTS = {
    "simulate": (),
    "testbed": ("engines/testbed",),
    "predict": FORMULAS,
    "compare": ("analysis/compare", "engines/testbed", "results/statistics.py", *FORMULAS),
    "advise": (
        "analysis/advise",
        "results/statistics.py",
        "scenario/registry.py",
        *FORMULAS,
    ),
}
ON_THE_KERNEL = ("testbed", "compare")  # verbs whose numbers also depend on the testbed's program


class PointKeys:
    """Computes the keys of a study's points.

    A key hashes the verb, the program (version, compiled code, and the package files of the verb),
    the scenario data with its changes, the content of each named file, and the seed. Values are
    compared by meaning: ``10ms``, ``10 ms`` and ``0.01 s`` are equal.

    Examples
    --------
    >>> from ropewalk import Scenario
    >>> from ropewalk.analysis.study.definition import define
    >>> scenario = Scenario.load("start/two-links")
    >>> study = define(scenario, {"duration": ["5 s", "9 s"]})
    >>> keys = PointKeys(study)
    >>> keys.key((("duration", "5 s"),), 1) == keys.key((("duration", "9 s"),), 1)
    False
    """

    def __init__(self, study: Definition) -> None:
        scenario = study.scenario
        # Hash data, not text: comments, blanks and the order of keys do not matter.
        written = _plain("", tomllib.loads(scenario.effective()))
        shared = {
            "verb": study.verb,
            "program": program(study.verb),
            "scenario": written,
            "files": {name: _digest(text) for name, text in scenario.files.items()},
        }
        self._shared = blake2b(_canonical(shared), digest_size=BYTES)
        self._files = {
            name: _digest(text) for each in study.axes for name, text in each.files.items()
        }

    def key(self, changes: Changes, seed: int) -> str:
        """Return the key of the point with these changes and this seed."""
        made = self._shared.copy()
        named = {
            name: digest
            for name, digest in self._files.items()
            if any(name in value for _, value in changes)
        }
        values = [[key, value_meaning(key, value)] for key, value in sorted(changes)]
        made.update(_canonical([values, named, seed]))
        return made.hexdigest()


def _plain(path: str, written: object) -> object:
    """Return a file's data with each value replaced by its `value_meaning`."""
    if isinstance(written, str):
        return value_meaning(path, written)
    if isinstance(written, list):
        names = [each.get("name", "") if isinstance(each, dict) else "" for each in written]
        return [
            _plain(f"{path}.{name}" if name else path, each)
            for name, each in zip(names, written, strict=True)
        ]
    if not isinstance(written, dict):
        return written
    of = {key: f"{path}.{key}" if path else key for key in written}
    return {key: _plain(of[key], value) for key, value in written.items()}


@cache
def program(verb: str) -> str:
    """Return a hash of the code that determines a verb's numbers.

    Examples
    --------
    >>> program("simulate") == program("simulate")
    True
    """
    made = blake2b(_core.__version__.encode(), digest_size=BYTES)
    made.update(Path(_core.__file__).read_bytes())
    if verb in ON_THE_KERNEL:
        # Without a testbed, `compare` runs the other ways.
        with suppress(UnavailableError):
            made.update(programs.find(programs.TESTBED).read_bytes())
    for part in (*SHARED, *PARTS[verb]):
        at = PACKAGE / part
        for file in sorted(at.rglob("*.py")) if at.is_dir() else [at]:
            made.update(file.read_bytes())
    return made.hexdigest()


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=BYTES).hexdigest()


def _canonical(data: Mapping[str, object] | list[object]) -> bytes:
    return json.dumps(data, sort_keys=True, default=str).encode()
