"""Where things are."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TWO_LINKS = ROOT / "scenarios/start/two-links.toml"
