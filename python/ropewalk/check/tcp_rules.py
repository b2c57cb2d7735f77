"""Rules for each TCP connection: RFC 9293, 7323, 2018, 2883.

A rule holds at the sender's host, where all that is sent is seen, and at the
receiver's, where only what arrives is, maybe in another order. What needs the order of
sending is asked only of packets that the capturing host has sent.
"""

from itertools import pairwise

from .connections import (
    INITIATOR,
    RESPONDER,
    Connection,
    Fault,
    Half,
    Packet,
    Subflow,
    is_bare,
    unwrap,
)
from .headers import ACK, FIN, RST, SYN

DEFAULT_MSS = {4: 536, 6: 1220}


def check(packet: Packet, subflow: Subflow, side: int, fault: Fault) -> int | None:
    """Check a segment and record it; return its relative sequence number."""
    own, other = subflow.halves[side], subflow.halves[1 - side]
    own.segments += 1
    subflow.interfaces.add(packet.interface)
    if packet.has(SYN):
        _syn(packet, own, other, side, fault)
    elif not _after_handshake(packet, subflow, side, fault):
        return None
    relative = _sequence(packet, own, fault)
    if packet.has(RST):
        own.reset = True
        return relative
    if not packet.has(SYN):
        own.answered = True
        _options(packet, own, other, fault)
    _timestamps(packet, own, other, fault)
    if packet.outbound:
        _transmission(packet, own, fault)
    if packet.has(ACK) and other.isn is not None:
        acked = _acknowledgement(packet, own, other, fault)
        _sack(packet, own, other, acked, fault)
        if not subflow.connection.is_multipath:
            _window(packet, own, other, acked, fault)
    return relative


def check_end(connection: Connection, fault: Fault) -> None:
    """Check that all of a plain TCP connection has arrived; of MPTCP the data tells."""
    for subflow in connection.subflows:
        if connection.is_multipath or subflow.halves[0].reset or subflow.halves[1].reset:
            continue
        for half in subflow.halves:
            if half.seen.end_of_prefix() < half.seen.end():
                start, end = half.seen.end_of_prefix(), half.seen.end()
                fault(f"bytes from {start} are missing at the end, though {end} was seen")
            if half.fin is not None and half.acked <= half.fin:
                fault("FIN never acknowledged")


def _syn(packet: Packet, own: Half, other: Half, side: int, fault: Fault) -> None:
    segment = packet.segment
    if packet.has(FIN) or packet.has(RST):
        fault("SYN with FIN or RST")
    if packet.has(ACK) != (side == RESPONDER):
        fault("SYN-ACK of the initiator" if side == INITIATOR else "SYN of the responder")
    if segment.length:
        fault("data on a SYN")
    if own.isn is not None:
        if segment.sequence != own.isn:
            fault("repeated SYN with another sequence number")
        return
    offered = segment.options
    own.isn = segment.sequence
    own.mss, own.scale = offered.mss, offered.window_scale
    own.sack_permitted, own.timestamps = offered.sack_permitted, offered.timestamps is not None
    # Windows on SYNs are never scaled (RFC 7323, 2.2).
    other.window_end = max(other.window_end, 1 + segment.window)
    if side == RESPONDER:
        _agree(own, other, fault)


def _agree(responder: Half, initiator: Half, fault: Fault) -> None:
    """Only options of both SYNs are in use, and the responder offers none by itself."""
    if responder.scale is not None and initiator.scale is None:
        fault("window scale that the SYN did not offer")
    if responder.sack_permitted and not initiator.sack_permitted:
        fault("SACK permitted that the SYN did not offer")
    if responder.timestamps and not initiator.timestamps:
        fault("timestamps that the SYN did not offer")
    if responder.scale is None or initiator.scale is None:
        responder.scale = initiator.scale = None
    both = responder.sack_permitted and initiator.sack_permitted
    responder.sack_permitted = initiator.sack_permitted = both
    both = responder.timestamps and initiator.timestamps
    responder.timestamps = initiator.timestamps = both


