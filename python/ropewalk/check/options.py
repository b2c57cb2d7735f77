"""TCP options: RFC 9293, 7323 (timestamps, window scale), 2018 (SACK), 8684 (MPTCP), TCP-DOOR."""

from dataclasses import dataclass

from . import mptcp_options

END, NOP, MSS, WINDOW_SCALE, SACK_PERMITTED, SACK, TIMESTAMPS, MPTCP = 0, 1, 2, 3, 4, 5, 8, 30
EXPERIMENT = 253
"""The kind of experiments' options (RFC 4727, 2.3); which one it is stands in the first two bytes
(RFC 6994, 3)."""
TCP_DOOR = b"RW"
NAMES = {
    MSS: "MSS",
    WINDOW_SCALE: "window scale",
    SACK_PERMITTED: "SACK permitted",
    SACK: "SACK",
    EXPERIMENT: "experiment",
    TIMESTAMPS: "timestamps",
}
LENGTHS = {MSS: 4, WINDOW_SCALE: 3, SACK_PERMITTED: 2, TIMESTAMPS: 10}
LARGEST_SCALE = 14


class OptionError(ValueError):
    """An option is unknown, or violates its RFC."""


@dataclass(slots=True)
class Options:
    """The options of one segment."""

    length: int = 0
    mss: int | None = None
    window_scale: int | None = None
    sack_permitted: bool = False
    sack: tuple[tuple[int, int], ...] = ()
    timestamps: tuple[int, int] | None = None
    """Value and echo."""
    transmission: int | None = None
    """TCP-DOOR's number of a data segment or of an acknowledgement (Wang and Zhang 2002)."""
    out_of_order: bool = False
    """TCP-DOOR's receiver reports that data segments were reordered."""
    mptcp: tuple[mptcp_options.Option, ...] = ()

    def of(self, kind: type[mptcp_options.AnyOption]) -> mptcp_options.AnyOption | None:
        """Return the MPTCP option of a kind, if there is one."""
        for option in self.mptcp:
            if isinstance(option, kind):
                return option
        return None


def parse(data: bytes) -> Options:
    """Parse the options of a segment.

    Raises
    ------
    OptionError
        If one is unknown, malformed or there twice, or the padding is not 0.
    """
    options = Options(length=len(data))
    mptcp: list[mptcp_options.Option] = []
    seen = set()
    at = 0
    while at < len(data):
        kind = data[at]
        if kind == END:
            if any(data[at:]):
                raise OptionError("padding after the end of the options is not 0")
            break
        if kind == NOP:
            at += 1
            continue
        length = data[at + 1] if at + 1 < len(data) else 0
        if length < 2 or at + length > len(data):
            left = len(data) - at
            raise OptionError(f"option {kind} of length {length} where {left} bytes are left")
        body = data[at + 2 : at + length]
        at += length
        if kind == MPTCP:
            try:
                mptcp.append(mptcp_options.parse(body))
            except mptcp_options.MptcpOptionError as error:
                raise OptionError(str(error)) from None
            continue
        if kind not in NAMES:
            raise OptionError(f"unknown option {kind}")
        if kind in seen:
            raise OptionError(f"{NAMES[kind]} twice")
        seen.add(kind)
        _plain(options, kind, body)
    kinds = [type(option) for option in mptcp]
    for twice in {kind.__name__ for kind in kinds if kinds.count(kind) > 1}:
        raise OptionError(f"{twice} twice")
    options.mptcp = tuple(mptcp)
    return options


def _plain(options: Options, kind: int, body: bytes) -> None:
    """Take an option that is not MPTCP's."""
    wanted = LENGTHS.get(kind)
    if wanted is not None and len(body) + 2 != wanted:
        raise OptionError(f"{NAMES[kind]} of length {len(body) + 2}, not {wanted}")
    if kind == MSS:
        options.mss = int.from_bytes(body, "big")
    elif kind == WINDOW_SCALE:
        if body[0] > LARGEST_SCALE:
            raise OptionError(f"window scale {body[0]} is more than {LARGEST_SCALE}")
        options.window_scale = body[0]
    elif kind == SACK_PERMITTED:
        options.sack_permitted = True
    elif kind == SACK:
        if len(body) % 8 or not body:
            raise OptionError(f"SACK of length {len(body) + 2}")
        edges = [int.from_bytes(body[at : at + 4], "big") for at in range(0, len(body), 4)]
        options.sack = tuple(zip(edges[::2], edges[1::2], strict=True))
    elif kind == TIMESTAMPS:
        options.timestamps = int.from_bytes(body[:4], "big"), int.from_bytes(body[4:], "big")
    elif kind == EXPERIMENT:
        _tcp_door(options, body)


def _tcp_door(options: Options, body: bytes) -> None:
    """Take the option of the one experiment that is known: a number and flags, or nothing."""
    if body[:2] != TCP_DOOR:
        raise OptionError(f"unknown experiment {body[:2].hex()}")
    if len(body) not in (2, 6):
        raise OptionError(f"transmission number of length {len(body) + 2}, neither 4 nor 8")
    flags = 1
    if len(body) > 2:
        options.transmission = int.from_bytes(body[2:4], "big")
        flags = int.from_bytes(body[4:], "big")
    if flags > 1:
        raise OptionError(f"flags {flags:#06x} of a transmission number")
    options.out_of_order = flags == 1
