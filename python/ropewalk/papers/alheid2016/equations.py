"""Alheid et al. 2016, equation (1): path loss."""

from __future__ import annotations

import math

from ...analysis.reproduction import Reproduction
from ...model.wifi.propagation import log_distance_loss_db
from ..checks import Check, reproduction
from .network import DISTANCES_M

REFERENCE_DB = 46.67  # section III.A
EXPONENTS = (2.0, 2.2, 3.0)  # m, which the paper does not print


def reproduce() -> Reproduction:
    """Check the path loss at the paper's distances."""
    checks = [
        Check(
            "(1)",
            f"path loss, exponent {exponent:g}",
            "m decibels for each tenth of a decade",
            log_distance_loss_db(DISTANCES_M, exponent, reference_loss_db=REFERENCE_DB),
            [REFERENCE_DB + exponent * 10 * math.log(d) / math.log(10) for d in DISTANCES_M],
        )
        for exponent in EXPONENTS
    ]
    return reproduction("alheid-2016", "Alheid et al. 2016, equation (1)", checks)
