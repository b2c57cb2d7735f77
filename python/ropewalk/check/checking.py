"""Check a capture against the RFCs, whatever program wrote it.

The capture is that of one host, or of a place between hosts: of packets that its host sends,
all are seen, of those that it gets, what has arrived.
"""

from collections.abc import Collection
from pathlib import Path

from . import data_rules, handshake_rules, tcp_rules
from .connections import Connections, Packet, Placed
from .files import PacketFileError, Progress, Record, read
from .findings import Findings, Place
from .headers import (
    RST,
    SYN,
    TCP,
    UDP,
    Address,
    HeaderError,
    Segment,
    parse_ip,
    parse_tcp,
    parse_udp,
    unwrapped,
)
from .link import strip
from .notes import Kind
from .pattern import check_pattern
from .report import Report, count
from .rules import Rule, Tcp, header
from .sums import Sums, Wrong
from .verdict import judge


def capture(
    path: str | Path,
    *,
    encapsulated: bool = False,
    port: int | None = None,
    local: Collection[Address] = (),
    exact: bool = False,
    pattern: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Check a capture.

    Parameters
    ----------
    path
        A pcapng or pcap file, of raw IP, Ethernet, Linux's cooked captures or loopback.
    encapsulated
        Whether UDP packets hold the packets to check.
    port
        The port of UDP packets that do; any if None.
    local
        Addresses of the host that captures, for files that do not tell directions.
        Without either, rules that need the order of sending are left out.
    exact
        Whether the capture shows all packets of its connections, each as it was on the wire.
        Then missing packets and segments above the MSS are violations, not traits of the capture.
    pattern
        Whether payloads must be what simulated and emulated runs carry: at offset o of the
        stream, a multiple of 8, o as a 64-bit number.
    progress
        Is told bytes read and bytes of the file, now and then.

    Returns
    -------
    Report
        With the violations of hosts, the notes on the capture, and the traffic that was not
        examined.

    Raises
    ------
    PacketFileError
        If it is no file of captured packets. Damage further on is traffic not examined.

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
    found = _Capture(encapsulated, port, frozenset(local), exact, pattern)
    packets = read(path, progress)
    try:
        for record in packets:
            found.take(record)
    except PacketFileError as error:
        if not found.report.packets:
            raise
        found.report.unexamined[f"the rest of the file, which is damaged: {error}"] += 1
    return found.end()


class _Capture:
    """A capture being checked."""

    def __init__(
        self,
        encapsulated: bool,
        port: int | None,
        local: frozenset[Address],
        is_exact: bool,
        has_pattern: bool,
    ) -> None:
        self.report = Report()
        self._encapsulated, self._port, self._local = encapsulated, port, local
        self._is_exact, self._has_pattern = is_exact, has_pattern
        self._findings = Findings()
        self._sums = Sums()
        self._connections = Connections(self._findings)
        self._data = data_rules.DataRules(has_pattern, is_exact)
        self._time_ns = 0
        self._senders: dict[Address, bool] = {}
        """Of each source address, whether it is of this host."""

    def take(self, record: Record) -> None:
        """Check one packet."""
        report = self.report
        report.packets += 1
        if not record.is_whole:
            report.snapped += 1
            self._findings.notes.add(Kind.SNAPPED, record.number)
        if record.comments:
            report.comments.update(record.comments)
        if record.time_ns < self._time_ns:
            self._findings.notes.add(Kind.TIME_BACK, record.number)
        self._time_ns = record.time_ns
        report.first_ns = min(report.first_ns or record.time_ns, record.time_ns)
        report.last_ns = max(report.last_ns, record.time_ns)
        try:
            packet = self._packet(record)
        except HeaderError as error:
            self._header(record, str(error))
            return
        if packet is not None:
            self._segment(packet)

    def end(self) -> Report:
        """Check what is only known at the end, and return the verdict."""
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

    def _header(self, record: Record, text: str) -> None:
        place = Place(record.number, record.time_ns, record.interface.name)
        self._findings.add(header(_clause(text)), text, place)

    def _packet(self, record: Record) -> Packet | None:
        """Return the TCP segment of a record, unwrapped if packets are encapsulated."""
        stripped = strip(record.interface.link_type, record.data, record.original_length)
        if stripped is None:
            self.report.unexamined["packets of other protocols than IP"] += 1
            return None
        data, length, direction = stripped
        ip = parse_ip(data, length)
        faults = ip.faults
        direction = record.direction or direction
        outbound = None if direction is None else direction == "outbound"
        if ip.protocol == UDP:
            self.report.datagrams += 1
            inner = unwrapped(ip, self._port) if self._encapsulated else None
            if inner is None:
                for text in faults + parse_udp(ip).faults:
                    self._header(record, text)
                if self._encapsulated and self._port is None:
                    self._header(record, "UDP packet without an IP packet inside")
                return None
            ip, outer_faults = inner
            for text in outer_faults:
                self._header(record, f"outer packet: {text}")
            faults = ip.faults
        for text in faults:
            self._header(record, text)
        if ip.protocol != TCP:
            self.report.unexamined[f"IP protocol {ip.protocol}"] += 1
            return None
        if outbound is None and self._local:
            outbound = ip.source in self._local
        segment = parse_tcp(ip)
        if outbound is not None and self._senders.setdefault(ip.source, outbound) != outbound:
            self._findings.notes.add(Kind.BOTH_WAYS, record.number, detail=str(ip.source))
        name = record.interface.name
        is_right = ip.is_whole and not segment.is_offloaded and not segment.faults
        return Packet(
            record.number, record.time_ns, name, outbound, segment, bool(outbound) and is_right
        )

    def _segment(self, packet: Packet) -> None:
        segment = packet.segment
        self.report.segments += 1
        subflow, side = self._connections.place(packet)
        own, other = subflow.halves[side], subflow.halves[1 - side]
        is_first = not own.answered
        placed = Placed(packet, subflow, side, own, other, self._findings)
        self._header_faults(placed, segment)
        tcp_rules.check(placed, self._is_exact)
        is_plain = subflow.kind == "TCP"
        if segment.options.mptcp or not is_plain or subflow.join is not None:
            handshake_rules.check(placed, is_first, self._connections)
            if subflow.unexamined is not None and segment.options.mptcp:
                self.report.unexamined[subflow.unexamined] += 1
            if subflow.kind == "MP_CAPABLE":
                data_rules.note_first_window(placed)
        if segment.flags & (SYN | RST) or (placed.is_probe and segment.length):
            return
        if subflow.kind == "TCP" or subflow.connection.fell_back:
            if self._has_pattern and segment.length and placed.relative >= 1:
                check_pattern(placed, segment.payload, placed.relative - 1)
        else:
            self._multipath(placed)

    def _header_faults(self, placed: Placed, segment: Segment) -> None:
        """Note what the headers themselves violate, and keep wrong checksums for the verdict."""
        if segment.is_offloaded:
            self.report.offloaded += 1
            placed.note(Kind.CHECKSUM_LEFT)
        for text in segment.faults:
            if text == "wrong TCP checksum":
                self._wrong_sum(placed, Tcp.CHECKSUM, text, None)
            else:
                placed.fault(header(_clause(text)), text)

    def _wrong_sum(self, placed: Placed, rule: Rule, text: str, error: int | None) -> None:
        segment = placed.packet.segment
        number = placed.subflow.connection.number
        wrong = Wrong(rule, text, placed.place(), number, segment.length > 0, error)
        self._sums.add(wrong, segment.source)

    def _multipath(self, placed: Placed) -> None:
        waiting = placed.subflow.connection.waiting
        if placed.stream.key is None or placed.peer_stream.key is None:
            waiting.append(placed)
            return
        for earlier in waiting:
            self._data.check(earlier)
        waiting.clear()
        self._data.check(placed)


def _clause(text: str) -> str:
    """Return the clause that a header's fault is about."""
    for start, clause in CLAUSES.items():
        if start in text:
            return clause
    return "RFC 9293, 3.1"


CLAUSES = {
    "UDP over IPv6": "RFC 8200, 8.1",
    "UDP": "RFC 768",
    "IPv4": "RFC 791, 3.1",
    "IPv6": "RFC 8200, 3",
    "MP_": "RFC 8684, 3",
    "SACK": "RFC 2018, 3",
    "window scale": "RFC 7323, 2.3",
    "timestamps": "RFC 7323, 3.2",
    "MPTCP": "RFC 8684, 3",
    "DSS": "RFC 8684, 3.3",
    "DATA_FIN": "RFC 8684, 3.3.3",
    "Dss": "RFC 8684, 3.3",
    "ADD_ADDR": "RFC 8684, 3.4.1",
    "transmission number": "TCP-DOOR (Wang and Zhang 2002)",
    "experiment": "RFC 6994, 3",
}
