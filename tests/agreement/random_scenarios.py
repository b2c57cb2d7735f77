"""Random scenarios: links with the faults of radios, satellites, lines and cross traffic.

A random scenario has two to eight links, drawn from its seed. Its kind is the fault of at least
one link, and of about half of the others. Rates are 1.6 to 160 Mbit/s and round trips 3 to 560 ms,
both uniform on a logarithmic scale.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import ropewalk
from ropewalk.scenario import Value, toml_value
from ropewalk.scenario.toml_syntax import toml_entry

PACKET_BITS = 12_000
MAX_PACKETS = 150_000
"""Largest capacity of all links in a run; a larger one shortens the run."""
MIN_ROUND_TRIPS = 15
"""Shortest run in the longest round trips, and in seconds."""
MIN_S = 6.0

Keys = dict[str, Value]


@dataclass(frozen=True)
class Link:
    """One link: keys of each direction, and common keys."""

    name: str
    forward: Keys
    reverse: Keys
    rate_mbps: float
    round_trip_s: float
    down: tuple[tuple[float, float], ...] = ()

    def mirrored(self) -> "Link":
        return replace(self, forward=self.reverse, reverse=self.forward)

    def toml(self) -> Iterator[str]:
        yield f'\n[[link]]\nname = "{self.name}"'
        yield from (f"{key} = {toml_entry(value)}" for key, value in self.forward.items())
        other = {k: value for k, value in self.reverse.items() if self.forward.get(k) != value}
        if other:
            yield f"reverse = {toml_value(other)}"
        if self.down:
            spans = [[f"{start:.3f} s", f"{end:.3f} s"] for start, end in self.down]
            yield f"down = {toml_value(spans)}"


@dataclass(frozen=True)
class RandomScenario:
    """Links, cross traffic, and duration."""

    seed: int
    kind: str
    links: tuple[Link, ...]
    duration_s: float
    crossing: tuple[Keys, ...] = ()
    traces: dict[str, str] = field(default_factory=dict)

    @property
    def is_random(self) -> bool:
        """Whether packets are lost, delayed or held at random, so that seeds differ."""
        ways = [way for link in self.links for way in (link.forward, link.reverse)]
        steady = {"jitter": "0 ms", "slot": "0 ms", "loss": "0 %"}
        return any(way[key] != value for way in ways for key, value in steady.items())

    def mirrored(self) -> "RandomScenario":
        """Return the scenario with data in the other direction."""
        return replace(self, links=tuple(link.mirrored() for link in self.links))

    def scenario(self, **transport: Value) -> ropewalk.Scenario:
        """Return the scenario with one flow."""
        return self._scenario([("[transport]", transport)])

    def scenario_of(self, flows: Sequence[Keys]) -> ropewalk.Scenario:
        """Return the scenario with these flows."""
        return self._scenario([("[[flow]]", flow) for flow in flows])

    def _scenario(self, tables: Sequence[tuple[str, Keys]]) -> ropewalk.Scenario:
        lines = [
            f'title = "Random scenario {self.seed}: {self.kind}"',
            f'duration = "{self.duration_s:.1f} s"',
            f'warmup = "{self.duration_s / 4:.2f} s"',
        ]
        for link in self.links:
            lines += link.toml()
        for heading, keys in (*tables, *(("[[competitor]]", keys) for keys in self.crossing)):
            lines += ["", heading]
            lines += [f"{key} = {toml_entry(value)}" for key, value in keys.items()]
        text = "\n".join(lines) + "\n"
        return ropewalk.Scenario(text, name=f"random scenario {self.seed}", files=self.traces)


def random_scenario(seed: int, traces: Sequence[Path] = ()) -> RandomScenario:
    """Return the random scenario of a seed; kinds take turns.

    Links of kind trace take the files `traces`, in mahimahi's format, instead of made-up ones. A
    file with suffix `.up` next to one with `.down` is used for the reverse direction.
    """
    kind = KINDS[seed % len(KINDS)]
    draw = random.Random(seed)
    count = draw.choice((2, 2, 2, 3, 3, 4, 5, 6, 7, 8))
    marked = draw.randrange(count)
    has = [number == marked or draw.random() < 0.5 for number in range(count)]
    links = [
        (_satellite if here and kind == "satellite" else _line)(draw, f"l{number + 1}")
        for number, here in enumerate(has)
    ]
    duration = _duration(links)
    making = _Making(draw, duration, tuple(traces))
    for number, here in enumerate(has):
        if kind == "mixed":
            of_link = draw.sample([*CHANGES], draw.choice((0, 1, 1, 2)))
        else:
            of_link = [kind] if here and kind in CHANGES else []
        for change in of_link:
            links[number] = CHANGES[change](making, links[number])
    return RandomScenario(
        seed, kind, tuple(links), duration, tuple(making.crossing), making.traces
    )


def _line(draw: random.Random, name: str) -> Link:
    """Return a link with constant properties."""
    return _steady(draw, name, _log(draw, 1.6, 160), _log(draw, 0.003, 0.560))


def _steady(draw: random.Random, name: str, rate: float, round_trip: float) -> Link:
    # From half the link's need to a bloated buffer, and at least as large as in devices.
    longest_s = max(_log(draw, 0.5, 4) * round_trip, draw.uniform(0.01, 0.06))
    queue = max(10, round(rate * 1e6 * longest_s / PACKET_BITS))
    way: Keys = {
        "rate": f"{rate:.3g} Mbit/s",
        "delay": f"{round_trip * 500:.4g} ms",
        "jitter": "0 ms",
        "slot": "0 ms",
        "loss": "0 %",
        "queue": f"{queue} packets",
    }
    return Link(name, way, dict(way), rate, round_trip)


def _satellite(draw: random.Random, name: str) -> Link:
    """Return a geostationary link, or a low orbit with a handover every 15 s."""
    if draw.random() < 0.5:
        return _steady(draw, name, _log(draw, 5, 100), draw.uniform(0.48, 0.56))
    low = _steady(draw, name, _log(draw, 20, 160), draw.uniform(0.025, 0.06))
    jitter = {"jitter": f"{low.round_trip_s * 500 * draw.uniform(0.1, 0.5):.4g} ms"}
    first, dark = draw.uniform(1, 8), draw.uniform(0.05, 0.15)
    return replace(
        low,
        forward=low.forward | jitter,
        reverse=low.reverse | jitter,
        down=((first, first + dark), (first + 15, first + 15 + dark)),
    )


class _Making:
    """Random numbers for changes of links, and files that they add."""

    def __init__(self, draw: random.Random, duration_s: float, files: tuple[Path, ...]) -> None:
        self.draw = draw
        self.duration_s = duration_s
        self.files = files
        self.crossing: list[Keys] = []
        self.traces: dict[str, str] = {}

    def trace(self, name: str, chances: Iterable[int]) -> Keys:
        """Store a trace, and return the key of a direction that uses it."""
        self.traces[name] = "".join(f"{ms}\n" for ms in chances)
        return {"trace": name}


def _jitter(making: _Making, link: Link) -> Link:
    draw = making.draw
    amount = link.round_trip_s * 500 * draw.uniform(0.1, 0.9)
    jitter: Keys = {"jitter": f"{amount:.4g} ms"}
    if draw.random() < 0.2:
        jitter = {"jitter": {"amount": f"{amount:.4g} ms", "reorder": True}}
    return _both(link, jitter)


def _bursts(making: _Making, link: Link) -> Link:
    most = _log(making.draw, 10, 100)
    least = most * making.draw.uniform(0.1, 1)
    return _both(link, {"slot": {"most": f"{most:.4g} ms", "least": f"{least:.4g} ms"}})


def _loss(making: _Making, link: Link) -> Link:
    return _both(link, {"loss": f"{_log(making.draw, 0.01, 3):.3g} %"})


def _bursty_loss(making: _Making, link: Link) -> Link:
    lost, length = _log(making.draw, 0.0005, 0.03), making.draw.uniform(2, 20)
    # The bad state loses all packets, and holds for p / (p + r) of them.
    r = 1 / length
    p = r * lost / (1 - lost)
    bursts = {"model": "gilbert-elliott", "p": f"{100 * p:.4f} %", "r": f"{100 * r:.2f} %"}
    return _both(link, {"loss": bursts})


def _slow_return(making: _Making, link: Link) -> Link:
    slow = max(link.rate_mbps / _log(making.draw, 5, 40), 0.1)
    queue = max(10, round(slow * 1e6 * making.draw.uniform(0.02, 0.2) / PACKET_BITS))
    # Replaces a trace.
    rest = {key: value for key, value in link.reverse.items() if key != "trace"}
    slower: Keys = {"rate": f"{slow:.3g} Mbit/s", "queue": f"{queue} packets"}
    return replace(link, reverse=rest | slower)


def _cross_traffic(making: _Making, link: Link) -> Link:
    draw = making.draw
    for _ in range(draw.choice((1, 1, 2, 3))):
        crossing: Keys = {
            "name": f"crossing-{len(making.crossing) + 1}",
            "protocol": "tcp",
            "congestion": "cubic",
            "path": link.name,
            "start": f"{draw.uniform(0, making.duration_s * 0.7):.2f} s",
        }
        if draw.random() < 0.6:
            # Size of a transfer that takes half of the link for this time.
            spell = draw.uniform(0.1, 0.5) * making.duration_s
            crossing["size"] = f"{max(1, round(link.rate_mbps * spell / 16 * 1000))} kB"
        making.crossing.append(crossing)
    return link


def _tenfold(making: _Making, link: Link) -> Link:
    """Let the rate fall to a tenth and recover."""
    draw = making.draw

    def rates() -> Iterator[float]:
        fast = draw.random() < 0.5
        while True:
            for _ in range(round(_log(draw, 0.3, 5) * 1000)):
                yield link.rate_mbps * (1 if fast else 0.1)
            fast = not fast

    return _traced(making, link, [rates(), rates()])


def _trace(making: _Making, link: Link) -> Link:
    """Use a measured trace, or a made-up one: a rate that wanders, with fades to zero."""
    draw = making.draw
    if making.files:
        forward = draw.choice(making.files)
        reverse = forward.with_suffix(".up")
        if forward.suffix != ".down" or not reverse.exists():
            reverse = forward
        for file in (forward, reverse):
            making.traces[str(file.resolve())] = file.read_text()
        return _with_traces(link, *({"trace": str(f.resolve())} for f in (forward, reverse)))

    def rates() -> Iterator[float]:
        level = draw.gauss(0, 0.6)
        while True:
            # A standard deviation of 0.6 in the logarithm, with a correlation time of half a
            # second.
            level = 0.96 * level + 0.28 * 0.6 * draw.gauss(0, 1)
            rate = link.rate_mbps * math.exp(level)
            step = 20
            if draw.random() < 0.004:
                rate, step = 0.0, draw.randint(60, 500)
            for _ in range(step):
                yield rate

    return _traced(making, link, [rates(), rates()])


def _outage(making: _Making, link: Link) -> Link:
    draw = making.draw
    spans, begin = [], 0.0
    for _ in range(draw.choice((1, 1, 2, 3))):
        begin += draw.uniform(0.5, making.duration_s / 2)
        end = begin + _log(draw, 0.1, 5)
        spans.append((begin, end))
        begin = end
    return replace(link, down=tuple(spans))


def _traced(making: _Making, link: Link, ways: Sequence[Iterator[float]]) -> Link:
    """Return the link with a trace for each direction: rates in Mbit/s per millisecond."""
    length = math.ceil(making.duration_s * 1000)
    names = (f"{link.name}.down.trace", f"{link.name}.up.trace")
    keys = [
        making.trace(name, _chances(rates, length))
        for name, rates in zip(names, ways, strict=True)
    ]
    return _with_traces(link, *keys)


def _with_traces(link: Link, forward: Keys, reverse: Keys) -> Link:
    ways = []
    for way, key in ((link.forward, forward), (link.reverse, reverse)):
        rest = {name: value for name, value in way.items() if name not in ("rate", "trace")}
        ways.append(key | rest)
    return replace(link, forward=ways[0], reverse=ways[1])


def _chances(rates: Iterator[float], length_ms: int) -> Iterator[int]:
    """Yield the time of each sending opportunity, in milliseconds."""
    credit = 0.0
    for ms, rate in zip(range(length_ms), rates, strict=False):
        credit += rate * 1000
        while credit >= PACKET_BITS:
            credit -= PACKET_BITS
            yield ms
    yield length_ms  # period of the trace


CHANGES = {
    "jitter": _jitter,
    "bursts": _bursts,
    "loss": _loss,
    "loss in bursts": _bursty_loss,
    "slow way back": _slow_return,
    "cross traffic": _cross_traffic,
    "tenfold": _tenfold,
    "trace": _trace,
    "outage": _outage,
}
KINDS = ("steady", *CHANGES, "satellite", "mixed")


def _both(link: Link, keys: Keys) -> Link:
    return replace(link, forward=link.forward | keys, reverse=link.reverse | keys)


def _duration(links: Sequence[Link]) -> float:
    """Return 10 to 20 s, by the longest round trip, or less with too many packets."""
    longest = max(link.round_trip_s for link in links)
    wanted = 10 + 10 * longest / 0.56
    affordable = MAX_PACKETS * PACKET_BITS / (sum(link.rate_mbps for link in links) * 1e6)
    return round(min(wanted, max(affordable, MIN_S, MIN_ROUND_TRIPS * longest)), 1)


def _log(draw: random.Random, least: float, most: float) -> float:
    return math.exp(draw.uniform(math.log(least), math.log(most)))