def _after_handshake(packet: Packet, subflow: Subflow, side: int, fault: Fault) -> bool:
    """Whether the handshake allows a segment that is no SYN."""
    if packet.has(RST):
        return subflow.halves[side].isn is not None
    if not packet.has(ACK):
        fault("segment without ACK after the SYN")
    if subflow.halves[RESPONDER].isn is None:
        fault("segment before the SYN-ACK")
        return False
    if side == RESPONDER and not subflow.halves[INITIATOR].answered:
        fault("segment of the responder before the initiator's ACK")
    return True


def _options(packet: Packet, own: Half, other: Half, fault: Fault) -> None:
    segment, found = packet.segment, packet.segment.options
    if found.mss is not None:
        fault("MSS on a segment that is no SYN")
    if found.window_scale is not None:
        fault("window scale on a segment that is no SYN")
    if found.sack_permitted:
        fault("SACK permitted on a segment that is no SYN")
    # RFC 9293, 3.7.1: options take their room from the MSS.
    mss = DEFAULT_MSS[own.endpoint[0].version] if other.mss is None else other.mss
    # One that a device is to finish it may cut, too.
    if segment.length + found.length > mss and segment.length and not segment.is_offloaded:
        fault(f"{segment.length} bytes and {found.length} of options exceed the MSS of {mss}")


def _sequence(packet: Packet, own: Half, fault: Fault) -> int:
    """Place a segment in the sequence space; return its relative number."""
    segment = packet.segment
    assert own.isn is not None
    start = unwrap(segment.sequence - own.isn, own.seen.end())
    if packet.has(SYN):
        own.seen.add(start, start + 1)
        return start
    if start < 1:
        fault("sequence number before the first byte")
        return start
    if packet.outbound:
        if start > own.seen.end():
            fault(f"sequence number leaves out {start - own.seen.end()} bytes")
        if is_bare(packet) and start < own.acked - 1:
            fault("sequence number of an ACK is behind what was acknowledged")
    if not packet.has(RST):
        _note(packet, own, start, fault)
    return start


def _note(packet: Packet, own: Half, start: int, fault: Fault) -> None:
    """Record payload and FIN."""
    segment = packet.segment
    end = start + segment.length
    if segment.length:
        if own.fin is not None and end > own.fin:
            fault("data after the FIN")
        own.data_segments += 1
        own.payload_bytes += segment.length
        before = own.seen.add(start, end)
        own.retransmitted += bool(before)
        for low, high in before:
            own.twice.add(low, high)
        differs = own.content.add(start - 1, segment.payload)
        if differs is not None:
            fault(f"re-sent bytes differ at sequence number {differs + 1}")
    if packet.has(FIN):
        if own.fin is not None and own.fin != end:
            fault("repeated FIN with another sequence number")
        elif own.fin is None and own.seen.end() > end:
            fault("FIN before the end of the data")
        own.fin = end
        for low, high in own.seen.add(end, end + 1):
            own.twice.add(low, high)


def _transmission(packet: Packet, own: Half, fault: Fault) -> None:
    """TCP-DOOR: data segments are counted, and acknowledgements of the same offset."""
    segment = packet.segment
    number = segment.options.transmission
    if number is None:
        return
    if segment.length:
        what, last, own.last_transmission = "data segment", own.last_transmission, number
    else:
        what, last = "acknowledgement", None
        if own.last_bare is not None and own.last_bare[0] == segment.acknowledgement:
            last = own.last_bare[1]
        own.last_bare = segment.acknowledgement, number
    wanted = 0 if last is None else (last + 1) % (1 << 16)
    if number != wanted:
        fault(f"{what} has number {number}, not {wanted}")


