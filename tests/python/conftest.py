"""Common fixtures: the bundled scenarios, and the command in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, settings

import ropewalk
from places import ROOT, TWO_LINKS

# Tests must not depend on the machine's present speed.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

Run = Callable[..., subprocess.CompletedProcess[str]]
RESULTS = jsonschema.Draft202012Validator(ropewalk.results_schema())


def check_results(printed: str) -> list[str]:
    """Validate each line of ``--json`` output against the schema; return the engines.

    The objects of ``scenarios``, ``testbed doctor`` and the gateway's verbs have no engine.
    """
    made = [json.loads(line) for line in printed.splitlines()]
    named = [each for each in made if isinstance(each, dict) and "engine" in each]
    for each in named:
        RESULTS.validate(each)
    return [each["engine"] for each in named]


@pytest.fixture
def command() -> Run:
    """Return a function that runs the command and returns status and output.

    Output of ``--json`` must match the schema of results.
    """
    program = Path(sys.executable).with_name("ropewalk")

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [program, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **{"cwd": ROOT, "env": os.environ | {"COLUMNS": "100"}} | options,
        )
        if "--json" in arguments and done.returncode == 0 and isinstance(done.stdout, str):
            check_results(done.stdout)
        return done

    return run


@pytest.fixture
def refused(command: Run) -> Callable[..., str]:
    """Run the command with invalid input; return its message."""

    def run(*arguments: object, **options: object) -> str:
        done = command(*arguments, **options)
        assert (done.returncode, done.stdout) == (2, "")
        assert "Traceback" not in done.stderr
        return done.stderr

    return run


@pytest.fixture(scope="session")
def two_links() -> ropewalk.Scenario:
    return ropewalk.Scenario.load(TWO_LINKS)


@pytest.fixture(scope="session")
def results(two_links: ropewalk.Scenario) -> ropewalk.Results:
    """Three runs with all recordings."""
    lossy = two_links.with_({"link.dsl.loss": "0.5 %"})
    return ropewalk.simulate(lossy, seed=5, runs=3, step="200 ms", reordering=True)
