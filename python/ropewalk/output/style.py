"""Style of all pictures: colours, lines, sizes, fonts and legends."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

from ..results.displayable import Width
from ..support.arguments import choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Paul Tol's "muted" scheme: nine hues that colour-blind readers can distinguish.
COLOURS = (
    "#332288",
    "#88ccee",
    "#44aa99",
    "#ddcc77",
    "#cc6677",
    "#117733",
    "#aa4499",
    "#999933",
    "#882255",
)
INK = "#222222"
FAINT = "#888888"
ALERT = "#c1272d"
DASHED: Any = (0, (4, 2))
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "////", "....", "xxxx")
BAND = 0.2  # opacity of the 95 % interval around a line
# Colours of the ways of running a scenario, wherever they are compared.
WAYS = {"predict": COLOURS[3], "simulate": COLOURS[0], "testbed": COLOURS[4]}

WIDTHS = {"column": 3.5, "page": 7.16}  # inches: column and page of IEEE's journals
FONT_SIZES = {None: 9.0, "column": 7.0, "page": 8.0}
MIN_ASPECT = 0.62  # smallest ratio of height to width in a column
LETTER = 0.0071  # mean width of a letter, inches per point of size
MAX_NAMES_INSIDE = 6  # largest number of names in a legend inside axes
BESIDE = 6.0  # width of axes in inches from which a legend is placed next to them
FALLBACK = "DejaVu Sans"  # comes with matplotlib
LAST_RESORT = "Last Resort"  # a font of boxes

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "figure.dpi": 120,
    "figure.titlesize": "large",
    "font.size": FONT_SIZES[None],
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "text.parse_math": False,  # titles may contain prices
}
FOR_PAPERS: Any = {
    "axes.linewidth": 0.6,
    "axes.labelpad": 2.0,
    "figure.dpi": 300,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
}


def colour(index: int) -> str:
    """Return the colour of a series by index; they repeat from the tenth on.

    Examples
    --------
    >>> colour(0) == colour(9)
    True
    """
    return COLOURS[index % len(COLOURS)]


def line(index: int) -> str:
    """Return the line style of a series by index, which changes where colours repeat.

    Examples
    --------
    >>> line(0), line(8), line(9)
    ('-', '-', '--')
    """
    return LINES[index // len(COLOURS) % len(LINES)]


def filled(index: int) -> dict[str, Any]:
    """Return the fill of an area by index: hatched where colours repeat.

    Examples
    --------
    >>> filled(0)["hatch"], filled(9)["hatch"]
    ('', '////')
    """
    hatch = HATCHES[index // len(COLOURS) % len(HATCHES)]
    # The hatch has the colour of the edge, whose own width is 0.
    return {"facecolor": colour(index), "edgecolor": "white", "hatch": hatch, "linewidth": 0}


def check_width(width: Width | None) -> None:
    """Raise ValueError unless a width is known.

    Examples
    --------
    >>> check_width("poster")
    Traceback (most recent call last):
    ValueError: width = 'poster': allowed: column, page
    """
    if width is not None:
        choice("width", width, get_args(Width))


@contextmanager
def picture(
    width: float,
    height: float,
    *,
    title: str = "",
    letters: str = "",
    paper: Width | None = None,
) -> Iterator[Figure]:
    """Yield a new figure in the package's style, which notebooks display.

    `width` and `height` are in inches on a screen. Papers have captions, so `title` is omitted
    there. `letters` is all text to be drawn; fonts for missing letters are added. `paper` selects
    the column or page width of IEEE's journals (3.5 and 7.16 inches), 7 and 8 point letters, and
    300 dots per inch; an unknown one raises ValueError.
    """
    from matplotlib import rc_context

    from .figures import NotebookFigure

    check_width(paper)
    with rc_context(settings(paper, title + letters)):
        size = (width, height)
        if paper is not None:
            wide = WIDTHS[paper]
            least = MIN_ASPECT if paper == "column" else 0.0
            size = (wide, wide * max(height / width, least))
        figure = NotebookFigure(figsize=size, layout="constrained")
        if title and paper is None:
            figure.suptitle(title, x=0.01, ha="left")
        yield figure


@contextmanager
def on_axes() -> Iterator[None]:
    """Draw on a caller's axes, whose settings stay."""
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}):
        yield


def settings(paper: Width | None = None, letters: str = "") -> Any:
    """Return matplotlib's settings for pictures, for a screen or a paper.

    `letters` is all text to be drawn.
    """
    found = dict(STYLE) if paper is None else {**STYLE, **FOR_PAPERS}
    size = FONT_SIZES[paper]
    return found | {"font.size": size, "font.family": [FALLBACK, *fonts_with(letters)]}


