"""Song et al. 2018: out-of-range input is rejected with name, value and allowed range."""

import math

import numpy as np
import pytest

from ropewalk.model import song2018 as model

GOOD = {"byte_rate": [1e5, 2e5], "delay_s": [0.01, 0.02]}
WRONG = [
    ({"byte_rate": [1e5, 0.0]}, r"byte_rate\[1\] is 0: must be a finite number above 0"),
    ({"byte_rate": [-1.0, 1e5]}, r"byte_rate\[0\] is -1: .* above 0"),
    ({"byte_rate": [[1e5, 1e5], [1e5, math.nan]]}, r"byte_rate\[1, 1\] is nan: .* above 0"),
    ({"byte_rate": [math.inf, 1e5]}, r"byte_rate\[0\] is inf"),
    ({"byte_rate": ["fast", "slow"]}, r"byte_rate is \['fast', 'slow'\]: must be a finite"),
    ({"byte_rate": 1e5}, r"byte_rate has shape \(\): must have at least one"),
    ({"byte_rate": []}, r"byte_rate has shape \(0,\): must have at least one"),
    ({"byte_rate": [1e5] * 3}, "delay_s has 2 links .* as many as byte_rate, 3"),
    ({"byte_rate": np.ones((3, 2)), "delay_s": np.ones((4, 2))}, r"\(3,\) and \(4,\)"),
    ({"delay_s": [0.01, -0.01]}, r"delay_s\[1\] is -0.01: .* of at least 0"),
    ({"delay_s": [math.nan, 0.01]}, r"delay_s\[0\] is nan"),
    ({"delay_s": None}, "delay_s is nan: must be a finite number of at least 0"),
    ({"transfer_bytes": 0}, "transfer_bytes is 0: .* above 0"),
    ({"transfer_bytes": [1e5, -1]}, r"transfer_bytes\[1\] is -1"),
    ({"transfer_bytes": math.inf}, "transfer_bytes is inf"),
    ({"transfer_bytes": 1e12}, "transfer_bytes is 1e.12, .* at most 1000000 segments"),
    ({"byte_rate": np.ones((3, 2)), "transfer_bytes": [1e5, 1e5]}, r"\(3,\) .* \(2,\)"),
    ({"segment_bytes": 0}, "segment_bytes is 0: .* above 0"),
    ({"segment_bytes": [536, 1460]}, r"segment_bytes has shape \(2,\): must be one number"),
    ({"initial_window_bytes": 535}, "initial_window_bytes is 535: must be at least .* 536"),
    ({"ssthresh_bytes": math.nan}, "ssthresh_bytes is nan"),
    ({"ack_every": 0}, "ack_every is 0: .* of at least 1"),
    ({"ack_every": 1.5}, "ack_every is 1.5: must be a whole number of at least 1"),
    ({"queue": "long"}, "queue is 'long': must be 'printed' or 'own'"),
    ({"start": "random"}, "start is 'random': must be 'in turn' or 'uniform'"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_bad_scenarios_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        model.throughput(**GOOD | change)
    with pytest.raises(ValueError, match=message):
        model.transfer_time(**GOOD | change)


@pytest.mark.parametrize("bad", [0.5, 0, -1, math.nan, math.inf, "three", 1j])
@pytest.mark.parametrize(
    "function",
    [
        model.first_probability,
        lambda c: model.short_run_probability(2, c),
        lambda c: model.long_run_probability(2, c),
        lambda c: model.acknowledged_probability(2, c),
        lambda c: model.expected_time_first([0.1, 0.2], c),
        lambda c: model.expected_time([0.1, 0.2], c),
        lambda c: model.expected_time_by_difference([0.1, 0.2], c),
        model.expected_acknowledged_first,
        model.expected_acknowledged_not_first,
        model.expected_acknowledged,
        lambda c: model.next_segments(c, 1, 1, 10),
    ],
)
def test_a_round_of_less_than_a_segment_is_refused(function, bad):
    with pytest.raises(ValueError, match=r"segments is .*: must be a .* number of at least"):
        function(bad)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: model.acknowledged_probability(1, 2.5), "segments is 2.5: must be a whole"),
        (lambda: model.acknowledged_probability([1, 0], 3), r"count\[1\] is 0"),
        (lambda: model.acknowledged_probability([1, 2], [3, 4, 5]), "count and segments are"),
        (lambda: model.long_run_probability(0, 3), "count is 0"),
        (lambda: model.long_run_probability([1, 2], [3, 4, 5]), "count and segments are"),
        (lambda: model.expected_time([0.1, -0.2], 3), r"arrival_s\[1\] is -0.2"),
        (lambda: model.expected_time(0.1, 3), r"arrival_s has shape \(\)"),
        (lambda: model.expected_time(np.ones((2, 2)), [3, 4, 5]), "arrival_s and segments are"),
        (lambda: model.expected_time_not_first([]), r"arrival_s has shape \(0,\)"),
        (lambda: model.segments_sent(-1, 1), "acknowledged is -1"),
        (lambda: model.segments_sent(1, math.nan), "window_growth is nan"),
        (lambda: model.link_in_turn(0, 0, 2), "position is 0"),
        (lambda: model.link_in_turn(1, -1, 2), "sent_before is -1"),
        (lambda: model.link_in_turn(1, 0, 0), "links is 0"),
        (lambda: model.arrival_time(1.5, 0, [1e5], [0.1]), "position is 1.5"),
        (lambda: model.arrival_time(1, 0, [1e5], [0.1], queue="no"), "queue is 'no'"),
        (lambda: model.arrival_time(1, 0, [0], [0.1]), r"byte_rate\[0\] is 0"),
        (lambda: model.arrival_difference(2, 0, [1e5], [-0.1]), r"delay_s\[0\] is -0.1"),
        (lambda: model.slow_start_rounds(0, 1), "ssthresh is 0"),
        (lambda: model.slow_start_rounds(1, 0), "initial_window is 0"),
        (lambda: model.next_window(0, 1, 10), "window is 0"),
        (lambda: model.next_window(1, 0, 10), "round_number is 0"),
        (lambda: model.next_window(1, 1, math.nan), "slow_start is nan"),
        (lambda: model.average_delay_asymmetry([-0.1, 0.1]), r"delay_s\[0\] is -0.1"),
        (lambda: model.average_bandwidth_asymmetry([0.0, 1.0]), r"byte_rate\[0\] is 0"),
        (lambda: model.average_bandwidth_asymmetry([]), r"byte_rate has shape \(0,\)"),
        (lambda: model.with_asymmetry(-1, 0, 2), "minimum is -1"),
        (lambda: model.with_asymmetry(0, math.nan, 2), "asymmetry is nan"),
        (lambda: model.with_asymmetry(0, 0, 0), "links is 0"),
        (lambda: model.with_asymmetry(0, 0, 2, "odd"), "spread is 'odd'"),
        (lambda: model.prediction_accuracy(1, 0), "measured is 0"),
        (lambda: model.prediction_accuracy(-1, 1), "predicted is -1"),
        (lambda: model.transfer_rounds([1e5, 1e6]), "transfer_bytes has shape"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
