"""Correct connections, packet by packet, for synthetic captures.

Tests find packets by their names to change them.
"""

import struct
from collections.abc import Iterable
from typing import Any

from ropewalk.analysis.check import keys
from ropewalk.analysis.check.checksum import checksum, word_sum

Packet = dict[str, Any]
CLIENT, SERVER = 0, 1
KEYS = bytes.fromhex("91aa20128dac826f"), bytes.fromhex("46fe363d617f8852")
WRAPPING_KEY = bytes.fromhex("00000000008c7d7c")
"""Data sequence numbers with this key start 390 below a multiple of 2^32."""
NONCES = bytes.fromhex("96d60b8d"), bytes.fromhex("bbeb4c2b")
MILLISECOND = 10**6
SCALE = 7
SHORT = 160
"""Bytes of a segment."""


def payload(start: int, length: int) -> bytes:
    """Return the bytes of the pattern at an offset, a multiple of 8."""
    return b"".join(struct.pack("!Q", at) for at in range(start, start + length, 8))[:length]


class Path:
    """Sequence numbers of a subflow; of client and server."""

    def __init__(self, addresses: tuple[str, str], port: int, isns: tuple[int, int]) -> None:
        self.ends = ((addresses[0], port), (addresses[1], 5001))
        self.isns = isns
        self.next = [0, 0]
        """Next number to send, relative to the SYN."""
        self.got = [0, 0]
        """In-order data received from the other side."""
        self.echo = [0, 0]


class Talk:
    """A conversation as captured at one of its ends."""

    def __init__(self, at: int = CLIENT, window: int = 512) -> None:
        self.packets: list[Packet] = []
        self._at = at
        self._time = 0
        self._window = window

    def say(
        self,
        name: str,
        path: Path,
        side: int,
        flags: str = "A",
        data: bytes = b"",
        options: Iterable[tuple[Any, ...]] = (),
        *,
        again: int | None = None,
        acks: int | None = None,
        lost: bool = False,
        **more: Any,
    ) -> None:
        """Send a packet: new data, or a retransmission from a relative number; possibly lost.

        `acks` changes the received data that the sender acknowledges from now on.
        """
        self._time += 1
        if acks is not None:
            path.got[side] = acks
        relative = path.next[side] if again is None else again
        value = (1 << 32) - 5 + self._time * 10
        fields: Packet = {
            "name": name,
            "time": self._time * MILLISECOND,
            "source": path.ends[side],
            "destination": path.ends[1 - side],
            "inbound": side != self._at,
            "seq": path.isns[side] + relative,
            "flags": flags,
            "window": min(self._window << SCALE, 0xFFFF) if "S" in flags else self._window,
            "payload": data,
            "options": [("timestamps", (value % (1 << 32), path.echo[side])), *options],
            **more,
        }
        if "A" in flags:
            fields["ack"] = path.isns[1 - side] + path.got[side]
        end = relative + len(data) + ("S" in flags) + ("F" in flags)
        path.next[side] = max(path.next[side], end)
        if not lost:
            path.echo[1 - side] = value % (1 << 32)
            if path.got[1 - side] == relative:
                path.got[1 - side] = end
        if not lost or side == self._at:
            self.packets.append(fields)


SYN_OPTIONS = [("mss", 1460), ("sack_permitted",), ("scale", SCALE)]


