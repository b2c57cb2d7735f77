"""Training runs of a profile-optimised build, similar to real use.

    PYTHONPATH=FOLDER python packaging/train.py

The folder has an unpacked wheel with instrumentation. Short runs cover each protocol and profile,
over lossy, varying and shared links; packaging/wheel.sh calls this.
"""

from pathlib import Path

from ropewalk import _core

SCENARIOS = Path(__file__).parents[1] / "scenarios"

MANY = """
[[link]]
name = "link"
rate = "1 Gbit/s"
delay = "5 ms"

[transport]
protocol = "tcp"

[[competitor]]
path = "link"
count = 99
"""

LINKS = """
[[link]]
name = "fast"
rate = "100 Mbit/s"
delay = "10 ms"
queue = "100 packets"

[[link]]
name = "slow"
rate = "50 Mbit/s"
delay = "30 ms"
queue = "100 packets"
"""

PROTOCOLS = [
    'protocol = "tcp"',
    'protocol = "tcp"\nprofile = "ns-3"',
    'protocol = "tcp"\nprofile = "rfc"',
    'protocol = "mptcp"',
    'protocol = "mptcp"\ncongestion = "lia"',
    'protocol = "mptcp"\ncongestion = "olia"\nscheduler = "blest"',
    'protocol = "striped-tcp"',
    'protocol = "striped-tcp"\ndevice = "tunnel"',
    'protocol = "aggregation"',
]


def run(text: str, name: str, folder: Path, overrides: list[tuple[str, str]]) -> None:
    """Simulate a scenario with two seeds."""

    def read(file: str) -> str:
        return (folder / file).read_text()

    scenario = _core.Scenario(text, name, overrides, read)
    _core.simulate(scenario, [1, 2], threads=1)


def main() -> None:
    """Run all scenarios; takes less than a minute with instrumentation."""
    for number, protocol in enumerate(PROTOCOLS):
        one_link = LINKS.split("\n\n", maxsplit=1)[0] if '"tcp"' in protocol else LINKS
        text = f"{one_link}\n[transport]\n{protocol}\n"
        run(text, f"links {number}", SCENARIOS, [("duration", "20 s")])
        lossy = [("duration", "10 s"), ("link.fast.loss", "0.5 %")]
        run(text, f"lossy links {number}", SCENARIOS, lossy)
    run(MANY, "many", SCENARIOS, [("duration", "3 s")])
    for file in sorted((SCENARIOS / "start").glob("*.toml")):
        run(file.read_text(), file.name, file.parent, [("duration", "10 s")])


if __name__ == "__main__":
    main()
