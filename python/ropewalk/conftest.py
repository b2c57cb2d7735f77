"""Settings of ``pytest --pyargs ropewalk``, which runs an installed package's docstring examples.

They run in a temporary folder with the bundled scenarios in ``scenarios``, as in a clone.
"""

from __future__ import annotations

import doctest
from collections.abc import Generator
from pathlib import Path

import pytest

from .scenario import bundled
from .support.optional_deps import MissingLibraryError


def pytest_configure(config: pytest.Config) -> None:
    """Run the docstring examples, the only tests within the package."""
    config.option.doctestmodules = True


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios").symlink_to(bundled.FOLDER, target_is_directory=True)
    monkeypatch.chdir(tmp_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skip an example whose optional library is not installed."""
    try:
        return (yield)
    except doctest.UnexpectedException as error:
        missing = error.exc_info[1]
        if isinstance(missing, MissingLibraryError):
            pytest.skip(str(missing))
        raise
