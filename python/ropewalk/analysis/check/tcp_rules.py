"""Rules for TCP connections: RFC 9293, 7323, 2018, 2883, 7413.

At the sender's host a capture shows all segments in order; at the receiver's only the arriving
ones. Rules on the sending order apply only to packets of the capturing host.
"""

from itertools import pairwise

from .connections import INITIATOR, RESPONDER, Direction, PlacedPacket, is_pure_ack, unwrap
from .findings import Findings, format_endpoint
from .notes import Kind
from .packets import ACK, FIN, RST, SYN
from .rules import Rule, Tcp

DEFAULT_MSS = {4: 536, 6: 1220}


def check(placed: PlacedPacket, is_exact: bool) -> None:
    """Check a segment and record it.

    `is_exact` means that the capture is complete and shows packets as sent on the wire.
    """
    packet, subflow, own = placed.packet, placed.subflow, placed.own
    segment = packet.segment
    flags = segment.flags
    own.segments += 1
    subflow.last_ns = max(subflow.last_ns, packet.time_ns)
    subflow.interfaces.add(packet.interface)
    if flags & SYN:
        _syn(placed)
    elif flags & RST:
        _reset(placed)
        return
    else:
        _after_handshake(placed, is_exact)
        _options(placed, is_exact)
    if flags & ACK and placed.other.isn is None:
        # Its SYN was not captured.
        placed.other.isn = (segment.acknowledgement - 1) % (1 << 32)
        placed.other.is_midway = True
    _sequence(placed, is_exact)
    if not flags & SYN:
        own.answered = True
    _timestamps(placed, is_exact)
    if packet.outbound and segment.options.transmission is not None:
        _transmission(placed)
    if flags & ACK:
        acked = _acknowledgement(placed, is_exact)
        if acked is not None:
            if segment.options.sack:
                _sack(placed, acked, is_exact)
            if subflow.is_agreed:
                _window(placed, acked)


def note_duplicate(placed: PlacedPacket) -> None:
    """Record a duplicate packet, which a D-SACK may report."""
    segment, own = placed.packet.segment, placed.own
    if own.isn is not None and segment.length:
        start = unwrap(segment.sequence - own.isn, own.seen.end())
        own.twice.add(start, start + segment.length)


def check_end(halves: tuple[Direction, Direction], connection: int, findings: Findings) -> None:
    """Check that all of a connection has arrived, if the capture is exact."""
    for half in halves:
        if half.is_midway:
            text = f"the SYN of {format_endpoint(half.endpoint)} was not captured"
            findings.add(Tcp.CAPTURE, text, connection=connection)
    if halves[0].reset or halves[1].reset:
        return
    for half in halves:
        if half.seen.end_of_prefix() < half.seen.end():
            start, end = half.seen.end_of_prefix(), half.seen.end()
            text = f"bytes from {start} are missing at the end, though {end} was seen"
            findings.add(Tcp.MISSING, text, connection=connection)
        if half.fin is not None and half.acked <= half.fin:
            findings.add(Tcp.MISSING, "FIN never acknowledged", connection=connection)


def _syn(placed: PlacedPacket) -> None:
    segment, own, other = placed.packet.segment, placed.own, placed.other
    subflow, side = placed.subflow, placed.side
    if segment.flags & (FIN | RST):
        placed.fault(Tcp.SYN_FLAGS, "SYN with FIN or RST")
    has_ack = bool(segment.flags & ACK)
    if not subflow.is_simultaneous and has_ack != (side == RESPONDER):
        text = "SYN-ACK of the initiator" if side == INITIATOR else "SYN of the responder"
        placed.fault(Tcp.HANDSHAKE, text)
    if own.isn is not None and not own.is_midway:
        if has_ack and not other.answered and segment.sequence != own.isn:
            # A stateless listener answers each SYN with a new cookie (RFC 4987, 3.6).
            own.isn = segment.sequence
        return
    offered = segment.options
    own.isn = segment.sequence
    own.is_midway = False
    own.mss, own.scale = offered.mss, offered.window_scale
    own.sack_permitted, own.timestamps = offered.sack_permitted, offered.timestamps is not None
    subflow.has_early_data = subflow.has_early_data or segment.length > 0
    # Windows on SYNs are never scaled (RFC 7323, 2.2).
    other.window_end = max(other.window_end, 1 + segment.window)
    if other.isn is not None and not other.is_midway:
        _agree(placed)


