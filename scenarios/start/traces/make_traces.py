"""Make the four traces beside this file; the same ones every time.

Each is 20 s long: a line for each chance to send 1500 bytes, with its time in
milliseconds (mahimahi's format). The rate follows slow waves of incommensurate
periods, all of which are shorter than the trace, and fast fading from a small
generator of its own, so that the files depend on nothing but this script.
"""

import math
from pathlib import Path

LENGTH_MS = 20_000
PACKET_BITS = 12_000

# Name: mean rate in Mbit/s, depth of the slow waves and of the fading (0..1), periods in s.
TRACES = {
    "wifi.down": (3.0, 0.7, 0.3, (20.0, 6.7)),
    "wifi.up": (1.5, 0.7, 0.3, (20.0, 6.7)),
    "lte.down": (15.0, 0.5, 0.6, (10.0, 4.0, 2.5)),
    "lte.up": (5.0, 0.5, 0.6, (10.0, 4.0, 2.5)),
}


def fading(seed):
    """Yield numbers in -1..1 that wander: a generator of Park and Miller's, smoothed."""
    state, level = seed, 0.0
    while True:
        state = state * 48_271 % 2_147_483_647
        level += 0.02 * (2.0 * state / 2_147_483_647 - 1.0 - 0.1 * level)
        yield max(-1.0, min(1.0, 4.0 * level))


def chances(mean_mbps, slow, fast, periods, seed):
    """Yield the time of each chance to send, in milliseconds."""
    credit_bits = 0.0
    for ms, fade in zip(range(LENGTH_MS), fading(seed), strict=False):
        waves = sum(math.cos(2 * math.pi * ms / 1000 / period) for period in periods)
        rate = mean_mbps * max(0.0, 1.0 + slow * waves / len(periods) + fast * fade)
        credit_bits += rate * 1000
        while credit_bits >= PACKET_BITS:
            credit_bits -= PACKET_BITS
            yield ms
    yield LENGTH_MS  # where the trace starts again


if __name__ == "__main__":
    folder = Path(__file__).parent
    for number, (name, (mean, slow, fast, periods)) in enumerate(TRACES.items(), start=1):
        lines = [f"{ms}\n" for ms in chances(mean, slow, fast, periods, seed=number)]
        (folder / name).write_text("".join(lines))
        print(f"{name}: {len(lines) * PACKET_BITS / LENGTH_MS / 1000:.2f} Mbit/s")
