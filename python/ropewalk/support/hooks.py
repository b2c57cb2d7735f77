"""Registry of upper-layer modules that lower layers call; `ropewalk/__init__` fills it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

display = ""  # module that draws tables and plots of results


def display_module() -> "ModuleType":
    """Return the module that displays results."""
    from importlib import import_module

    return import_module(display)
