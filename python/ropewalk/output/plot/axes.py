"""Helpers of the drawing functions: axes and selected runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...support.arguments import argument_error
from ..style import on_axes, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import TypeVar

    from ...results import Results
    from ...results.displayable import Width

    # The functions return a new figure, or the axes given to them.
    On = TypeVar("On", Figure, Axes, default=Figure)


def draw_on(
    ax: On | None,
    width: Width | None,
    size: tuple[float, float],
    draw: Callable[[Axes], None],
    labels: Callable[[], tuple[str, str]],
) -> On:
    """Draw on the given axes, or on a new figure with title and letters as of `picture`."""
    if ax is not None:
        if width is not None:
            raise ValueError("width is of a figure: ax has its own")
        with on_axes():
            draw(ax)  # type: ignore[arg-type]
        return ax
    title, letters = labels()
    with picture(*size, title=title, letters=letters, paper=width) as figure:
        draw(figure.subplots())
    return figure  # type: ignore[return-value]


def title_and_letters(results: Results) -> tuple[str, str]:
    """Return the title, and a text with all letters that may be needed."""
    return results.scenario.title, results.scenario.effective()


def seeds_of(results: Results, seed: int | None) -> Sequence[int]:
    """Return the selected runs."""
    if not hasattr(results, "seeds"):
        raise argument_error("results", results, "Results, as simulate and testbed return them")
    if seed is None:
        return results.seeds
    if seed not in results.seeds:
        raise argument_error("seed", seed, f"that of a run: {', '.join(map(str, results.seeds))}")
    return [seed]


def timed(results: Results, seed: int | None) -> Sequence[int]:
    """Return the selected runs; ValueError without a timeline."""
    seeds = seeds_of(results, seed)
    if results.connection.is_empty():
        raise ValueError("there is no timeline: run with a step, such as step='100 ms'")
    return seeds
