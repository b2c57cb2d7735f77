"""Predict the results of a scenario by formulas, in milliseconds instead of packet by packet."""

from .api import predict
from .result import Prediction, Predictions

__all__ = [
    "Prediction",
    "Predictions",
    "predict",
]
