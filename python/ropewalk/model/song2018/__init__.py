"""The throughput of one TCP connection striped packet by packet over n links.

The model of Song et al. [1]_, one equation a function. TCP NewReno sends in rounds; a round begins
with an acknowledgement of new data and sends C segments over the links in turn, and ends when the
next such acknowledgement returns. The order in which the segments of a round arrive is taken to be
uniformly random.

Quantities are in bytes, seconds and bytes per second, so the equations need no factors; a rate of
100 kbit/s is 12 500. Links lie on the last axis, scenarios on the axes before it, and all
arguments broadcast. A single scenario gives a NumPy number, several give an array.

Equations (1) to (18) are numbered as section 4 cites them. Section 6 also counts the three steps
of the iteration that have a formula, so that (17) and (18) are its (20) and (21). The paper prints
sums over factorials; here are their closed forms, which also take the C that is not whole that the
recursion (16) gives. They hold from C = 2; below it, as in a first round of one segment, no more
is acknowledged than was sent.

Left out of the model, and so of its predictions: losses, retransmissions that reordering sets off,
the return path's delay, and what earlier rounds left in the links' queues. A prediction can
therefore exceed the sum of the rates. On fast links it stays far below: a round waits for the one
before, and with table 2 it settles at three segments in slow start and towards two after it,
whatever the links can carry.

References
----------
.. [1] J. Song, P. Dong, H. Zhou, T. Zheng, X. Du, M. Guizani, "A Performance
   Analysis Model of TCP over Multiple Heterogeneous Paths for 5G Mobile Services", Sustainability
   10(5), 1337, 2018. doi:10.3390/su10051337
"""

from .arrival import (
    SEGMENT_BYTES,
    Queue,
    arrival_difference,
    arrival_time,
    link_in_turn,
    segments_sent,
)
from .asymmetry import Spread, average_bandwidth_asymmetry, average_delay_asymmetry, with_asymmetry
from .round import (
    ACK_EVERY,
    acknowledged_probability,
    expected_acknowledged,
    expected_acknowledged_first,
    expected_acknowledged_not_first,
    expected_time,
    expected_time_by_difference,
    expected_time_first,
    expected_time_not_first,
    first_probability,
    long_run_probability,
    short_run_probability,
)
from .throughput import Start, prediction_accuracy, throughput, transfer_time
from .window import (
    INITIAL_WINDOW_BYTES,
    MAX_SEGMENTS,
    SSTHRESH_BYTES,
    Rounds,
    next_segments,
    next_window,
    slow_start_rounds,
    transfer_rounds,
)

__all__ = [
    "ACK_EVERY",
    "INITIAL_WINDOW_BYTES",
    "MAX_SEGMENTS",
    "SEGMENT_BYTES",
    "SSTHRESH_BYTES",
    "Queue",
    "Rounds",
    "Spread",
    "Start",
    "acknowledged_probability",
    "arrival_difference",
    "arrival_time",
    "average_bandwidth_asymmetry",
    "average_delay_asymmetry",
    "expected_acknowledged",
    "expected_acknowledged_first",
    "expected_acknowledged_not_first",
    "expected_time",
    "expected_time_by_difference",
    "expected_time_first",
    "expected_time_not_first",
    "first_probability",
    "link_in_turn",
    "long_run_probability",
    "next_segments",
    "next_window",
    "prediction_accuracy",
    "segments_sent",
    "short_run_probability",
    "slow_start_rounds",
    "throughput",
    "transfer_rounds",
    "transfer_time",
    "with_asymmetry",
]
