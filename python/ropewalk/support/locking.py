"""File locks, released by the system when the process ends."""

from __future__ import annotations

import sys


def lock_open(file: int) -> bool:
    """Lock an open file until it is closed; return False if another process has the lock.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     lock_open(file.fileno())
    True
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
