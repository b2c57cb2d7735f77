"""Random queues of Elahi et al. 2011, and confidence intervals of their simulation."""

import math

import numpy as np
from hypothesis import strategies as st
from scipy.special import stdtrit

from ropewalk.model.elahi2011 import Queue

ROW_1 = Queue(638, (320, 192, 128), capacity=300, send_buffers=150)


@st.composite
def queues(draw, most=100_000):
    """Systems with up to `most` packets, and rho from 1/1000 to 1000."""
    rates = draw(st.lists(st.floats(0.01, 100), min_size=1, max_size=8))
    load = 10 ** draw(st.floats(-3, 3))
    capacity = draw(st.integers(len(rates), most))
    return Queue(load * sum(rates), rates, capacity, draw(st.integers(len(rates), capacity)))


def confident(samples: np.ndarray, value: float) -> bool:
    """Return whether the 99.9 % interval of the samples' mean, within 5 %, contains the value."""
    mean = np.mean(samples)
    half = stdtrit(len(samples) - 1, 0.9995) * np.std(samples, ddof=1) / math.sqrt(len(samples))
    assert half < 0.05 * mean
    return bool(abs(mean - value) < half)
