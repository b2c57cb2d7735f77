"""Ends a verb that cannot go on: with a line on standard error and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from .._core import ScenarioError
from ..needs import MissingLibraryError
from ..printable import printable
from .statuses import FAILED, WRONG_INPUT


@contextmanager
def wrong_input() -> Iterator[None]:
    """Before the work: errors are wrong input, exit status 2."""
    try:
        yield
    except OSError as error:
        fail(_told(error), WRONG_INPUT)
    except (ValueError, MissingLibraryError) as error:
        fail(str(error), WRONG_INPUT)


@contextmanager
def failures() -> Iterator[None]:
    """During the work: errors are failures, exit status 1, unless they are of the input."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (ScenarioError, ValueError, MissingLibraryError) as error:
        fail(str(error), WRONG_INPUT)
    except OSError as error:
        fail(_told(error), FAILED)
    except (RuntimeError, MemoryError) as error:
        fail(str(error) or type(error).__name__, FAILED)


def fail(message: str, status: int) -> NoReturn:
    """Print the message on standard error and exit."""
    print(printable(message), file=sys.stderr)
    raise typer.Exit(status)


def _told(error: OSError) -> str:
    if error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror.lower()}"
    return str(error) or type(error).__name__
