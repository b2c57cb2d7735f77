"""Scenarios: files, values, the bundled ones, and their algorithms."""

from .scenario import Given, Scenario, schema
from .spelling import Overrides, Value, spelled

__all__ = ["Given", "Overrides", "Scenario", "Value", "schema", "spelled"]
