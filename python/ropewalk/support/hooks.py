"""Modules of upper layers that lower ones use; `ropewalk/__init__` names them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

display = ""  # draws tables and pictures of results, which know nothing of display


def display_module() -> "ModuleType":
    """Return the module that displays results."""
    from importlib import import_module

    return import_module(display)