def _agree(placed: PlacedPacket) -> None:
    """Enable the options of both SYNs; the responder may offer none of its own."""
    initiator, responder = placed.subflow.halves
    placed.subflow.is_agreed = True
    if not placed.subflow.is_simultaneous:
        if responder.scale is not None and initiator.scale is None:
            placed.fault(Tcp.SCALE_OFFER, "window scale that the SYN did not offer")
        if responder.timestamps and not initiator.timestamps:
            placed.fault(Tcp.TIMESTAMPS_OFFER, "timestamps that the SYN did not offer")
    if responder.scale is None or initiator.scale is None:
        responder.scale = initiator.scale = None
    both = responder.timestamps and initiator.timestamps
    responder.timestamps = initiator.timestamps = both


def _after_handshake(placed: PlacedPacket, is_exact: bool) -> None:
    """Check that the handshake permits a segment; set up numbers if the SYN is not captured."""
    segment, own = placed.packet.segment, placed.own
    subflow = placed.subflow
    if not segment.flags & ACK:
        placed.fault(Tcp.MISSING_ACK, "segment without ACK after the SYN")
    initiator, responder = subflow.halves
    if responder.isn is None and initiator.isn is not None and not initiator.is_midway:
        placed.fault(Tcp.HANDSHAKE, "segment before the SYN-ACK")
    elif placed.side == RESPONDER and not initiator.answered and not initiator.is_midway:
        early = subflow.has_early_data or subflow.is_simultaneous or initiator.isn is None
        if is_exact and not early:
            text = "segment of the responder before the initiator's ACK"
            placed.fault(Tcp.HANDSHAKE, text)
    if own.isn is None:
        own.isn, own.is_midway = (segment.sequence - 1) % (1 << 32), True
    if own.is_midway and not own.seen.end():
        # Data sent before the capture began counts as seen.
        start = unwrap(segment.sequence - own.isn, 1)
        own.first = max(1, start, own.acked)
        own.seen.add(0, own.first)


def _options(placed: PlacedPacket, is_exact: bool) -> None:
    segment, found = placed.packet.segment, placed.packet.segment.options
    if found.mss is not None:
        placed.fault(Tcp.MSS_PLACE, "MSS on a segment that is no SYN")
    if found.window_scale is not None:
        placed.fault(Tcp.SCALE_PLACE, "window scale on a segment that is no SYN")
    if found.sack_permitted:
        placed.fault(Tcp.SACK_PERMITTED_PLACE, "SACK permitted on a segment that is no SYN")
    if not segment.length or placed.other.is_midway or placed.other.isn is None:
        return
    # Options count against the MSS (RFC 9293, 3.7.1).
    mss = placed.other.mss
    if mss is None:
        mss = DEFAULT_MSS[placed.own.endpoint[0].version]
    if segment.length + found.length > mss:
        # Devices segment only packets whose checksum they fill in.
        is_cut_later = segment.checksum == "partial"
        is_sent_so = placed.packet.outbound and segment.checksum == "right"
        if is_sent_so or (is_exact and not is_cut_later):
            size = f"{segment.length} bytes and {found.length} of options"
            placed.fault(Tcp.MSS, f"{size} exceed the MSS of {mss}")
        else:
            placed.note(Kind.ABOVE_MSS)


def _sequence(placed: PlacedPacket, is_exact: bool) -> None:
    """Place a segment in the sequence space."""
    packet, own = placed.packet, placed.own
    segment = packet.segment
    assert own.isn is not None
    start = placed.relative = unwrap(segment.sequence - own.isn, own.seen.end())
    if segment.flags & SYN:
        if start:
            placed.fault(Tcp.SEQUENCE, "repeated SYN with another sequence number")
            return
        own.seen.put(0, 1, packet.number)
        if segment.length:
            _data(placed, 1)
        return
    if start < 1:
        placed.is_probe = start == 0 and segment.length <= 1
        if not own.is_midway and not placed.is_probe:
            placed.fault(Tcp.SEQUENCE, "sequence number before the first byte")
        return
    if packet.outbound:
        if start > own.seen.end():
            _gap(placed, own.seen.end(), is_exact)
        if start < own.acked - 1 and is_pure_ack(packet):
            text = "sequence number of an ACK is below the acknowledged ones"
            placed.fault(Tcp.SEQUENCE_BEHIND, text)
    if segment.length:
        _data(placed, start)
    if segment.flags & FIN:
        _fin(placed, start + segment.length)


