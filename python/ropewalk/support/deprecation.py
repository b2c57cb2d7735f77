"""Old names of the public API, which warn."""

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], object]:
    """Return a module's ``__getattr__`` for its old names, from new names by old ones.

    Examples
    --------
    >>> old = renamed("ropewalk.emulation", {"Run": "KernelRun"})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     old("Run").__name__, str(caught[0].message)
    ('KernelRun', 'ropewalk.emulation.Run is now ropewalk.emulation.KernelRun')
    """

    def get(name: str) -> object:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        told = f"{module}.{name} is now {module}.{names[name]}"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return getattr(import_module(module), names[name])

    return get