def plain_tcp(
    at: int = CLIENT,
    addresses: tuple[str, str] = ("10.0.1.1", "10.0.9.1"),
    isns: tuple[int, int] = (1000, 2000),
) -> list[Packet]:
    """Six segments, the second one lost and retransmitted twice; then the close."""
    talk, path = Talk(at), Path(addresses, 40000, isns)
    talk.say("syn", path, CLIENT, "S", options=SYN_OPTIONS)
    talk.say("synack", path, SERVER, "SA", options=SYN_OPTIONS)
    talk.say("ack", path, CLIENT)
    for number in range(4):
        data = payload(SHORT * number, SHORT)
        talk.say(f"data {number}", path, CLIENT, "PA", data, lost=number == 1)
    base, second, third = isns[0] + 1, isns[0] + 1 + 2 * SHORT, isns[0] + 1 + 3 * SHORT
    talk.say("ack 0", path, SERVER, acks=1 + SHORT)
    talk.say("sack 2", path, SERVER, options=[("sack", [(second, third)])])
    talk.say("sack 3", path, SERVER, options=[("sack", [(second, third + SHORT)])])
    talk.say("data 1 again", path, CLIENT, "PA", payload(SHORT, SHORT), again=1 + SHORT)
    talk.say("ack 3", path, SERVER, acks=1 + 4 * SHORT)
    talk.say("data 0 again", path, CLIENT, "PA", payload(0, SHORT), again=1)
    talk.say("dsack", path, SERVER, options=[("sack", [(base, base + SHORT)])])
    talk.say("data 4", path, CLIENT, "PA", payload(4 * SHORT, SHORT))
    talk.say("ack 4", path, SERVER)
    talk.say("fin", path, CLIENT, "FA")
    talk.say("server fin", path, SERVER, "FA")
    talk.say("last ack", path, CLIENT)
    return talk.packets


class Multipath:
    """Keys and sequence numbers of an MPTCP connection."""

    def __init__(self, client_key: bytes = KEYS[0], with_checksum: bool = False) -> None:
        self.keys = client_key, KEYS[1]
        self.flags = 0x81 if with_checksum else 1
        self._with_checksum = with_checksum
        self._first = [(keys.initial_number(key) + 1) % (1 << 64) for key in self.keys]

    def data_ack(self, side: int, offset: int, wide: bool = False) -> dict[str, Any]:
        """Return the part of a DSS that acknowledges the other side's data."""
        return {"ack": self._first[1 - side] + offset, "wide_ack": wide}

    def mapping(
        self,
        side: int,
        offset: int,
        subflow: int,
        data: bytes = b"",
        *,
        wide: bool = False,
        fin: bool = False,
    ) -> dict[str, Any]:
        """Return the part of a DSS that maps data, or a DATA_FIN, or both."""
        number, length = self._first[side] + offset, len(data) + fin
        found = {"number": number, "subflow": subflow, "length": length, "wide": wide, "fin": fin}
        return found | self._sum(number, subflow, length, data)

    def first_data(self, data: bytes) -> dict[str, Any]:
        """Return the MP_CAPABLE that comes with the first data."""
        found = {"flags": self.flags, "own": self.keys[0], "peer": self.keys[1]}
        found |= {"length": len(data)}
        return found | self._sum(self._first[0], 1, len(data), data)

    def _sum(self, number: int, subflow: int, length: int, data: bytes) -> dict[str, Any]:
        if not self._with_checksum:
            return {}
        header = struct.pack("!QIH", number % (1 << 64), subflow, length)
        return {"checksum": checksum(word_sum(header) + word_sum(data))}


HOSTS = {
    4: ("10.0.1.1", "10.0.2.1", "10.0.9.1"),
    6: ("2001:db8:1::1", "2001:db8:2::1", "2001:db8:9::1"),
}