def _gap(placed: PlacedPacket, end: int, is_exact: bool) -> None:
    """Handle a segment sent beyond the end of all captured data."""
    own, start = placed.own, placed.relative
    if is_exact:
        placed.fault(Tcp.SEQUENCE_GAP, f"sequence number leaves out {start - end} bytes")
    elif placed.subflow.is_agreed and start > own.window_end:
        own.leap = end, start, placed.place()
    else:
        own.seen.assume(end, start, placed.place(), "left out")


def _data(placed: PlacedPacket, start: int) -> None:
    """Record payload and compare it with earlier transmissions."""
    packet, own = placed.packet, placed.own
    segment = packet.segment
    end = start + segment.length
    if own.fin is not None and end > own.fin:
        placed.fault(Tcp.AFTER_FIN, "data after the FIN")
    if segment.length == 1 and end == own.seen.end() and own.acked >= end:
        # A keep-alive: a garbage byte below the acknowledgement (RFC 9293, 3.8.4).
        own.twice.add(start, end)
        placed.is_probe = True
        return
    if own.leap is not None and own.leap[1] != start:
        # If data continues there, the capture also lacks the window updates.
        if start > own.leap[1]:
            own.seen.assume(*own.leap, "left out")
        own.leap = None
    own.data_segments += 1
    own.payload_bytes += segment.length
    before = own.seen.put(start, end, packet.number)
    if before:
        own.retransmitted += 1
        for low, high in before:
            own.twice.add(low, high)
    differs = own.content.add(start - 1, segment.payload)
    if differs is not None:
        placed.fault(Tcp.RESENT, f"retransmitted bytes differ at sequence number {differs + 1}")


def _fin(placed: PlacedPacket, end: int) -> None:
    own = placed.own
    if own.fin is not None and own.fin != end:
        placed.fault(Tcp.FIN, "repeated FIN with another sequence number")
    elif own.fin is None and own.seen.end() > end and not own.seen.claims_beyond(end + 1):
        placed.fault(Tcp.FIN_EARLY, "FIN before the end of the data")
    own.fin = end
    for low, high in own.seen.put(end, end + 1, placed.packet.number):
        own.twice.add(low, high)


def _reset(placed: PlacedPacket) -> None:
    """Check that a RST has the number expected by the other end (RFC 9293, 3.5.2)."""
    segment, own, other = placed.packet.segment, placed.own, placed.other
    own.reset = True
    if own.isn is None:
        refuses = segment.flags & ACK and other.isn is not None and not other.is_midway
        if refuses and not other.answered:
            acked = (segment.acknowledgement - (other.isn or 0)) % (1 << 32)
            if acked not in (1, other.seen.end()):
                placed.fault(Tcp.RESET, f"RST acknowledges {acked} of a SYN of 1")
        return
    if segment.flags & ACK and not segment.sequence:
        return
    start = placed.relative = unwrap(segment.sequence - own.isn, own.seen.end())
    if placed.packet.outbound and start > own.seen.end():
        placed.fault(Tcp.RESET, f"RST at {start}, though only {own.seen.end()} was sent")
    elif placed.subflow.is_agreed and own.window_end and placed.subflow.kind == "TCP":
        limit = max(own.window_end, own.seen.end()) + 1
        if start > limit and placed.subflow.unexamined is None:
            placed.fault(Tcp.RESET, f"RST at {start}, outside the window, which ends at {limit}")


