"""Paths of the repository."""

from pathlib import Path

from ropewalk.scenario import ready

ROOT = Path(__file__).parents[2]
TWO_LINKS = ROOT / "scenarios/start/two-links.toml"
READY = [ready.file(name) for name in ready.names()]