def mptcp(
    at: int = CLIENT,
    client_key: bytes = KEYS[0],
    *,
    version: int = 4,
    with_checksum: bool = False,
    isns: tuple[int, int] = (1000, 2000),
) -> list[Packet]:
    """Two subflows; data lost on the first arrive on the second; both sides close."""
    hosts = HOSTS[version]
    first = Path((hosts[0], hosts[2]), 40000, isns)
    second = Path((hosts[1], hosts[2]), 40000, (isns[0] + 77, isns[1] + 99))
    mp = Multipath(client_key, with_checksum)
    talk = Talk(at)
    _open(talk, mp, first)
    _join(talk, mp, second)

    def dss(name: str, path: Path, side: int, *parts: dict[str, Any], **more: Any) -> None:
        value: dict[str, Any] = {}
        for part in parts:
            value |= part
        talk.say(name, path, side, options=[("dss", value)], **more)

    def data(name: str, path: Path, offset: int, *, wide: bool = False, **more: Any) -> None:
        content = payload(offset, SHORT)
        start = more.get("again", path.next[CLIENT])
        mapping = mp.mapping(CLIENT, offset, start, content, wide=wide)
        dss(name, path, CLIENT, mp.data_ack(CLIENT, 0), mapping, data=content, **more)

    data("one", first, SHORT, lost=True)
    data("two", second, 2 * SHORT)
    dss("ack two", second, SERVER, mp.data_ack(SERVER, SHORT))
    data("one by second", second, SHORT)
    dss("ack one", second, SERVER, mp.data_ack(SERVER, 3 * SHORT))
    data("one again", first, SHORT, again=1 + SHORT)
    dss("ack one on first", first, SERVER, mp.data_ack(SERVER, 3 * SHORT))
    data("three", first, 3 * SHORT, wide=True)
    dss("ack three", first, SERVER, mp.data_ack(SERVER, 4 * SHORT, wide=True))
    last, end = payload(4 * SHORT, SHORT), 5 * SHORT
    mapping = mp.mapping(CLIENT, 4 * SHORT, second.next[CLIENT], last, wide=True, fin=True)
    dss("data fin", second, CLIENT, mp.data_ack(CLIENT, 0), mapping, data=last)
    fin = mp.mapping(SERVER, 0, 0, fin=True)
    dss("server data fin", second, SERVER, mp.data_ack(SERVER, end + 1, wide=True), fin)
    dss("ack server data fin", second, CLIENT, mp.data_ack(CLIENT, 1))
    for number, path in enumerate((first, second)):
        talk.say(f"fin {number}", path, CLIENT, "FA")
        talk.say(f"server fin {number}", path, SERVER, "FA")
        talk.say(f"last ack {number}", path, CLIENT)
    return talk.packets


def _open(talk: Talk, mp: Multipath, path: Path) -> None:
    """MP_CAPABLE, and the first data with it."""
    capable = {"flags": mp.flags}
    talk.say("syn", path, CLIENT, "S", options=[*SYN_OPTIONS, ("capable", capable)])
    options = [*SYN_OPTIONS, ("capable", capable | {"own": mp.keys[1]})]
    talk.say("synack", path, SERVER, "SA", options=options)
    both = capable | {"own": mp.keys[0], "peer": mp.keys[1]}
    talk.say("ack", path, CLIENT, options=[("capable", both)])
    talk.say("fourth", path, SERVER, options=[("dss", mp.data_ack(SERVER, 0))])
    data = payload(0, SHORT)
    talk.say("zero", path, CLIENT, "PA", data, options=[("capable", mp.first_data(data))])
    talk.say("ack zero", path, SERVER, options=[("dss", mp.data_ack(SERVER, SHORT))])


def _join(talk: Talk, mp: Multipath, path: Path) -> None:
    """MP_JOIN on a second subflow."""
    client_key, server_key = mp.keys
    syn = {"id": 1, "token": keys.token(server_key), "nonce": NONCES[CLIENT]}
    talk.say("join syn", path, CLIENT, "S", options=[*SYN_OPTIONS, ("join", syn)])
    proof = keys.join_hmac(server_key, client_key, NONCES[SERVER], NONCES[CLIENT])[:8]
    synack = {"id": 0, "hmac": proof, "nonce": NONCES[SERVER]}
    talk.say("join synack", path, SERVER, "SA", options=[*SYN_OPTIONS[1:], ("join", synack)])
    proof = keys.join_hmac(client_key, server_key, NONCES[CLIENT], NONCES[SERVER])[:20]
    talk.say("join ack", path, CLIENT, options=[("join", {"hmac": proof})])
    talk.say("join fourth", path, SERVER)


def encapsulated(packets: list[Packet], version: int = 4) -> list[Packet]:
    """Return the packets inside UDP, alternating between two interfaces."""
    ends = [("192.0.2.%d", "192.0.2.99"), ("2001:db8:f::%d", "2001:db8:f::99")][version == 6]
    found = []
    for number, packet in enumerate(packets):
        outer = ((ends[0] % (1 + number % 2), 6000), (ends[1], 6000))
        client = packet["source"][1] != 5001
        source, destination = outer if client else outer[::-1]
        fields = {"source": source, "destination": destination}
        found.append(packet | {"outer": fields, "interface": number % 2})
    return found
