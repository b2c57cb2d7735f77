"""Result types of a reproduction: comparisons, open choices, data and picture."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..provenance import with_origin
from ..results.displayable import Displayable

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from ..provenance import Origin
    from ..results.displayable import Width
    from ..scenario import Scenario


DPI = 120  # resolution of kept pictures
MARGIN = 0.1  # default band of a published number, relative to it
POINTS = 5.0  # least default band of a percentage, in points


@dataclass(frozen=True)
class ComparedValue:
    """A published value compared with ours.

    Attributes
    ----------
    quantity : str
        The compared quantity.
    ours : float or str
        Our value; text for a statement without a number.
    published : float or str or None
        The paper's value; None if it states none.
    unit : str
        Unit of both, empty for a pure number.
    digits : int
        Decimal digits to show.
    reason : str or None
        Reason of the difference; None if there is none.
    band : (float or None, float or None) or None
        The least and the greatest value that `met` accepts; None for no limit on that side.
        Without a band: 10 % either way of a published number, at least 5 points of a percentage.
    holds : bool or None
        Whether a statement in words holds. None: `met` compares numbers.
    """

    quantity: str
    ours: float | str
    published: float | str | None = None
    unit: str = ""
    digits: int = 2
    reason: str | None = None
    band: tuple[float | None, float | None] | None = None
    holds: bool | None = None

    @property
    def met(self) -> bool | None:
        """Whether our value is within the band; None without a statement of the paper.

        Examples
        --------
        >>> ComparedValue("gain", 45.0, published=48, unit="%").met
        True
        >>> ComparedValue("throughput", 2.8, published="at least 4", band=(4, None)).met
        False
        """
        if self.holds is not None:
            return self.holds
        if self.limits is None or isinstance(self.ours, str):
            return None
        least, greatest = self.limits
        above = least is None or self.ours >= least
        return above and (greatest is None or self.ours <= greatest)

    @property
    def limits(self) -> tuple[float | None, float | None] | None:
        """The least and the greatest value that meet the statement: `band`, or its default.

        Examples
        --------
        >>> ComparedValue("gain", 45.0, published=48, unit="%").limits
        (43.0, 53.0)
        """
        if self.band is None and isinstance(self.published, (int, float)):
            points = POINTS if self.unit == "%" else 0.0
            margin = max(MARGIN * abs(self.published), points)
            return self.published - margin, self.published + margin
        return self.band

    @property
    def difference(self) -> float | None:
        """Our value minus the published one; None if either is not a number.

        Examples
        --------
        >>> round(ComparedValue("threshold", 33.5, published=35.5, unit="ms").difference, 9)
        -2.0
        """
        if isinstance(self.published, (int, float)) and isinstance(self.ours, (int, float)):
            return self.ours - self.published
        return None

    def json(self) -> dict[str, Any]:
        """Return the JSON form, without unknown values."""
        values = {
            "quantity": self.quantity,
            "published": self.published,
            "ours": self.ours,
            "difference": self.difference,
            "unit": self.unit or None,
            "digits": self.digits,
            "met": self.met,
            "reason": self.reason,
            "at_least": None if self.band is None else self.band[0],
            "at_most": None if self.band is None else self.band[1],
            "holds": self.holds,
        }
        return {key: value for key, value in values.items() if value is not None}


@dataclass(frozen=True)
class Alternative:
    """One answer to an open choice, and the resulting numbers.

    Attributes
    ----------
    name : str
        Name of the alternative.
    numbers : mapping of str to float
        Values by quantity, without undefined ones.
    """

    name: str
    numbers: Mapping[str, float]


@dataclass(frozen=True)
class Choice:
    """A choice that a paper leaves open.

    Attributes
    ----------
    question : str
        The open question.
    chosen : str
        Name of the alternative used for the comparisons, or the approach taken instead.
    alternatives : tuple of Alternative
        All computed alternatives, the chosen one included.
    digits : int
        Decimal digits to show.
    """

    question: str
    chosen: str
    alternatives: tuple[Alternative, ...]
    digits: int = 2

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "question": self.question,
            "chosen": self.chosen,
            "alternatives": [
                {"name": each.name, "numbers": dict(each.numbers)} for each in self.alternatives
            ],
            "digits": self.digits,
        }


@dataclass(frozen=True)
class StoredPicture:
    """A stored PNG picture in the role of a drawing function."""

    png: bytes

    def __call__(self) -> Figure:
        """Return a figure that shows the picture."""
        from matplotlib.figure import Figure
        from matplotlib.image import imread

        pixels = imread(io.BytesIO(self.png))
        height, width = pixels.shape[:2]
        figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.imshow(pixels)
        axes.set_axis_off()
        return figure


@dataclass(frozen=True)
class Reproduction(Displayable):
    """A reproduced table or figure of a paper.

    Attributes
    ----------
    paper, item : str
        Identification, such as ``"song-2018"`` and ``"fig9"``.
    title : str
        Title of the item.
    source : str
        The paper, cited.
    comparisons : tuple of ComparedValue
        Published values compared with ours.
    draw : callable
        Draws the picture; `figure` calls it once.
    choices : tuple of Choice
        Choices that the paper leaves open.
    tables : mapping of str to polars.DataFrame
        Data behind the picture and the numbers, with units in column names.
    scenarios : mapping of str to Scenario
        Simulated scenarios; may be empty.
    seed, runs : int or None
        Seed of the first simulated run, and runs of each scenario; None without simulations.
    origin : Origin or None
        Origin of the results.

    Examples
    --------
    >>> import ropewalk
    >>> made = ropewalk.reproduce("song-2018", "fig10")
    >>> made.figure.axes[0].get_ylabel()
    'throughput (kbit/s)'
    """

    paper: str
    item: str
    title: str
    source: str
    comparisons: tuple[ComparedValue, ...]
    draw: Callable[[], Figure]
    choices: tuple[Choice, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    scenarios: Mapping[str, Scenario] = field(default_factory=dict)
    seed: int | None = None
    runs: int | None = None
    origin: Origin | None = field(default=None, compare=False)

    @cached_property
    def figure(self) -> Figure:
        """The picture under a title with paper and figure."""
        figure = self.draw()
        if not isinstance(self.draw, StoredPicture) and not figure.get_suptitle():
            figure.suptitle(self.title, x=0.01, ha="left")
        return figure

    def __repr__(self) -> str:
        count = len(self.comparisons)
        return f"<Reproduction of {self.paper} {self.item}: {count} published numbers and ours>"

    def plot(self, *, width: Width | None = None) -> Figure:
        """Return the picture in its original width."""
        if width is not None:
            raise ValueError(f"width = {width!r}: the picture of a reproduction has its own")
        return self.figure

    def __getstate__(self) -> dict[str, Any]:
        # Drawing functions cannot always be pickled.
        state = {**self.__dict__, "draw": StoredPicture(self._png())}
        for drawn in ("figure", "_drawn"):
            state.pop(drawn, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _png(self) -> bytes:
        if isinstance(self.draw, StoredPicture):
            return self.draw.png
        drawn = io.BytesIO()
        self.figure.savefig(drawn, format="png", dpi=DPI)
        return drawn.getvalue()

    def json(self) -> dict[str, Any]:
        """Return the JSON form."""
        head = {
            "engine": "reproduce",
            "paper": self.paper,
            "item": self.item,
            "title": self.title,
            "source": self.source,
            "seed": self.seed,
            "runs": self.runs,
        }
        known = {key: value for key, value in head.items() if value is not None} | {
            "comparisons": [each.json() for each in self.comparisons],
            "choices": [each.json() for each in self.choices],
        }
        return with_origin(known, self.origin)
