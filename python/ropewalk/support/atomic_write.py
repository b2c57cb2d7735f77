"""Atomic file writes: a file is complete under its name, or absent."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(path: Path, content: bytes) -> None:
    """Write a file atomically, replacing an existing one.

    The content goes to a temporary file in the same folder first, so that a failure leaves an
    existing file unchanged. A FIFO, a device or standard output is written directly. Raises
    OSError, which names `path`.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     replace(Path(folder) / "a.txt", b"whole")
    ...     [file.name for file in Path(folder).iterdir()]
    ['a.txt']
    """
    try:
        if _is_stream(path):
            with path.open("ab") as stream:
                stream.write(content)
            return
        # A symbolic link stays one: its target is replaced.
        destination = path.resolve()
        descriptor, temporary = tempfile.mkstemp(
            prefix=f".{destination.name}.", dir=destination.parent
        )
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
            Path(temporary).chmod(0o666 & ~umask())
            os.replace(temporary, destination)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise named(error, path) from None


def check_file(path: Path) -> None:
    """Raise OSError, which names `path`, if `replace` could not write a file, before long work."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: no such folder")
    if path.is_dir():
        raise IsADirectoryError(f"{path}: is a folder")
    if _is_stream(path):
        return
    destination = path.resolve()
    try:
        descriptor, temporary = tempfile.mkstemp(
            prefix=f".{destination.name}.", dir=destination.parent
        )
        os.close(descriptor)
        os.unlink(temporary)
    except OSError as error:
        raise named(error, path) from None


def named(error: OSError, path: Path) -> OSError:
    """Return the same error with the requested name in place of the temporary file's."""
    return OSError(error.errno, error.strerror or str(error), str(path))


def umask() -> int:
    """Return the process's umask."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _is_stream(path: Path) -> bool:
    """Whether a path is a stream or device, which cannot be replaced."""
    standard = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")
    return str(path).startswith(standard) or (path.exists() and not path.is_file())
