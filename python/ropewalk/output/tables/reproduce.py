"""Reproductions as text: tables for a terminal, and cells of docs/reproductions.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ...analysis.reproduction import Choice, ComparedValue, Reproduction
from . import terminal


def table(made: Reproduction) -> RenderableType:
    """Return a reproduction as a `rich` renderable.

    Examples
    --------
    >>> import rich, ropewalk
    >>> rich.print(table(ropewalk.reproduce("song-2018", "fig9")))  # doctest: +ELLIPSIS
    Song et al. 2018, figure 9...
    """
    parts: list[RenderableType] = [Text(made.title, style="bold"), Text(made.source, style="dim")]
    if made.runs is not None and made.seed is not None:
        parts.append(Text(simulated(made), style="dim"))
    parts.append(_comparisons(made.comparisons))
    for number, reason in enumerate(reasons(made.comparisons), start=1):
        note = Table.grid(padding=(0, 1))
        note.add_row(str(number), Text(reason))
        parts.append(Padding(note, (0, 0, 0, 1)))
    if made.choices:
        parts.append(Text("\nOpen choices of the paper, and their results", style="bold"))
        parts += [_choices(group) for group in group_alike(made.choices)]
    return Group(*parts)


def simulated(made: Reproduction) -> str:
    """Describe the simulated runs.

    Examples
    --------
    >>> from ropewalk.reproduction import Reproduction
    >>> simulated(Reproduction("p", "i", "", "", (), lambda: None, seed=3, runs=2))
    'simulated: 2 runs of each scenario, seeds 3 to 4'
    """
    seed, runs = made.seed or 0, made.runs or 0
    if runs == 1:
        return f"simulated: one run of each scenario, seed {seed}"
    return f"simulated: {runs} runs of each scenario, seeds {seed} to {seed + runs - 1}"


def reasons(comparisons: Sequence[ComparedValue]) -> list[str]:
    """Return the distinct reasons in order.

    Examples
    --------
    >>> reasons([ComparedValue("a", 1.0, reason="why"), ComparedValue("b", 1.0, reason="why")])
    ['why']
    """
    return list(dict.fromkeys(each.reason for each in comparisons if each.reason is not None))


def cells(comparisons: Sequence[ComparedValue]) -> Iterator[tuple[str, ...]]:
    """Return quantity, published value, ours, difference, unit, met and reason number as text.

    Published values keep their printed form.

    Examples
    --------
    >>> list(cells([ComparedValue("threshold", 33.5, published=35.5, unit="ms", digits=1)]))
    [('threshold', '35.5', '33.5', '-2.0', 'ms', 'yes', '')]
    """
    numbers = {reason: number for number, reason in enumerate(reasons(comparisons), start=1)}
    for each in comparisons:
        yield (
            each.quantity,
            "" if each.published is None else str(each.published),
            written(each.ours, each.digits),
            "" if each.difference is None else _signed(each.difference, each.digits),
            each.unit,
            {True: "yes", False: "no", None: ""}[each.met],
            "" if each.reason is None else str(numbers[each.reason]),
        )


def group_alike(choices: Sequence[Choice]) -> list[list[Choice]]:
    """Group choices with the same quantities, which share a table.

    Examples
    --------
    >>> from ropewalk.reproduction import Alternative
    >>> one, other = Alternative("a", {"x": 1.0}), Alternative("b", {"y": 1.0})
    >>> both = [Choice("first?", "a", (one,)), Choice("second?", "b", (other,))]
    >>> len(group_alike(both))
    2
    """
    groups: dict[tuple[str, ...], list[Choice]] = {}
    for each in choices:
        groups.setdefault(tuple(quantities([each])), []).append(each)
    return list(groups.values())


def quantities(choices: Sequence[Choice]) -> list[str]:
    """Return the quantities of all choices in order.

    Examples
    --------
    >>> from ropewalk.reproduction import Alternative
    >>> quantities([Choice("which?", "a", (Alternative("a", {"x": 1.0, "y": 2.0}),))])
    ['x', 'y']
    """
    return list(
        dict.fromkeys(
            name for each in choices for other in each.alternatives for name in other.numbers
        )
    )


def choice_rows(choices: Sequence[Choice]) -> Iterator[tuple[str, str, bool, list[str]]]:
    """Return question, alternative, whether it is chosen, and its numbers as text.

    Examples
    --------
    >>> from ropewalk.reproduction import Alternative
    >>> list(choice_rows([Choice("which?", "a", (Alternative("a", {"x": 1.0}),))]))
    [('which?', 'a', True, ['1.00'])]
    """
    names = quantities(choices)
    for each in choices:
        for index, other in enumerate(each.alternatives):
            numbers = [written(other.numbers.get(name), each.digits) for name in names]
            yield ("" if index else each.question, other.name, other.name == each.chosen, numbers)


def _comparisons(comparisons: Sequence[ComparedValue]) -> Table:
    # Next to the first line of a folded quantity.
    shown = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    shown.add_column("")
    for heading in ("published", "ours", "difference"):
        shown.add_column(heading, justify="right", no_wrap=True)
    shown.add_column("", no_wrap=True)
    shown.add_column("met", no_wrap=True)
    shown.add_column("why", justify="right", no_wrap=True)
    for row in cells(comparisons):
        shown.add_row(*(Text(cell) for cell in row))
    return shown


def _choices(choices: Sequence[Choice]) -> Table:
    shown = terminal.number_table("* is taken")
    for name in quantities(choices):
        shown.add_column(name, justify="right", vertical="bottom", max_width=10)
    for question, name, chosen, numbers in choice_rows(choices):
        if question:
            shown.add_row(Text(question))
        shown.add_row(
            Text(f"{'*' if chosen else ' '} {name}"), *(Text(number) for number in numbers)
        )
    return shown


def _signed(value: float, digits: int) -> str:
    """Format with a sign; a value rounded to zero has none."""
    written = f"{value:+.{digits}f}"
    return written if float(written) else written[1:]


def written(value: float | str | None, digits: int) -> str:
    """Format with the given digits, unless it is an integer or text."""
    if value is None:
        return ""
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)
