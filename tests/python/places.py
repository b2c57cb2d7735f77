"""Paths of the repository."""

from pathlib import Path

from ropewalk.scenario import bundled

ROOT = Path(__file__).parents[2]
TWO_LINKS = ROOT / "scenarios/start/two-links.toml"
READY = [bundled.file(name) for name in bundled.names()]
