"""TCP options: RFC 9293, 7323 (timestamps, window scale), 2018 (SACK), 8684 (MPTCP)."""

from dataclasses import dataclass

import mptcp_options

END, NOP, MSS, WINDOW_SCALE, SACK_PERMITTED, SACK, TIMESTAMPS, MPTCP = 0, 1, 2, 3, 4, 5, 8, 30
NAMES = {
    MSS: "MSS",
    WINDOW_SCALE: "window scale",
    SACK_PERMITTED: "SACK permitted",
    SACK: "SACK",
    TIMESTAMPS: "timestamps",
}
LENGTHS = {MSS: 4, WINDOW_SCALE: 3, SACK_PERMITTED: 2, TIMESTAMPS: 10}
LARGEST_SCALE = 14


class OptionError(ValueError):
    """An option is unknown, or is not as its RFC writes it."""


@dataclass(slots=True)
class Options:
    """What the options of one segment say."""

    length: int = 0
    mss: int | None = None
    window_scale: int | None = None
    sack_permitted: bool = False
    sack: tuple[tuple[int, int], ...] = ()
    timestamps: tuple[int, int] | None = None
    """Value and echo."""
    mptcp: tuple[mptcp_options.Option, ...] = ()

    def of(self, kind: type[mptcp_options.AnyOption]) -> mptcp_options.AnyOption | None:
        """Return the MPTCP option of a kind, if there is one."""
        for option in self.mptcp:
            if isinstance(option, kind):
                return option
        return None


def parse(data: bytes) -> Options:
    """Return what a segment's options say.

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
