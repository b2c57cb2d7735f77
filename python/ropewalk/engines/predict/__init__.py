"""Prediction of a scenario's results by formulas, in milliseconds."""

from .api import predict
from .result import Prediction, Predictions

__all__ = [
    "Prediction",
    "Predictions",
    "predict",
]
