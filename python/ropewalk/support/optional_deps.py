"""Optional libraries: an error names the missing one, and how to install it."""

from __future__ import annotations

import sys
from importlib.util import find_spec

# What installs each. Those of an extra are not installed by `pip install ropewalk`; the others
# are, but for whoever asks pip to leave them out.
INSTALLED_BY = {
    "distributed": 'pip install "ropewalk[dask]"',
    "jinja2": 'pip install "ropewalk[report]"',
    "matplotlib": "pip install matplotlib",
    "pandas": 'pip install "ropewalk[pandas]"',
    "polars": "pip install polars",
    "pyarrow": 'pip install "ropewalk[pandas]"',
    "scipy": 'pip install "ropewalk[models]"',
    "vl_convert": 'pip install "ropewalk[report]"',
}


class MissingLibraryError(ImportError):
    """An optional library is not installed."""


def need(what: str, *libraries: str) -> None:
    """Check that libraries are installed, without loading them.

    Parameters
    ----------
    what : str
        What needs them, as the error has it.
    *libraries : str
        Their names, of those in `INSTALLED_BY`.

    Raises
    ------
    MissingLibraryError
        One is not installed; the error says what installs it.

    Examples
    --------
    >>> need("a table", "polars")
    """
    for library in libraries:
        # What is loaded is there; asking for it thousands of times must cost nothing.
        if sys.modules.get(library) is None and find_spec(library) is None:
            raise MissingLibraryError(
                f"{what} needs {library}, which is not installed: {INSTALLED_BY[library]}",
                name=library,
            )
