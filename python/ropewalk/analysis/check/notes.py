"""Notes: traits of a capture and habits of hosts that break no rule."""

from dataclasses import dataclass
from enum import Enum

from ...support.plurals import count_noun

NOUNS = (
    "byte",
    "checksum",
    "connection",
    "finding",
    "fragment",
    "option",
    "packet",
    "segment",
    "time",
    "timestamp",
)


class Kind(Enum):
    """Kind of note: a sentence with a counted noun, optionally a detail."""

    ABOVE_MSS = "{segments} above the MSS: a network device joins or cuts them (GRO, TSO)"
    CHECKSUM_LEFT = "{checksums} left to the network device"
    CHECKSUM_SENDER = "{checksums} wrong, on most packets of {detail}: left to its device"
    ANONYMISED = (
        "{checksums} wrong, by the same amount on all packets of {detail}: a tool has"
        " changed addresses"
    )
    PAYLOAD_CHANGED = (
        "{checksums} wrong, on most segments with data of {detail}: a tool has changed payloads"
    )
    TRAILING = "{packets} with bytes behind the IP packet"
    ZERO_LENGTH = "{packets} with an IP length of 0: a network device cuts them (TSO, BIG TCP)"
    SNAPPED = "{packets} captured in part"
    NOT_CAPTURED = "acknowledged but not captured: {segments} of {detail}"
    DATA_NOT_CAPTURED = "acknowledged but not captured: {bytes} of MPTCP data of {detail}"
    ECHOED = "echoed but not captured: {timestamps} of {detail}"
    LEFT_OUT = "sent but not captured: {segments} of {detail}"
    DROPPED = "{packets} lost by the capturing program, as the file says"
    CUT_SHORT = "{packets} cut short at the end: the capturing program was stopped"
    FRAGMENTS = "{fragments} of IP without the others of their packet"
    TIME_BACK = "the clock goes back {times}: the order of packets proves nothing"
    BOTH_WAYS = "{packets} of {detail} sent and received alike: directions prove nothing"
    DUPLICATE = "{packets} captured twice"
    ONE_DIRECTION = "{connections} captured in one direction only"
    MIDWAY = "{connections} open before the capture began"
    OPEN_END = "{connections} still open where the capture ends"
    WINDOW_SHRINKS = "a window shrinks {times}, which hosts should avoid (RFC 9293, 3.8.6)"
    SUBFLOW_WINDOW = (
        "{segments} with data in the window of the subflow, beyond that of the connection, which"
        " RFC 8684, 3.3.4, forbids: as Linux does"
    )
    ADD_ADDR_PROOF = (
        "{segments} that take ADD_ADDR for the proof that keys have come, where"
        " RFC 8684, 3.1, asks for a DSS: as Linux does"
    )
    FALLBACK = "{connections} of MPTCP that fall back to TCP (RFC 8684, 3.7)"
    UNKNOWN_OPTION = "{options} of kind {detail}, not examined: skipped (RFC 9293, 3.1, MUST-6)"
    NOT_JUDGED = "{findings} not judged, since {detail}"


@dataclass(frozen=True, slots=True)
class Note:
    """A trait of the capture or a habit of its hosts."""

    kind: str
    count: int
    first: int | None
    """Number of the first such packet; None if no packet has it."""
    text: str

    def __str__(self) -> str:
        return self.text if self.first is None else f"{self.text}; first: packet {self.first}"


class Notes:
    """Counter of notes.

    >>> notes = Notes()
    >>> notes.add(Kind.SNAPPED, 3), notes.add(Kind.SNAPPED, 9)
    (None, None)
    >>> [str(note) for note in notes.found()]
    ['2 packets captured in part; first: packet 3']
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[Kind, str], list[int | None]] = {}

    def add(self, kind: Kind, number: int | None, count: int = 1, detail: str = "") -> None:
        """Count occurrences; keep the number of the first packet."""
        held = self._counts.setdefault((kind, detail), [0, number])
        held[0] = (held[0] or 0) + count

    def count(self, kind: Kind) -> int:
        """Return the count of a kind over all details."""
        return sum(held[0] or 0 for (each, _), held in self._counts.items() if each is kind)

    def found(self) -> list[Note]:
        """Return the notes in order of their first packets."""
        return [
            Note(
                kind.name.lower().replace("_", "-"),
                held[0] or 0,
                held[1],
                kind.value.format(
                    detail=detail,
                    **{f"{noun}s": count_noun(held[0] or 0, noun) for noun in NOUNS},
                ),
            )
            for (kind, detail), held in self._counts.items()
        ]