def _timestamps(packet: Packet, own: Half, other: Half, fault: Fault) -> None:
    found = packet.segment.options.timestamps
    if found is None:
        if own.timestamps and not packet.has(SYN):
            fault("segment without timestamps")
        return
    if not own.timestamps:
        if not packet.has(SYN):
            fault("timestamps that were not agreed on")
        return
    value, echo = found
    if packet.outbound and own.last_value is not None:
        value = unwrap(value, own.last_value)
        if value < own.last_value:
            fault(f"timestamp {found[0]} is less than the one before")
    own.last_value = value
    own.values.add(found[0])
    if not packet.has(ACK):
        if echo:
            fault(f"timestamp echo {echo} without ACK")
        return
    if echo not in other.values:
        fault(f"timestamp echo {echo} was never a timestamp")
        return
    if packet.outbound and own.last_echo is not None:
        echo = unwrap(echo, own.last_echo)
        if echo < own.last_echo:
            fault(f"timestamp echo {found[1]} is less than the one before")
    own.last_echo = echo


def _acknowledgement(packet: Packet, own: Half, other: Half, fault: Fault) -> int:
    """Check an acknowledgement; return it as a relative number of the other end's."""
    assert other.isn is not None
    known = other.seen.end_of_prefix()
    acked = unwrap(packet.segment.acknowledgement - other.isn, other.acked or 1)
    if acked < 1:
        fault("acknowledges less than the SYN")
    elif acked > known:
        fault(f"acknowledges up to {acked}, but only up to {known} was seen without a gap")
    else:
        if packet.outbound and acked < other.acked:
            fault(f"acknowledgement {acked} is less than {other.acked} before")
        other.acked = max(other.acked, acked)
    return acked


def _sack(packet: Packet, own: Half, other: Half, acked: int, fault: Fault) -> None:
    """RFC 2018; the first block may tell of bytes that came again (RFC 2883)."""
    found = packet.segment.options.sack
    if not found:
        return
    if not own.sack_permitted:
        fault("SACK that was not agreed on")
    assert other.isn is not None
    blocks = [tuple(unwrap(edge - other.isn, acked) for edge in block) for block in found]
    if any(left >= right for left, right in blocks):
        fault("empty SACK block")
        return
    left, right = blocks[0]
    second = blocks[1] if len(blocks) > 1 else (0, 0)
    if right <= acked or (second[0] <= left and right <= second[1]):
        where = f"{left}..{right}"
        if (left, right) not in other.seen:
            fault(f"D-SACK of {where}, which was not seen")
        elif packet.outbound and (left, right) not in other.twice:
            fault(f"D-SACK of {where}, which was not seen twice")
        blocks = blocks[1:]
    for left, right in blocks:
        if left <= acked:
            fault(f"SACK block {left}..{right} is not above the acknowledgement {acked}")
        elif (left, right) not in other.seen:
            fault(f"SACK of {left}..{right}, which was not seen")
    blocks.sort()
    if any(left < end for (_, end), (left, _) in pairwise(blocks)):
        fault("SACK blocks overlap")


def scaled_window(packet: Packet, own: Half) -> int:
    """Return the window that a segment tells, in bytes."""
    return packet.segment.window << (0 if packet.has(SYN) else own.scale or 0)


def _window(packet: Packet, own: Half, other: Half, acked: int, fault: Fault) -> None:
    """Check that data stays in the window, and that the window's end does not move back."""
    if packet.segment.length and not packet.has(SYN):
        assert own.isn is not None
        start = unwrap(packet.segment.sequence - own.isn, own.seen.end())
        check_window(start, start + packet.segment.length, own.window_end, fault)
    end = acked + scaled_window(packet, own)
    if packet.outbound and shrinks(end, other.window_end, own):
        fault(f"the window's end moves back from {other.window_end} to {end}")
    other.window_end = max(other.window_end, end)


def check_window(start: int, end: int, limit: int, fault: Fault) -> None:
    """Check that data is in the window; one byte may probe a closed one (RFC 9293, 3.8.6.1)."""
    if end > limit and (start, end) != (limit, limit + 1):
        fault(f"data up to {end} where the window ends at {limit}")


def shrinks(end: int, before: int, own: Half) -> bool:
    """Whether a window's end moves back by more than what scaling cannot express."""
    return before - end >= 1 << (own.scale or 0)
