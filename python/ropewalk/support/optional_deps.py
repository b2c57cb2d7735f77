"""Optional libraries, with an error that names a missing one and its install command."""

from __future__ import annotations

import sys
from importlib.util import find_spec

# Libraries of an extra are not installed by `pip install ropewalk`. The others are missing only
# after `pip install --no-deps`.
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


def require(what: str, *libraries: str) -> None:
    """Check that libraries of `INSTALLED_BY` are installed, without loading them.

    Raises MissingLibraryError with the feature `what` that needs them, and the install command.

    Examples
    --------
    >>> require("a table", "polars")
    """
    for library in libraries:
        # A loaded library is found in `sys.modules`, so that thousands of calls cost nothing.
        if sys.modules.get(library) is None and find_spec(library) is None:
            raise MissingLibraryError(
                f"{what} needs {library}, which is not installed: {INSTALLED_BY[library]}",
                name=library,
            )
