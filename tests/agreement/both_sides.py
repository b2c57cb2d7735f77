"""Runs of one scenario on both sides: simulated, and on this machine's kernel.

A run of either side has the losses of its seed, so that runs of one seed are of one world. No run
of the kernel repeats another, though, and where buffers are small a percent of delay moves a
simulated run as far: the simulator's have delays of 99 to 101 %, each link's drawn by itself.
"""

import random
from typing import Any

import ropewalk
from ropewalk.scenario import Value

ATTEMPTS = 3  # for a run that the machine was too busy for


def on_testbed(
    scenario: ropewalk.Scenario, seed: int, kernel_congestion: str | None = None
) -> ropewalk.Results:
    """Run a scenario on the testbed, again where the links came late."""
    for _ in range(ATTEMPTS):
        results = ropewalk.testbed(scenario, seed=seed, kernel_congestion=kernel_congestion)
        if results.runs[0]["emulator"]["trusted"]:
            break
    return results


def measured(scenario: ropewalk.Scenario, seed: int) -> dict[str, Any]:
    """Return what the run brought."""
    run: dict[str, Any] = on_testbed(scenario, seed).runs[0]
    return run


def simulated(scenario: ropewalk.Scenario, seed: int, draw: int = 0) -> dict[str, Any]:
    """Simulate a scenario with delays that are a little different for each draw."""
    chance = random.Random(f"delays {seed}" + (f" {draw}" if draw else ""))
    keys: dict[str, Value] = {}
    for link in scenario.values["link"]:
        delay_ms = link["forward"]["delay"] * 1e3 * chance.uniform(0.99, 1.01)
        keys[f"link.{link['name']}.delay"] = f"{delay_ms:.6g} ms"
    run: dict[str, Any] = ropewalk.simulate(scenario.with_(keys), seed=seed).runs[0]
    return run
