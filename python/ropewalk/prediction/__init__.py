"""Predict the results of a scenario by formulas, in milliseconds instead of packet by packet."""

from .predicting import predict
from .predictions import Prediction, Predictions

__all__ = [
    "Prediction",
    "Predictions",
    "predict",
]
