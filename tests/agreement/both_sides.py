"""Runs of one scenario on both sides: simulated, and on this machine's kernel.

Runs with equal seeds have equal losses on both sides. But runs of the kernel differ, and with
small buffers a simulated run changes as much with a percent of delay. Simulated links therefore
have random delays of 99 to 101 %.
"""

import random
from typing import Any

import ropewalk
from ropewalk.scenario import Value

ATTEMPTS = 3  # for a run that the machine was too busy for


def on_testbed(
    scenario: ropewalk.Scenario, seed: int, kernel_congestion: str | None = None
) -> ropewalk.Results:
    """Run a scenario on the testbed, again if its links were late."""
    for _ in range(ATTEMPTS):
        results = ropewalk.testbed(scenario, seed=seed, kernel_congestion=kernel_congestion)
        if results.runs[0]["emulator"]["trusted"]:
            break
    return results


def measured(scenario: ropewalk.Scenario, seed: int) -> dict[str, Any]:
    run: dict[str, Any] = on_testbed(scenario, seed).runs[0]
    return run


def simulated(scenario: ropewalk.Scenario, seed: int, draw: int = 0) -> dict[str, Any]:
    """Simulate a scenario with slightly different delays for each draw."""
    chance = random.Random(f"delays {seed}" + (f" {draw}" if draw else ""))
    keys: dict[str, Value] = {}
    for link in scenario.values["link"]:
        delay_ms = link["forward"]["delay"] * 1e3 * chance.uniform(0.99, 1.01)
        keys[f"link.{link['name']}.delay"] = f"{delay_ms:.6g} ms"
    run: dict[str, Any] = ropewalk.simulate(scenario.with_(keys), seed=seed).runs[0]
    return run
