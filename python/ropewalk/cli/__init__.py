"""The command ``ropewalk``, one file per verb.

Slow imports happen in `main`, where an interrupt ends the command silently; imports of this module
precede it.
"""

import os
import sys

from .statuses import FAILED, INTERRUPTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType

RETRY_S = 0.01  # delay before an interrupt is raised again


def main() -> None:
    """Run the command line and exit: 0 success, 1 failed run, 2 invalid input.

    SIGTERM cleans up like an interrupt.
    """
    try:
        import signal

        # Imports leave nothing to clean up, and an exception in their midst could be misread or
        # lost.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
        _open_closed_streams()
        try:
            _run(sys.argv[1:])
        finally:
            # Flush here, where a failure can be reported; at exit it cannot.
            sys.stdout.flush()
    except KeyboardInterrupt:
        import signal

        # A second interrupt ends the process at once, even during clean-up.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.exit(INTERRUPTED)
    except OSError as error:
        # Nothing more can be written to standard output, not even at exit. If its reader has left,
        # print nothing at all.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            print(f"standard output: {error.strerror or error}".lower(), file=sys.stderr)
        sys.exit(FAILED)


def _run(arguments: list[str]) -> None:
    import signal
    import threading  # noqa: F401  an interrupt cannot wait for it

    from . import commands, gateway

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _retry_interrupt
    if arguments and arguments[0] in gateway.VERBS:
        gateway.run(arguments)
    commands.run(arguments)


def _interrupt(_number: int, frame: "FrameType | None") -> None:
    """Raise ``KeyboardInterrupt``, but within an import a moment later.

    Verbs import lazily, and an import may lose or misread an exception.
    """
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _interrupt_later()
            return
        frame = frame.f_back
    raise KeyboardInterrupt


def _retry_interrupt(lost: "UnraisableHookArgs") -> None:
    """Interrupt again if the exception was lost, as in a callback."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _interrupt_later()
    else:
        sys.__unraisablehook__(lost)


def _interrupt_later() -> None:
    import signal
    import threading

    if sys.platform == "win32":
        threading.Timer(RETRY_S, signal.raise_signal, (signal.SIGINT,)).start()
    else:
        to_main = (threading.main_thread().ident, signal.SIGINT)
        threading.Timer(RETRY_S, signal.pthread_kill, to_main).start()


def _open_closed_streams() -> None:
    """Open /dev/null for standard streams closed by the shell (``>&-``).

    Otherwise the next opened file would become standard output. Reads and writes of these streams
    fail as on closed ones, except that standard error discards its text.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, mode)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", closefd=False)
