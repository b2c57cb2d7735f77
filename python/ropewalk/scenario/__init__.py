"""Scenarios: files, values, the bundled ones, and their algorithms."""

from ..support.deprecation import renamed
from .scenario import Given, Scenario, schema
from .toml_syntax import Overrides, Value, toml_value

__all__ = ["Given", "Overrides", "Scenario", "Value", "schema", "toml_value"]
__getattr__ = renamed(__name__, {"spelled": "toml_value"})