def _transmission(placed: PlacedPacket) -> None:
    """TCP-DOOR: check the counters of data segments and of acknowledgements with equal offset."""
    segment, own = placed.packet.segment, placed.own
    number = segment.options.transmission
    assert number is not None
    if segment.length:
        what, last, own.last_transmission = "data segment", own.last_transmission, number
    else:
        what, last = "acknowledgement", None
        if own.last_bare is not None and own.last_bare[0] == segment.acknowledgement:
            last = own.last_bare[1]
        own.last_bare = segment.acknowledgement, number
    wanted = 0 if last is None else (last + 1) % (1 << 16)
    if number != wanted:
        placed.fault(Tcp.DOOR, f"{what} has number {number}, not {wanted}")


def _timestamps(placed: PlacedPacket, is_exact: bool) -> None:
    packet, own, other = placed.packet, placed.own, placed.other
    flags = packet.segment.flags
    found = packet.segment.options.timestamps
    is_agreed = placed.subflow.is_agreed
    if found is None:
        if is_agreed and own.timestamps and not flags & SYN:
            placed.fault(Tcp.TIMESTAMPS_USE, "segment without timestamps")
        return
    if is_agreed and not own.timestamps:
        if not flags & SYN:
            placed.fault(Tcp.TIMESTAMPS_USE, "timestamps that were not agreed on")
        return
    value, echo = found
    if packet.outbound and own.last_value is not None:
        value = unwrap(value, own.last_value)
        if value < own.last_value:
            text = f"timestamp {found[0]} is less than the one before"
            placed.fault(Tcp.TIMESTAMP_BACK, text)
    own.last_value = value
    if own.first_value is None:
        own.first_value = found[0]
    own.values.add(found[0])
    if own.echoed is not None:
        _reached(placed, found[0])
    if not flags & ACK:
        if echo:
            placed.fault(Tcp.TIMESTAMP_ECHO, f"timestamp echo {echo} without ACK")
        return
    if echo in other.values:
        _echo(placed, echo)
    else:
        _unknown_echo(placed, echo, is_exact)


def _echo(placed: PlacedPacket, echo: int) -> None:
    """Check that echoes never decrease."""
    own = placed.own
    if placed.packet.outbound and own.last_echo is not None:
        echo = unwrap(echo, own.last_echo)
        if echo < own.last_echo:
            text = f"timestamp echo {echo % (1 << 32)} is less than the one before"
            placed.fault(Tcp.TIMESTAMP_BACK, text)
    own.last_echo = echo


def _unknown_echo(placed: PlacedPacket, echo: int, is_exact: bool) -> None:
    """Handle an echo of an unknown timestamp: the packet was not captured, or the echo is wrong.

    Timestamps increase, so a value below the first or above a later one was never sent.
    """
    other = placed.other
    if other.last_value is None or other.is_midway:
        return
    near = unwrap(echo, other.last_value)
    if near < other.last_value and other.values.forgot:
        return
    if is_exact or near < unwrap(other.first_value or 0, other.last_value):
        placed.fault(Tcp.TIMESTAMP_ECHO, f"timestamp echo {echo} was never a timestamp")
    elif near < other.last_value:
        placed.note(Kind.ECHOED, format_endpoint(other.endpoint))
        other.values.add(echo)
    elif other.echoed is None:
        other.echoed = echo, placed


def _reached(placed: PlacedPacket, value: int) -> None:
    """Judge an early echo of a timestamp by a timestamp that arrives later."""
    own = placed.own
    assert own.echoed is not None
    echo, earlier = own.echoed
    own.echoed = None
    if unwrap(echo, value) > value:
        text = f"timestamp echo {echo} was never a timestamp"
        earlier.fault(Tcp.TIMESTAMP_ECHO, text, placed.packet.number)
    elif echo != value:
        earlier.note(Kind.ECHOED, format_endpoint(own.endpoint))
        own.values.add(echo)


