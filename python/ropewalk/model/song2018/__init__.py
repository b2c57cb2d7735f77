"""Throughput of one TCP connection striped packet by packet over n links.

The model of Song et al. [1]_, one function per equation. TCP NewReno sends in rounds. A round
starts with an acknowledgement of new data, sends C segments over the links in turn, and ends at
the next such acknowledgement. The order of arrival within a round is taken as uniformly random.

Units are bytes, seconds and bytes per second: 100 kbit/s is 12 500. Links are on the last axis,
scenarios on the axes before it; all arguments broadcast. A single scenario gives a NumPy number,
several give an array. Functions raise `ValueError` for arguments out of bounds.

Equations (1) to (18) have the numbers of section 4; section 6 cites (17) and (18) as (20) and
(21). The paper's sums over factorials are replaced by closed forms, which also accept the
non-integer C of recursion (16). They hold from C = 2; below, as in a first round of one segment,
no more is acknowledged than was sent.

The model ignores losses, retransmissions due to reordering, the return path's delay, and queues
left by earlier rounds. A prediction can therefore exceed the sum of the rates. On fast links it is
far below: with table 2 the model settles at three segments per round in slow start, and approaches
two after it, regardless of the links' capacity.

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
