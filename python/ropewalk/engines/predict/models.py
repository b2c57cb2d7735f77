"""Registry of models: one file for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ...scenario.setup import Setup
from . import (
    coupled,
    datagrams,
    elahi2011,
    fluid,
    in_order,
    loss_limits,
    park2014,
    short_transfer,
    song2018,
    striped_cycle,
    wifi,
)
from .result import Prediction

Model: TypeAlias = Callable[[Setup], Prediction | None]

MODELS: tuple[Model, ...] = (
    wifi.predict,
    datagrams.predict,
    striped_cycle.predict,
    fluid.predict,
    song2018.predict,
    elahi2011.predict,
    park2014.predict,
    in_order.predict,
    loss_limits.predict,
    coupled.predict,
    short_transfer.predict,
)
