"""Rules for the data of MPTCP (RFC 8684, 3.3).

Any subflow may carry the data at a stream offset, but always with the same bytes.
"""

from dataclasses import dataclass

from .checksum import is_valid, word_sum
from .connections import Connection, PlacedPacket, Stream, unwrap
from .findings import Findings
from .notes import Kind
from .packets import SYN, Dss, Mapping, MpCapable
from .pattern import check_pattern
from .rules import Mptcp
from .tcp_rules import check_window, scaled_window, shrinks


@dataclass(slots=True)
class Mapped:
    """An announced mapping."""

    placed: PlacedPacket
    mapping: Mapping
    start: int
    """First byte in the subflow, unwrapped."""
    offset: int
    length: int
    """Length without a DATA_FIN."""

    @property
    def end(self) -> int:
        """End of its bytes in the subflow."""
        return self.start + self.length


class DataRules:
    """The rules, with the checks deferred to later segments."""

    def __init__(self, has_pattern: bool, is_exact: bool) -> None:
        self._has_pattern, self._is_exact = has_pattern, is_exact
        self._unmapped: list[tuple[PlacedPacket, int, int]] = []
        self._unsummed: list[Mapped] = []

    def check(self, placed: PlacedPacket) -> None:
        """Check mapping, data and data acknowledgement of a segment without SYN."""
        packet, own = placed.packet, placed.stream
        dss = packet.segment.options.of(Dss)
        capable = packet.segment.options.of(MpCapable)
        mapping = dss.mapping if dss else None
        if dss:
            own.sent_dss = True
        if capable and capable.data_length is not None:
            if mapping:
                placed.fault(Mptcp.MAPPING, "mappings by both MP_CAPABLE and DSS")
            first = own.number(0) & 0xFFFFFFFF
            mapping = Mapping(first, False, 1, capable.data_length, capable.checksum)
            # Without a number, the receiver may assume either width.
            own.showed_long = True
        if mapping and mapping.length == 0:
            self._fall_back(placed)
            return
        if mapping:
            self._map(placed, mapping, dss is not None and dss.is_fin)
        if packet.segment.length:
            if not mapping and not placed.other.sent_data_ack:
                text = "data without a mapping before any DATA_ACK on its subflow"
                placed.fault(Mptcp.ESTABLISHED, text)
            self._place(placed, placed.relative, placed.relative + packet.segment.length)
        _acknowledge(placed, dss, self._is_exact)

    def check_end(self) -> None:
        """Run the deferred checks."""
        for mapped in self._unsummed:
            self._sum(mapped, is_last=True)
        for placed, start, end in self._unmapped:
            half = placed.own
            for low, high, offset in half.mappings.pieces(start, end):
                if offset is None and low < half.seen.end_of_prefix():
                    text = f"bytes {low}..{high} of the subflow are in no mapping"
                    placed.fault(Mptcp.UNMAPPED, text)

    @staticmethod
    def _fall_back(placed: PlacedPacket) -> None:
        """Handle an infinite mapping: a fallback to plain TCP (RFC 8684, 3.7)."""
        connection = placed.subflow.connection
        if len(connection.subflows) > 1:
            placed.fault(Mptcp.FALLBACK, "mapping without end while there are several subflows")
        if not connection.fell_back:
            connection.fell_back = True
            placed.note(Kind.FALLBACK)

    def _map(self, placed: PlacedPacket, mapping: Mapping, is_fin: bool) -> None:
        own = placed.stream
        if (mapping.checksum is not None) != placed.subflow.connection.checksum:
            has = "without" if mapping.checksum is None else "with"
            text = f"mapping {has} a checksum, other than was agreed on"
            placed.fault(Mptcp.CHECKSUM_USE, text)
        offset = own.offset(mapping.number, mapping.is_long, own.seen.end())
        if offset < 0:
            text = f"data sequence number {mapping.number:#x} is before the first"
            placed.fault(Mptcp.MAPPING, text)
            return
        start = placed.relative + unwrap(mapping.subflow - placed.relative, 0)
        mapped = Mapped(placed, mapping, start, offset, mapping.length - is_fin)
        _note_width(own, mapped)
        if mapped.length:
            self._map_data(mapped)
        elif mapping.subflow:
            text = f"DATA_FIN alone with subflow sequence number {mapping.subflow}, not 0"
            placed.fault(Mptcp.DATA_FIN, text)
        data_end = offset + mapped.length
        if is_fin:
            _data_fin(placed, own, data_end)
        if own.fin is not None and (data_end > own.fin or own.seen.end() > own.fin + 1):
            placed.fault(Mptcp.AFTER_FIN, "data after the DATA_FIN")
        self._sum(mapped)

    def _map_data(self, mapped: Mapped) -> None:
        placed, start, end = mapped.placed, mapped.start, mapped.end
        if end <= placed.relative or start >= placed.relative + placed.packet.segment.length:
            text = f"mapping of {start}..{end} on a segment that has nothing of it"
            placed.fault(Mptcp.MAPPING, text)
            return
        differs = placed.own.mappings.add(start, end, mapped.offset)
        if differs is not None:
            text = f"byte {differs} of the subflow was mapped to other data before"
            placed.fault(Mptcp.MAPPING, text)
        waiting, self._unmapped = self._unmapped, []
        for other, low, high in waiting:
            if other.own is placed.own and low < end and start < high:
                self._place(other, low, high)
            else:
                self._unmapped.append((other, low, high))

    def _place(self, placed: PlacedPacket, start: int, end: int) -> None:
        """Place a segment's bytes in the data stream by the subflow's mappings."""
        own = placed.stream
        for low, high, offset in placed.own.mappings.pieces(start, end):
            if offset is None:
                if placed.packet.outbound:
                    text = f"bytes {low}..{high} of the subflow are in no mapping"
                    placed.fault(Mptcp.UNMAPPED, text)
                else:
                    self._unmapped.append((placed, low, high))
                continue
            end = offset + high - low
            if high - low == 1 and end == own.acked:
                # Linux probes a closed window with a new subflow byte mapped to the last
                # acknowledged data byte. The receiver drops it.
                continue
            self._window(placed, offset, end, high)
            own.seen.put(offset, end, placed.packet.number)
            data = placed.packet.segment.payload[low - placed.relative : high - placed.relative]
            differs = own.content.add(offset, data)
            if differs is not None:
                text = f"bytes differ from those sent before at data offset {differs}"
                placed.fault(Mptcp.RESENT, text)
            if self._has_pattern:
                check_pattern(placed, data, offset)

    def _window(self, placed: PlacedPacket, offset: int, end: int, subflow_end: int) -> None:
        """Check that data is within the window shared by all subflows (RFC 8684, 3.3.4)."""
        limit = placed.stream.window_end
        is_in_own = limit < end and subflow_end <= placed.own.window_end
        if is_in_own and not self._is_exact:
            placed.note(Kind.SUBFLOW_WINDOW)
        else:
            check_window(placed, offset, end, limit, Mptcp.WINDOW)

    def _sum(self, mapped: Mapped, is_last: bool = False) -> None:
        """Check a mapping's checksum once all its bytes were seen."""
        mapping, placed = mapped.mapping, mapped.placed
        if mapping.checksum is None:
            return
        data: bytes | None = b""
        if mapped.length:
            data = placed.own.content.get(mapped.start - 1, mapped.end - 1)
        if data is None:
            if not is_last:
                self._unsummed.append(mapped)
            return
        number = placed.stream.number(mapped.offset)
        header = number.to_bytes(8, "big") + mapping.subflow.to_bytes(4, "big")
        if not is_valid(word_sum(header) + mapping.length + mapping.checksum + word_sum(data)):
            placed.fault(Mptcp.CHECKSUM, "wrong DSS checksum")


