"""Storage of a figure in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...support import arguments
from ...support.arguments import argument_error
from ...support.atomic_write import replace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure to a file; the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The picture.
    path : path
        File name that ends in ``.png``, ``.svg`` or ``.pdf``.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        The name has another ending.
    OSError
        The file cannot be written. An existing file is unchanged.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> figure = ropewalk.plot.delays(ropewalk.simulate("start/two-links"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(figure, f"{folder}/delays.svg").name
    'delays.svg'
    """
    from ..figures import figure_bytes

    path = check_format(path)
    if not hasattr(figure, "savefig"):
        raise argument_error("figure", figure, "a figure, such as plot.goodput returns")
    replace(path, figure_bytes(figure, path.suffix[1:].lower()))
    return path


def check_format(path: str | os.PathLike[str]) -> Path:
    """Return the path if its name has a picture format's ending, or raise ValueError.

    Examples
    --------
    >>> check_format("a.txt")
    Traceback (most recent call last):
    ValueError: a.txt: a picture's name ends in .png, .svg, .pdf
    """
    path = Path(arguments.path("path", path))
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture's name ends in {', '.join(FORMATS)}")
    return path
