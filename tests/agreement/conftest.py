"""Lets tests import the scripts in their folder, which also run alone."""

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# QUIC is of the group quic, which `make client` installs.
collect_ignore = [] if importlib.util.find_spec("aioquic") else ["quic.py"]
