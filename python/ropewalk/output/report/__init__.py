"""Reports of stored results as self-contained HTML files.

Examples
--------
>>> import ropewalk, tempfile
>>> from pathlib import Path
>>> results = ropewalk.simulate("start/two-links", step="100 ms")
>>> with tempfile.TemporaryDirectory() as folder:
...     _ = ropewalk.store.keep(results, Path(folder) / "two-links")
...     made = ropewalk.report.write([Path(folder) / "two-links"], f"{folder}/two-links.html")
...     "Models that apply" in made.read_text()
True
"""

from .api import sections, write, write_sections
from .page import check_installed

__all__ = ["check_installed", "sections", "write", "write_sections"]
