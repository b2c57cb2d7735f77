"""Fatal errors of a verb: a line on standard error and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from .._core import ScenarioError
from ..support.escape import printable
from ..support.optional_deps import MissingLibraryError
from .statuses import FAILED, WRONG_INPUT

# Prefixes of the package's error messages about an argument, and the option for it.
OPTIONS = {
    "capture_at = ": "--capture-at ",
    "deployments = ": "--deployments ",
    "on = ": "--on ",
    "runs = ": "--runs ",
    "seed = ": "--seed ",
    "step = ": "--step ",
    "traces = ": "--traces ",
    "until: at_most = ": "--at-most ",
    "until: ci95 = ": "--ci95 ",
    "vary: ": "--vary ",
    "verb = ": "--verb ",
    "zip: ": "--zip ",
}


@contextmanager
def wrong_input() -> Iterator[None]:
    """Before the run: errors mean invalid input, exit status 2."""
    try:
        yield
    except OSError as error:
        fail(_told(error), WRONG_INPUT)
    except (ValueError, MissingLibraryError) as error:
        fail(message_by_option(str(error)), WRONG_INPUT)


@contextmanager
def failures() -> Iterator[None]:
    """During the run: errors are failures, exit status 1, unless the input is invalid."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (ScenarioError, ValueError, MissingLibraryError) as error:
        fail(message_by_option(str(error)), WRONG_INPUT)
    except OSError as error:
        fail(_with_notes(_told(error), error), FAILED)
    except (RuntimeError, MemoryError) as error:
        fail(_with_notes(str(error) or type(error).__name__, error), FAILED)


def _with_notes(message: str, error: BaseException) -> str:
    """Return a message with the error's notes, one per line."""
    return "\n".join([message, *getattr(error, "__notes__", ())])


def message_by_option(message: str) -> str:
    """Rewrite a message about an argument as one about its option.

    Examples
    --------
    >>> message_by_option('step = "soon": must begin with a number')
    '--step "soon": must begin with a number'
    """
    return "\n".join(map(_line_by_option, message.splitlines()))


def _line_by_option(line: str) -> str:
    for argument, option in OPTIONS.items():
        if line.startswith(argument):
            return option + line.removeprefix(argument)
    return line


def fail(message: str, status: int) -> NoReturn:
    """Print the message on standard error and exit."""
    print(printable(message), file=sys.stderr)
    raise typer.Exit(status)


def _told(error: OSError) -> str:
    if error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror.lower()}"
    return str(error) or type(error).__name__
