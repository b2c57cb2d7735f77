"""Growth and reduction of a congestion window as a function of time.

Windows are segments, averaged over a round trip; times are seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

CUBIC_BETA = 0.7  # RFC 9438, section 4.6
CUBIC_C = 0.4  # section 5.1, segments per second cubed
CUBIC_ALPHA = 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA)  # section 4.3
MIN_HYSTART_WINDOW = 16.0  # segments (Ha and Rhee, 2011)
HYSTART_SPACING = 0.002  # seconds between acknowledgements of one train
HYSTART_RISE = (0.004, 0.016)  # bounds of the increase in delay, seconds
NEVER = math.inf


@dataclass(slots=True)
class Window:
    """Congestion window of one subflow: CUBIC's, or one that grows by a given increase.

    `threshold` is infinite before the first loss.
    """

    size: float
    threshold: float
    cubic: bool
    largest: float = 0.0
    left_slow_start: bool = False
    epoch: float = NEVER
    plateau: float = 0.0
    inflection: float = 0.0
    friendly: float = 0.0
    prior: float = 0.0
    since_loss: float = field(default=0.0)
    between_losses: float = 0.0

    @property
    def slow_start(self) -> bool:
        """Whether the window is below its threshold."""
        return self.size < self.threshold

    def double(self, rounds: float, growth: float, most: float) -> float:
        """Grow by slow start up to the threshold or `most`; return the remaining rounds."""
        goal = min(self.threshold, most)
        if self.size >= goal:
            return rounds
        grown = self.size * _power(growth, rounds)
        if grown <= goal:
            self.size = grown
            return 0.0
        left = rounds - math.log(goal / self.size, growth)
        self.size = goal
        return left

    def leave_slow_start(self) -> None:
        """Continue with congestion avoidance, without a loss."""
        self.threshold = self.size
        self.left_slow_start = True
        self.prior = self.size

    def avoid(self, now: float, rtt: float, rounds: float, increase: float) -> None:
        """Grow by congestion avoidance for some rounds that end now.

        `increase` is in segments per round; CUBIC ignores it.
        """
        if not self.cubic:
            self.size = max(self.size + increase * rounds, 1.0)
            return
        if self.epoch == NEVER:
            self.epoch = now - rounds * rtt
            self.plateau = max(self.plateau, self.size)
            self.inflection = ((self.plateau - self.size) / CUBIC_C) ** (1 / 3)
            self.friendly = self.size
        # RFC 9438, section 4.3: alpha is 1 above the window of the last loss.
        self.friendly += (CUBIC_ALPHA if self.friendly < self.prior else 1.0) * rounds
        since = now - self.epoch + rtt - self.inflection
        fastest = self.size * _power(1.5, max(rounds, 1.0))  # section 4.2, in each round
        target = min(CUBIC_C * since**3 + self.plateau, fastest)
        self.size = max(self.size, target, self.friendly)

    def lose(self, flight: float, share: float = CUBIC_BETA, least: float = 2.0) -> None:
        """Reduce the window at a loss, to `share` of the segments in flight."""
        if self.cubic:
            fast = self.size < self.plateau and self.prior > 0
            self.plateau = self.size * (1 + CUBIC_BETA) / 2 if fast else self.size
            self.prior = self.size
        self.size = max(flight * share, least)
        self.threshold = self.size
        self.epoch = NEVER
        self.between_losses = self.since_loss
        self.since_loss = 0.0

    def time_out(self) -> None:
        """Restart from one segment, with the threshold set by `lose`."""
        self.size = 1.0
        self.plateau = 0.0


def _power(base: float, exponent: float) -> float:
    """Return a power, or infinity on overflow.

    A time step may have many rounds: 1 ms has 10^6 of 1 ns.
    """
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def hystart_exit(rate: float, rtt: float, per_ack: float) -> float:
    """Return the window at which HyStart leaves slow start, in segments.

    The first of two signs: back-to-back acknowledgements for half a round trip, if they are less
    than 2 ms apart at the bottleneck's `rate`, in segments per second; or a delay an eighth above
    the smallest round trip `rtt`, in seconds.

    Examples
    --------
    >>> round(hystart_exit(1000, 0.1, 1)), round(hystart_exit(100, 0.1, 1))
    (50, 16)
    """
    if math.isinf(rate):
        return NEVER
    rise = min(max(rtt / 8, HYSTART_RISE[0]), HYSTART_RISE[1])
    found = rate * (rtt + rise)
    if per_ack / rate <= HYSTART_SPACING:
        found = min(found, rate * (rtt + 0.001) / 2)
    return max(found, MIN_HYSTART_WINDOW)
