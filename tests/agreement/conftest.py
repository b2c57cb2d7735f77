"""Lets tests import the scripts in their folder, which also run alone."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