def legend(axes: Axes, handles: Sequence[Any], labels: Sequence[str], **more: Any) -> None:
    """Place a legend next to wide axes, above narrow ones, and inside the axes of a caller.

    `handles` and `labels` are as of ``axes.get_legend_handles_labels()``; the rest is for
    ``axes.legend``.
    """
    if not labels:
        return
    figure = axes.get_figure(root=True)
    assert figure is not None
    wide = inches(axes)[0]
    size = 0.833 * float(axes.xaxis.label.get_fontsize())  # size of "small" text
    place: dict[str, Any]
    if figure.get_layout_engine() is None:
        many = len(labels) > MAX_NAMES_INSIDE
        place = {"loc": "best", "frameon": True, "framealpha": 0.85, "ncols": 1 + many}
        place |= {"fontsize": "x-small" if many else "small"}
    elif wide >= BESIDE:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0}
    else:
        longest = max(len(part) for label in labels for part in label.split("\n"))
        columns = max(1, min(len(labels), int(wide / (LETTER * size * longest + 0.26))))
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": columns}
        place |= {"borderaxespad": 0.3, "columnspacing": 0.8, "handlelength": 1.3}
        place |= {"handletextpad": 0.5, "title_fontsize": "small"}
        if figure.axes == [axes]:
            rows = math.ceil(len(labels) / columns) + ("title" in more)
            figure.set_figheight(figure.get_figheight() + rows * 1.45 * size / 72)
    axes.legend(handles, labels, **{"fontsize": "small", **place, **more})


def name_ticks(axes: Axes, names: Sequence[str], which: str = "x") -> None:
    """Label 0, 1, 2, ... of an axis with names, slanted and then thinned if they overlap."""
    size = float(axes.xaxis.label.get_fontsize())
    # Slanted letters of neighbours touch if ticks are closer than two lines.
    lines = inches(axes)["xy".index(which)] * 72 / (2 * size if which == "x" else 1.2 * size)
    every = max(1, math.ceil(len(names) / max(lines, 1)))
    shown = range(0, len(names), every)
    names = [names[at] for at in shown]
    axes.set(**{f"{which}ticks": shown, f"{which}ticklabels": names})
    letters = len(names) * (2 + max(map(len, names), default=0))
    if which == "x" and letters * LETTER * size > inches(axes)[0]:
        for label in axes.get_xticklabels():
            label.set(rotation=30, ha="right", rotation_mode="anchor")


def note(axes: Axes, text: str) -> None:
    """Write a note above the axes, in lines as wide as the axes."""
    wide, high = inches(axes)
    size = 0.833 * float(axes.xaxis.label.get_fontsize())
    lines = textwrap.wrap(text, max(24, int(wide / (1.05 * LETTER * size))))
    part = len(lines) * 1.3 * size / 72 / high + 0.03
    bottom, top = axes.get_ylim()
    axes.set_ylim(bottom, bottom + (top - bottom) / (1 - min(part, 0.5)))
    axes.text(
        0.01,
        0.985,
        "\n".join(lines),
        transform=axes.transAxes,
        va="top",
        fontsize=size,
        color=FAINT,
        zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0},
    )


def inches(axes: Axes) -> tuple[float, float]:
    """Return the approximate final width and height of axes."""
    figure, room = axes.get_figure(root=True), axes.get_figure(root=False)
    assert figure is not None
    assert room is not None
    grown = 1.0 if figure.get_layout_engine() is None else 1.08
    place, dots = axes.get_position(), room.get_dpi()
    return grown * place.width * room.bbox.width / dots, place.height * room.bbox.height / dots


def fonts_with(letters: str) -> tuple[str, ...]:
    """Return installed fonts for letters that the default font lacks.

    Returns the smallest set that covers all available letters, fonts without serifs first.

    Examples
    --------
    >>> fonts_with("Two unequal links")
    ()
    """
    return _fonts_with(frozenset(letters) - _known())


@cache
def _known() -> frozenset[str]:
    from matplotlib.font_manager import findfont, get_font

    usual = get_font(findfont(FALLBACK))
    return frozenset(map(chr, usual.get_charmap())) | frozenset("\n\t\r")


@cache
def _fonts_with(missing: frozenset[str]) -> tuple[str, ...]:
    from matplotlib.font_manager import fontManager, get_font

    left, found = set(missing), []
    entries = [
        entry
        for entry in fontManager.ttflist
        if LAST_RESORT not in entry.name and entry.style == "normal" and entry.weight == 400
    ]
    for entry in sorted(entries, key=lambda entry: ("Sans" not in entry.name, entry.name)):
        if not left:
            break
        try:
            font = get_font(entry.fname)
            # Coloured bitmap fonts have no outlines for matplotlib.
            has = {each for each in left if font.scalable and font.get_char_index(ord(each))}
        except (OSError, RuntimeError):  # missing file or unsupported font
            continue
        if has:
            found.append(entry.name)
            left -= has
    return tuple(dict.fromkeys(found))
