"""Scenarios: files, values, the ready ones, and the algorithms that they name."""

from .scenario import Given, Scenario, schema
from .spelling import Overrides, Value, spelled

__all__ = ["Given", "Overrides", "Scenario", "Value", "schema", "spelled"]
