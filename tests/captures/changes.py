"""Changes that break a good conversation, and checks of the result."""

from pathlib import Path
from typing import Any

from builder import pcapng
from conversations import SHORT, Packet, payload
from ropewalk.analysis import check
from ropewalk.analysis.check.result import Report


def checked(folder: Path, packets: list[Packet], **arguments: Any) -> Report:
    path = folder / "made.pcapng"
    path.write_bytes(pcapng(packets, ["dsl", "lte"]))
    return check.capture(path, **{"pattern": True} | arguments)


def said(packets: list[Packet], expected: str, folder: Path, **arguments: Any) -> None:
    """Assert that an exact capture has a violation with these words."""
    arguments = {"exact": True} | arguments
    violations = checked(folder, packets, **arguments).violations
    assert any(expected in str(each) for each in violations), [*map(str, violations)]


def notes(report: Report) -> str:
    return "\n".join(map(str, report.notes))


def named(packets: list[Packet], name: str) -> Packet:
    (packet,) = (packet for packet in packets if packet["name"] == name)
    return packet


def wrong(packets: list[Packet], name: str, **fields: Any) -> list[Packet]:
    changed = named(packets, name) | fields
    return [changed if packet["name"] == name else packet for packet in packets]


def moved(packets: list[Packet], name: str, **steps: int) -> list[Packet]:
    """Change numbers of a packet by these steps."""
    packet = named(packets, name)
    return wrong(packets, name, **{key: packet[key] + step for key, step in steps.items()})


def added(packets: list[Packet], name: str, *option: Any) -> list[Packet]:
    return wrong(packets, name, options=[*named(packets, name)["options"], option])


def unoptioned(packets: list[Packet], name: str, kind: str) -> list[Packet]:
    options = [entry for entry in named(packets, name)["options"] if entry[0] != kind]
    return wrong(packets, name, options=options)


def optioned(packets: list[Packet], name: str, kind: str, value: Any) -> list[Packet]:
    """Change the value of a packet's option, or some of its fields."""
    (old,) = (entry[1:] for entry in named(packets, name)["options"] if entry[0] == kind)
    if isinstance(value, dict):
        value = old[0] | value
    return added(unoptioned(packets, name, kind), name, kind, value)


def stepped(packets: list[Packet], name: str, **steps: int) -> list[Packet]:
    """Change numbers in the DSS of a packet by these steps."""
    (dss,) = (entry[1] for entry in named(packets, name)["options"] if entry[0] == "dss")
    changed = {key: dss[key] + step for key, step in steps.items()}
    return optioned(packets, name, "dss", changed)


def filled(packets: list[Packet], name: str, offset: int) -> list[Packet]:
    """Give a packet the payload of another offset."""
    return wrong(packets, name, payload=payload(offset, SHORT))


def without(packets: list[Packet], *names: str) -> list[Packet]:
    return [packet for packet in packets if packet["name"] not in names]


def again(packets: list[Packet], name: str, **fields: Any) -> list[Packet]:
    """Send a packet twice in a row, the second time with other fields."""
    found = []
    for packet in packets:
        found.append(packet)
        if packet["name"] == name:
            found.append(packet | {"name": f"{name} twice"} | fields)
    return found


def early(packets: list[Packet], name: str, before: str) -> list[Packet]:
    """Send a packet before another, at the same time."""
    time = named(packets, before)["time"]
    found = []
    for packet in without(packets, name):
        if packet["name"] == before:
            found.append(named(packets, name) | {"time": time})
        found.append(packet)
    return found
