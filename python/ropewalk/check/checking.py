"""Check a capture against the RFCs, whatever program wrote it.

The capture is that of one host: of packets that it sends, all are seen, of those that
it gets, what has arrived.
"""

from collections.abc import Collection
from pathlib import Path

from . import data_rules, handshake_rules, tcp_rules
from .connections import Connection, Connections, Endpoint, Fault, Packet, Placed
from .files import NANOSECONDS, PacketFileError, Progress, Record, read
from .headers import (
    RST,
    SYN,
    TCP,
    UDP,
    Address,
    HeaderError,
    parse_ip,
    parse_tcp,
    parse_udp,
    unwrapped,
)
from .link import strip
from .pattern import check_pattern
from .report import Report


def capture(
    path: str | Path,
    *,
    encapsulated: bool = False,
    port: int | None = None,
    local: Collection[Address] = (),
    cut: bool = False,
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
    cut
        Whether the capture may begin or stop while data is on its way: what belongs to a
        connection whose SYN was not seen is counted, and no violation.
    pattern
        Whether payloads must be what simulated and emulated runs carry: at offset o of the
        stream, a multiple of 8, o as a 64-bit number.
    progress
        Is told bytes read and bytes of the file, now and then.

    Returns
    -------
    Report
        With a violation for each thing that is wrong.

    Raises
    ------
    PacketFileError
        If it is no file of captured packets. What is wrong further on is a violation.

    Examples
    --------
    >>> import ropewalk, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/two.pcapng"
    ...     _ = ropewalk.simulate("scenarios/start/two-links.toml", capture=path)
    ...     report = ropewalk.check.capture(path)
    >>> report.violations, report.connections[0].is_multipath, report.connections[0].subflows
    ([], True, 2)
    """
    found = _Capture(encapsulated, port, frozenset(local), cut, pattern)
    packets = read(path, progress)
    try:
        for record in packets:
            found.take(record)
    except PacketFileError as error:
        if not found.report.packets:
            raise
        found.report.violations.append(f"file: {error}")
    found.end()
    return found.report


class _Capture:
    """A capture being checked."""

    def __init__(
        self,
        encapsulated: bool,
        port: int | None,
        local: frozenset[Address],
        is_cut: bool,
        has_pattern: bool,
    ) -> None:
        self.report = Report()
        self._encapsulated, self._port, self._local = encapsulated, port, local
        self._is_cut, self._has_pattern = is_cut, has_pattern
        self._connections = Connections()
        self._data = data_rules.DataRules(has_pattern)
        self._time_ns = 0
        self._senders: dict[Address, bool] = {}
        """Of each source address, whether it is of this host."""

    def take(self, record: Record) -> None:
        """Check one packet."""
        self.report.packets += 1
        self.report.snapped += not record.is_whole
        self.report.comments.update(record.comments)
        where = f"packet {record.number} ({record.time_ns / NANOSECONDS:.6f} s"
        if record.interface.name is not None:
            where += f", {record.interface.name}"

        def fault(text: str) -> None:
            self.report.violations.append(f"{where}): {text}")

        if record.time_ns < self._time_ns:
            fault("captured before the packet in front of it")
        self._time_ns = max(self._time_ns, record.time_ns)
        try:
            packet = self._packet(record, fault)
        except HeaderError as error:
            fault(str(error))
            return
        if packet is not None:
            source = _written(packet.segment.source)
            where += f", {source} > {_written(packet.segment.destination)}"
            self._segment(packet, fault)

    def end(self) -> None:
        """Check what is only known at the end."""
        self._data.check_end()
        outbound = {address for address, is_local in self._senders.items() if is_local}
        for number, connection in enumerate(self._connections.all):

            def fault(text: str, number: int = number) -> None:
                self.report.violations.append(f"connection {number}: {text}")

            for placed in connection.waiting:
                placed.fault("data of a host whose key was never seen")
            if not self._is_cut:
                self._complete(connection, outbound, fault)
        self.report.count(self._connections.all)

    @staticmethod
    def _complete(connection: Connection, outbound: set[Address], fault: Fault) -> None:
        tcp_rules.check_end(connection, fault)
        if not connection.is_multipath:
            return
        for stream in connection.streams:
            data_rules.check_complete(stream, fault)
        for subflow in connection.subflows:
            handshake_rules.check_end(subflow, outbound, fault)

    def _packet(self, record: Record, fault: Fault) -> Packet | None:
        """Return the TCP segment of a record, unwrapped if packets are encapsulated."""
        stripped = strip(record.interface.link_type, record.data, record.original_length)
        if stripped is None:
            self.report.others += 1
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
                    fault(text)
                if self._encapsulated and self._port is None:
                    fault("UDP packet without an IP packet inside")
                return None
            ip, outer_faults = inner
            for text in outer_faults:
                fault(f"outer packet: {text}")
            faults = ip.faults
        for text in faults:
            fault(text)
        if ip.protocol != TCP:
            self.report.others += 1
            return None
        if outbound is None and self._local:
            outbound = ip.source in self._local
        segment = parse_tcp(ip)
        self.report.offloaded += segment.is_offloaded
        for text in segment.faults:
            fault(text)
        if outbound is not None and self._senders.setdefault(ip.source, outbound) != outbound:
            fault(f"packets from {ip.source} are both inbound and outbound")
        return Packet(record.number, record.time_ns, record.interface.name, outbound, segment)

    def _segment(self, packet: Packet, fault: Fault) -> None:
        found = self._connections.place(packet, fault)
        if found is None:
            self.report.midway += 1
            if not self._is_cut:
                fault("packet of a connection whose SYN was not seen")
            return
        subflow, side = found
        is_first = not subflow.halves[side].answered
        relative = tcp_rules.check(packet, subflow, side, fault)
        if relative is None:
            return
        placed = Placed(packet, subflow, side, relative, fault)
        handshake_rules.check(placed, is_first, self._connections)
        if subflow.kind == "MP_CAPABLE":
            data_rules.note_first_window(placed)
        if packet.has(SYN | RST):
            return
        if subflow.kind == "TCP":
            self._plain(placed)
        else:
            self._multipath(placed)

    def _plain(self, placed: Placed) -> None:
        """Note the data of plain TCP, whose stream is the subflow's."""
        segment = placed.packet.segment
        if segment.length and placed.relative >= 1:
            offset = placed.relative - 1
            placed.stream.seen.add(offset, offset + segment.length)
            if self._has_pattern:
                check_pattern(segment.payload, offset, placed.fault)

    def _multipath(self, placed: Placed) -> None:
        waiting = placed.subflow.connection.waiting
        if placed.stream.key is None or placed.peer_stream.key is None:
            waiting.append(placed)
            return
        for earlier in waiting:
            self._data.check(earlier)
        waiting.clear()
        self._data.check(placed)


def _written(endpoint: Endpoint) -> str:
    return f"{endpoint[0]}:{endpoint[1]}"