def _acknowledge(placed: PlacedPacket, dss: Dss | None, is_exact: bool) -> None:
    half, other = placed.own, placed.other
    peer = placed.peer_stream
    if dss is None or dss.ack is None:
        if other.data_segments and other.acked > 1 and not half.sent_data_ack:
            placed.fault(Mptcp.ACK_MISSING, "acknowledges data without a DATA_ACK")
        return
    half.sent_data_ack = True
    acked = peer.offset(dss.ack, dss.ack_is_long, peer.acked)
    if dss.ack_is_long and not peer.showed_long:
        text = "DATA_ACK of 64 bits before any data sequence number of 64 bits"
        placed.fault(Mptcp.ACK_WIDTH, text)
    if not dss.ack_is_long and peer.first_long is not None and acked > peer.first_long:
        placed.fault(Mptcp.ACK_WIDTH, "DATA_ACK of 32 bits for data that came with 64 bits")
    if acked < 0:
        placed.fault(Mptcp.ACK, f"DATA_ACK {dss.ack:#x} is before the first data")
        return
    known = peer.seen.end_of_prefix()
    if acked > known:
        if is_exact:
            text = f"DATA_ACK up to {acked}, but only up to {known} was seen without a gap"
            placed.fault(Mptcp.ACK_UNSENT, text)
        elif other.segments:
            peer.seen.assume(known, acked, placed.place(), "acknowledged")
        return
    if acked < peer.acked:
        if placed.packet.outbound:
            text = f"DATA_ACK up to {acked} is less than {peer.acked} before"
            placed.fault(Mptcp.ACK_BACK, text)
    elif acked > peer.acked:
        peer.acked = acked
        peer.content.forget(acked)
    end = acked + scaled_window(placed)
    if placed.packet.outbound and shrinks(end, peer.window_end, half):
        placed.note(Kind.WINDOW_SHRINKS)
    peer.window_end = max(peer.window_end, end)


def note_first_window(placed: PlacedPacket) -> None:
    """Start the first subflow's windows at offset 0 before any DATA_ACK."""
    packet = placed.packet
    if packet.has(SYN) or packet.segment.options.of(MpCapable):
        window = scaled_window(placed)
        placed.peer_stream.window_end = max(placed.peer_stream.window_end, window)


def check_complete(connection: Connection, findings: Findings) -> None:
    """Check that streams are complete and each DATA_FIN is acknowledged."""
    for stream in connection.streams:
        known, end = stream.seen.end_of_prefix(), stream.seen.end()
        if known < end:
            text = f"data from offset {known} is missing at the end, though {end} was seen"
            findings.add(Mptcp.MISSING, text, connection=connection.number)
        if stream.fin is not None and stream.acked <= stream.fin:
            findings.add(
                Mptcp.MISSING, "DATA_FIN never acknowledged", connection=connection.number
            )


def _note_width(own: Stream, mapped: Mapped) -> None:
    """Require 64-bit acknowledgements of data sent with 64 bits (RFC 8684, 3.3.2)."""
    start, end = mapped.offset, mapped.offset + mapped.mapping.length
    if mapped.mapping.is_long:
        own.showed_long = True
        if mapped.length and own.first_long is None and (start, start + 1) not in own.seen:
            own.first_long = start
    elif own.first_long is not None and start <= own.first_long < end:
        own.first_long = None


def _data_fin(placed: PlacedPacket, own: Stream, offset: int) -> None:
    if own.fin is not None and own.fin != offset:
        placed.fault(Mptcp.DATA_FIN, f"DATA_FIN at {offset}, at {own.fin} before")
        return
    own.fin = offset
    own.seen.put(offset, offset + 1, placed.packet.number)