def _acknowledgement(placed: PlacedPacket, is_exact: bool) -> int | None:
    """Check an acknowledgement; return its relative number, None if it proves nothing."""
    other = placed.other
    assert other.isn is not None
    acked = unwrap(placed.packet.segment.acknowledgement - other.isn, other.acked or 1)
    if acked < 1:
        if not other.is_midway:
            placed.fault(Tcp.ACK, "acknowledges less than the SYN")
        return None
    known = other.seen.end_of_prefix()
    if acked > known:
        if is_exact:
            text = f"acknowledges up to {acked}, but only up to {known} was seen without a gap"
            placed.fault(Tcp.ACK_UNSENT, text)
        elif not other.segments:
            other.acked = max(other.acked, acked)
        else:
            other.seen.assume(known, acked, placed.place(), "acknowledged")
        return None
    if acked < other.acked:
        if placed.packet.outbound:
            text = f"acknowledgement {acked} is less than {other.acked} before"
            placed.fault(Tcp.ACK_BACK, text)
    elif acked > other.acked:
        other.acked = acked
        other.content.forget(acked - 1)
    return acked


def _sack(placed: PlacedPacket, acked: int, is_exact: bool) -> None:
    """Check SACK blocks (RFC 2018); the first may be a D-SACK (RFC 2883)."""
    other, packet = placed.other, placed.packet
    if placed.subflow.is_agreed and not other.sack_permitted:
        placed.fault(Tcp.SACK_USE, "SACK to a host that has not permitted it")
    assert other.isn is not None
    isn = other.isn
    blocks = [
        (unwrap(left - isn, acked), unwrap(right - isn, acked))
        for left, right in packet.segment.options.sack
    ]
    if any(left >= right for left, right in blocks):
        placed.fault(Tcp.SACK, "empty SACK block")
        return
    left, right = blocks[0]
    second = blocks[1] if len(blocks) > 1 else (0, 0)
    if right <= acked or (second[0] <= left and right <= second[1]):
        _duplicate(placed, left, right)
        blocks = blocks[1:]
    for left, right in blocks:
        if left <= acked:
            text = f"SACK block {left}..{right} is not above the acknowledgement {acked}"
            placed.fault(Tcp.SACK, text)
        elif (left, right) not in other.seen:
            if is_exact:
                placed.fault(Tcp.SACK_UNSENT, f"SACK of {left}..{right}, which was not seen")
            elif other.segments:
                other.seen.assume(left, right, placed.place(), "selectively acknowledged")
    blocks.sort()
    if any(left < end for (_, end), (left, _) in pairwise(blocks)):
        placed.fault(Tcp.SACK, "SACK blocks overlap")


def _duplicate(placed: PlacedPacket, left: int, right: int) -> None:
    """Check a D-SACK block."""
    other = placed.other
    if other.is_midway or not other.segments:
        return
    other.seen.repeat(left, right)
    where = f"{left}..{right}"
    if (left, right) not in other.seen:
        placed.fault(Tcp.DSACK, f"D-SACK of {where}, which was not seen")
    elif placed.packet.outbound and (left, right) not in other.twice:
        placed.fault(Tcp.DSACK, f"D-SACK of {where}, which was not seen twice")


def scaled_window(placed: PlacedPacket) -> int:
    """Return the window of a segment in bytes."""
    segment = placed.packet.segment
    return segment.window << (0 if segment.flags & SYN else placed.own.scale or 0)


def _window(placed: PlacedPacket, acked: int) -> None:
    """Check that data is within the window, and that the window does not shrink."""
    segment, own, other = placed.packet.segment, placed.own, placed.other
    end = acked + scaled_window(placed)
    if placed.subflow.kind == "TCP" and placed.subflow.unexamined is None:
        if segment.length and not segment.flags & SYN:
            start = placed.relative
            check_window(placed, start, start + segment.length, own.window_end, Tcp.WINDOW)
        if placed.packet.outbound and shrinks(end, other.window_end, own):
            placed.note(Kind.WINDOW_SHRINKS)
    other.window_end = max(other.window_end, end)


def check_window(placed: PlacedPacket, start: int, end: int, limit: int, rule: Rule) -> None:
    """Check that data is in the window; one byte may probe a closed window (RFC 9293, 3.8.6.1)."""
    if end > limit and (start, end) != (limit, limit + 1):
        placed.fault(rule, f"data up to {end} where the window ends at {limit}")


def shrinks(end: int, before: int, own: Direction) -> bool:
    """Return whether the window's end moves back by more than the rounding of window scaling."""
    return before - end >= 1 << (own.scale or 0)
