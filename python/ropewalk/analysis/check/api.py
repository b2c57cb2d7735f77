"""The function `capture`: a check of a capture against the RFCs.

A capture shows all packets that the capturing host sends, but of its peers only the packets that
arrive.
"""

from collections.abc import Collection
from os import PathLike

from . import data_rules, handshake_rules, tcp_rules
from .checksum_errors import ChecksumErrors, WrongChecksum
from .connections import Connections, Packet, PlacedPacket
from .duplicates import Duplicates
from .findings import EvidencePlace, Findings
from .notes import Kind
from .packets import (
    RST,
    SYN,
    Address,
    PacketFileError,
    PacketReader,
    Progress,
    Record,
    Segment,
    open_capture,
    read_packets,
)
from .pattern import check_pattern
from .result import Report, count
from .rules import Rule, Tcp, header
from .verdict import judge


def capture(
    path: str | PathLike[str],
    *,
    encapsulated: bool = False,
    port: int | None = None,
    local: Collection[Address] = (),
    exact: bool = False,
    pattern: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Check a capture against the RFCs of TCP and MPTCP.

    Parameters
    ----------
    path
        A pcapng or pcap file; "-" for standard input.
    encapsulated
        Whether packets to check are carried in UDP.
    port
        UDP port of the carrying packets; any port if None.
    local
        Addresses of the capturing host, for files without packet directions. Without directions,
        rules that depend on the sending order are skipped.
    exact
        Whether the capture is complete and shows packets as sent on the wire. Then missing packets
        and segments above the MSS are violations, not traits of the capture.
    pattern
        Whether to require the payload of simulated and emulated runs: at each stream offset o that
        is a multiple of 8, the 64-bit number o.
    progress
        Called with the bytes read so far and the size of the file.

    Returns
    -------
    Report
        Violations of hosts, notes on the capture, and unexamined traffic.

    Raises
    ------
    PacketFileError
        The file is no capture. Later damage counts as unexamined traffic.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/two.pcapng"
    ...     _ = ropewalk.simulate("start/two-links", capture=path)
    ...     report = ropewalk.check.capture(path)
    >>> report.violations, report.connections[0].is_multipath, report.connections[0].subflows
    ([], True, 2)
    """
    reader = open_capture(path, local=local, encapsulated=encapsulated, port=port)
    found = _Capture(encapsulated and port is None, exact, pattern)
    try:
        for record in read_packets(reader, progress):
            found.take(record)
    except PacketFileError as error:
        if not found.report.packets:
            raise
        found.report.unexamined[f"rest of the file, which is damaged: {error}"] += 1
    return found.end(reader)


class _Capture:
    def __init__(self, encapsulated: bool, is_exact: bool, has_pattern: bool) -> None:
        self.report = Report()
        self._encapsulated = encapsulated
        """Whether packets to check are carried in UDP."""
        self._is_exact, self._has_pattern = is_exact, has_pattern
        self._findings = Findings()
        self._sums = ChecksumErrors()
        self._connections = Connections(self._findings)
        self._data = data_rules.DataRules(has_pattern, is_exact)
        self._duplicates = Duplicates()
        self._number = 0
        self._time_ns = 0
        self._flows: dict[int, bool] = {}
        """Whether each flow's latest packet was outbound."""
        self._senders: dict[Address, bool] = {}
        """Whether each source address belongs to this host."""

    def take(self, record: Record) -> None:
        """Check one packet, possibly one of several in an 802.11 frame."""
        if record.number != self._number:
            self._frame(record)
        segment = record.segment
        if segment is None:
            self._other(record)
            return
        packet = Packet(record.number, record.time_ns, record.interface, record.outbound, segment)
        self._segment(record, packet)

    def _frame(self, record: Record) -> None:
        """Count a captured frame, and note its traits."""
        report, notes, number = self.report, self._findings.notes, record.number
        self._number = number
        report.packets += 1
        if not record.is_whole:
            report.snapped += 1
            notes.add(Kind.SNAPPED, number)
        if record.comments:
            report.comments.update(record.comments)
        if record.trailing:
            notes.add(Kind.TRAILING, number)
        if record.zero_length:
            notes.add(Kind.ZERO_LENGTH, number)
        if "UDP" in record.tunnels:
            report.datagrams += 1
        time_ns = record.time_ns
        if time_ns < self._time_ns:
            notes.add(Kind.TIME_BACK, number)
        self._time_ns = time_ns
        if report.first_ns is None or time_ns < report.first_ns:
            report.first_ns = time_ns
        report.last_ns = max(report.last_ns, time_ns)

    def _other(self, record: Record) -> None:
        """Count a packet without a TCP segment."""
        place = EvidencePlace(record.number, record.time_ns, record.interface)
        for clause, text in record.faults:
            self._findings.add(header(clause), text, place)
        self._checksums(record, place)
        if record.skipped == "UDP":
            self.report.datagrams += 1
            if self._encapsulated:
                self.report.unexamined["UDP without an IP packet inside"] += 1
        elif record.skipped is not None:
            self.report.unexamined[record.skipped] += 1

    def end(self, reader: PacketReader) -> Report:
        """Run the final checks and return the verdict."""
        notes = self._findings.notes
        if reader.ends_within_packet:
            notes.add(Kind.CUT_SHORT, None)
        if reader.lost_fragments:
            notes.add(Kind.FRAGMENTS, None, reader.lost_fragments)
        for interface in reader.interfaces:
            found = interface.statistics
            if lost := found.get("ifdrop", 0) + found.get("osdrop", 0):
                notes.add(Kind.DROPPED, None, lost)
        self._data.check_end()
        outbound = {address for address, is_local in self._senders.items() if is_local}
        judge(
            self._connections.all,
            self._findings,
            self._sums,
            outbound,
            self._is_exact,
            self.report,
        )
        count(self.report, self._connections.all)
        return self.report

    def _segment(self, record: Record, packet: Packet) -> None:
        segment = packet.segment
        self.report.segments += 1
        subflow, side = self._connections.place(packet)
        own, other = subflow.halves[side], subflow.halves[1 - side]
        is_first = not own.answered
        placed = PlacedPacket(packet, subflow, side, own, other, self._findings)
        self._directions(packet)
        if self._duplicates.has(record, segment):
            placed.note(Kind.DUPLICATE)
            tcp_rules.note_duplicate(placed)
            return
        self._headers(record, placed, segment)
        tcp_rules.check(placed, self._is_exact)
        options = segment.options
        if options.mptcp or subflow.kind != "TCP" or subflow.join is not None:
            handshake_rules.check(placed, is_first, self._connections)
            if subflow.unexamined is not None and options.mptcp:
                self.report.unexamined[subflow.unexamined] += 1
            if subflow.kind == "MP_CAPABLE":
                data_rules.note_first_window(placed)
        if subflow.unexamined is None:
            for clause, text in options.mptcp_faults:
                placed.fault(header(clause), text)
        if segment.flags & (SYN | RST) or (placed.is_probe and segment.length):
            return
        if subflow.kind == "TCP" or subflow.connection.fell_back:
            if self._has_pattern and segment.length and placed.relative >= 1:
                check_pattern(placed, segment.payload, placed.relative - 1)
        else:
            self._multipath(placed)

    def _directions(self, packet: Packet) -> None:
        """Note an address that both sends and receives."""
        outbound, flow = packet.outbound, packet.segment.flow
        if outbound is None or self._flows.get(flow) is outbound:
            return
        self._flows[flow] = outbound
        address = packet.segment.source[0]
        if self._senders.setdefault(address, outbound) is not outbound:
            self._findings.notes.add(Kind.BOTH_WAYS, packet.number, detail=str(address))

    def _headers(self, record: Record, placed: PlacedPacket, segment: Segment) -> None:
        """Check the headers; keep wrong checksums for the verdict."""
        for clause, text in record.faults:
            placed.fault(header(clause), text)
        if segment.reserved:
            placed.fault(header("RFC 9293, 3.1"), "TCP reserved bits are not 0")
        options = segment.options
        for clause, text in options.faults:
            placed.fault(header(clause), text)
        for kind, _ in options.others:
            placed.note(Kind.UNKNOWN_OPTION, str(kind))
        if segment.checksum == "partial":
            self.report.offloaded += 1
            placed.note(Kind.CHECKSUM_LEFT)
        number, has_data = placed.subflow.connection.number, segment.length > 0
        if segment.checksum == "wrong":
            error = segment.checksum_error
            self._wrong(
                Tcp.CHECKSUM, placed.place(), "wrong TCP checksum", error, number, has_data
            )
        if record.ip_checksum != "right" or record.udp_checksum != "none":
            self._checksums(record, placed.place(), number, has_data)

    def _checksums(
        self,
        record: Record,
        place: EvidencePlace,
        connection: int | None = None,
        has_data: bool = False,
    ) -> None:
        """Note IP and UDP checksums that are wrong or left to the device."""
        notes, segment = self._findings.notes, record.segment
        is_left = segment is not None and segment.checksum == "partial"
        for state in (record.ip_checksum, record.udp_checksum):
            if state == "partial":
                notes.add(Kind.CHECKSUM_LEFT, record.number)
        if record.ip_checksum == "wrong":
            text, error = "wrong IPv4 header checksum", record.ip_checksum_error
            self._wrong(Tcp.IP_CHECKSUM, place, text, error, connection, has_data)
        if record.udp_checksum == "wrong" and is_left:
            # Valid once the device has filled in the inner checksum.
            notes.add(Kind.CHECKSUM_LEFT, record.number)
        elif record.udp_checksum == "wrong":
            text = "wrong UDP checksum"
            text = text if segment is None else f"outer packet: {text}"
            self._wrong(Tcp.UDP_CHECKSUM, place, text, None, connection, has_data)

    def _wrong(
        self,
        rule: Rule,
        place: EvidencePlace,
        text: str,
        error: int | None,
        connection: int | None,
        has_data: bool,
    ) -> None:
        self._sums.add(WrongChecksum(rule, text, place, connection, has_data, error))

    def _multipath(self, placed: PlacedPacket) -> None:
        waiting = placed.subflow.connection.waiting
        if placed.stream.key is None or placed.peer_stream.key is None:
            waiting.append(placed)
            return
        for earlier in waiting:
            self._data.check(earlier)
        waiting.clear()
        self._data.check(placed)
