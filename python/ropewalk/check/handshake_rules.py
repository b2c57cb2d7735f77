"""Rules for MP_CAPABLE, MP_JOIN and addresses: RFC 8684, 3.1, 3.2, 3.4 to 3.6."""

from . import keys
from .connections import (
    INITIATOR,
    RESPONDER,
    Connections,
    Fault,
    Packet,
    Placed,
    Stream,
    Subflow,
)
from .headers import ACK, RST, SYN, Address, address_of
from .mptcp_options import (
    AddAddr,
    Dss,
    MpCapable,
    MpFastclose,
    MpJoin,
    MpTcpRst,
    RemoveAddr,
)

CHECKSUM_REQUIRED, NO_MORE_SUBFLOWS, HMAC_SHA256 = 0x80, 0x20, 0x01


def check(placed: Placed, is_first: bool, connections: Connections) -> None:
    """Check the options of a segment that concern the handshake and addresses.

    `is_first` tells whether the side has sent nothing but SYN and RST before.
    """
    packet, subflow, fault = placed.packet, placed.subflow, placed.fault
    capable = packet.segment.options.of(MpCapable)
    join = packet.segment.options.of(MpJoin)
    if packet.has(SYN) and placed.side == RESPONDER:
        _falls_back(subflow, capable, fault)
    if subflow.kind == "TCP":
        if packet.segment.options.mptcp:
            fault("MPTCP option on plain TCP")
        return
    if subflow.kind == "MP_CAPABLE":
        if join:
            fault("MP_JOIN on the first subflow")
        if capable:
            _capable(placed, capable, connections)
        if not packet.has(SYN | RST):
            _first_subflow(placed, is_first)
    else:
        if capable:
            fault("MP_CAPABLE on a joined subflow")
        if join:
            _join(placed, join)
        elif packet.has(SYN):
            fault("SYN-ACK without MP_JOIN")
        if not packet.has(SYN | RST):
            _joined_subflow(placed, is_first)
    _other_options(placed)


def check_end(subflow: Subflow, outbound: set[Address], fault: Fault) -> None:
    """Check that the handshake of a joined subflow was answered."""
    initiator, responder = subflow.halves
    sends_here = responder.endpoint[0] in outbound
    if initiator.sent_join_ack and sends_here and not (responder.answered or responder.reset):
        fault("ACK with MP_JOIN never answered")


def _falls_back(subflow: Subflow, capable: MpCapable | None, fault: Fault) -> None:
    """Without MP_CAPABLE on both SYNs a connection is plain TCP."""
    if subflow.kind == "MP_CAPABLE" and not capable:
        subflow.kind, subflow.connection.is_multipath = "TCP", False
    elif subflow.kind == "TCP" and capable:
        fault("MP_CAPABLE that the SYN did not offer")


def _capable(placed: Placed, option: MpCapable, connections: Connections) -> None:
    packet, side, fault = placed.packet, placed.side, placed.fault
    if option.version != 1:
        fault(f"MP_CAPABLE of version {option.version}")
    if option.flags & ~(CHECKSUM_REQUIRED | NO_MORE_SUBFLOWS) != HMAC_SHA256:
        fault(f"MP_CAPABLE with flags {option.flags:#04x}: of B and D to H only H must be 1")
    connection = placed.subflow.connection
    if option.flags & NO_MORE_SUBFLOWS:
        placed.stream.refuses = packet.segment.source
    if packet.has(SYN):
        keys_wanted = side
    elif side == INITIATOR:
        keys_wanted = 2
    else:
        fault("MP_CAPABLE of the listener after its SYN-ACK")
        return
    if (option.sender_key is not None) + (option.receiver_key is not None) != keys_wanted:
        fault(f"MP_CAPABLE without the {keys_wanted} keys of its place")
        return
    if packet.has(SYN):
        connection.checksum |= option.wants_checksum
    elif option.wants_checksum != connection.checksum:
        fault("MP_CAPABLE confirms another use of checksums than was agreed on")
    _keys(placed, option, connections)
    if (option.data_length is not None) != bool(packet.segment.length):
        fault("MP_CAPABLE has a data length if and only if there is data")


def _keys(placed: Placed, option: MpCapable, connections: Connections) -> None:
    """A host sends the same key each time, and the listener's key is echoed."""
    connection, fault = placed.subflow.connection, placed.fault
    listener = connection.streams[RESPONDER]
    if option.sender_key is not None:
        known = placed.stream.key
        if known is None:
            connections.learn(connection, placed.side, option.sender_key)
        elif known != option.sender_key:
            fault(f"MP_CAPABLE with key {option.sender_key.hex()}, {known.hex()} before")
    if option.receiver_key is not None and option.receiver_key != listener.key:
        fault(f"MP_CAPABLE returns key {option.receiver_key.hex()}, which is not the listener's")


def _first_subflow(placed: Placed, is_first: bool) -> None:
    """Keys are delivered reliably, and the listener confirms them."""
    packet, fault = placed.packet, placed.fault
    found = packet.segment.options
    if placed.side == INITIATOR:
        if is_first and packet.outbound and not found.of(MpCapable):
            fault("first segment after the SYN without MP_CAPABLE")
        begins = packet.segment.length and placed.relative == 1
        if begins and not found.of(MpCapable) and not placed.other_half.sent_data_ack:
            fault("first data without MP_CAPABLE before any DATA_ACK")
    elif is_first:
        if placed.peer_stream.key is None:
            fault("segment of the listener before the initiator's key")
        dss = found.of(Dss)
        if dss is None or dss.ack is None:
            fault("first segment after the SYN-ACK without a DATA_ACK")


def _join(placed: Placed, option: MpJoin) -> None:
    packet, side, fault = placed.packet, placed.side, placed.fault
    own, peer, half, other = placed.stream, placed.peer_stream, placed.half, placed.other_half
    form = (option.token is not None, option.nonce is not None, len(option.hmac))
    if packet.has(SYN):
        if form != ((True, True, 0) if side == INITIATOR else (False, True, 8)):
            fault("MP_JOIN of the wrong form on a SYN")
            return
        if half.nonce not in (None, option.nonce):
            fault("MP_JOIN with another random number on a repeated SYN")
        half.nonce = option.nonce
        assert option.address_id is not None
        _bind(own, option.address_id, packet.segment.source[0], fault)
        if side == INITIATOR:
            _may_join(packet, option, peer, fault)
            return
    elif side == RESPONDER or form != (False, False, 20):
        fault("MP_JOIN of the wrong form on a segment that is no SYN")
        return
    else:
        half.sent_join_ack = True
    if own.key is None or peer.key is None or half.nonce is None or other.nonce is None:
        fault("MP_JOIN before keys and random numbers are known")
        return
    expected = keys.join_hmac(own.key, peer.key, half.nonce, other.nonce)
    if not expected.startswith(option.hmac):
        fault(f"MP_JOIN with HMAC {option.hmac.hex()}, not {expected[: len(option.hmac)].hex()}")


def _may_join(packet: Packet, option: MpJoin, peer: Stream, fault: Fault) -> None:
    """No subflow before a DSS has come (RFC 8684, 3.1); the token is the peer's."""
    if not peer.sent_dss:
        fault("MP_JOIN before any DSS of the peer")
    if peer.key is not None and option.token != keys.token(peer.key):
        fault("repeated SYN with another token")
    if packet.segment.source[0] in peer.addresses.values():
        fault("MP_JOIN with the token of its own sender")
    if packet.segment.destination == peer.refuses:
        fault("MP_JOIN to an address and port that take no more subflows")


def _joined_subflow(placed: Placed, is_first: bool) -> None:
    """The initiator authenticates itself, and sends no data before that is acknowledged."""
    packet, fault = placed.packet, placed.fault
    if placed.side == INITIATOR:
        if is_first and packet.outbound and not packet.segment.options.of(MpJoin):
            fault("first segment after the SYN without MP_JOIN")
        if packet.segment.length and not placed.other_half.answered:
            fault("data before the ACK with MP_JOIN was acknowledged")
    elif is_first:
        if not placed.other_half.sent_join_ack:
            fault("segment of the responder before the ACK with MP_JOIN")
        if packet.segment.length and packet.outbound:
            fault("data where the ACK with MP_JOIN is to be acknowledged")


def _bind(owner: Stream, address_id: int, address: Address, fault: Fault) -> None:
    """Note an address and its identifier: each has only one of the other, per host."""
    for known_id, known in owner.addresses.items():
        if (known_id == address_id) != (known == address):
            fault(f"address {address} has identifier {address_id}, but {known} has {known_id}")
            return
    owner.addresses[address_id] = address


def _other_options(placed: Placed) -> None:
    packet, fault = placed.packet, placed.fault
    own, peer = placed.stream, placed.peer_stream
    for option in packet.segment.options.mptcp:
        if isinstance(option, AddAddr):
            _add_addr(option, own, peer, fault)
        elif isinstance(option, RemoveAddr):
            for address_id in option.address_ids:
                own.addresses.pop(address_id, None)
        elif isinstance(option, MpFastclose):
            if option.receiver_key != peer.key:
                fault(f"MP_FASTCLOSE with key {option.receiver_key.hex()}, not the receiver's")
            if not packet.has(ACK | RST):
                fault("MP_FASTCLOSE on neither ACK nor RST")
        elif isinstance(option, MpTcpRst) and not packet.has(RST):
            fault("MP_TCPRST on a segment that is no RST")


def _add_addr(option: AddAddr, own: Stream, peer: Stream, fault: Fault) -> None:
    what = (option.address_id, option.address, option.port)
    if option.is_echo:
        if what not in peer.advertised:
            fault("echo of an ADD_ADDR that was not seen")
        return
    own.advertised.add(what)
    if own.key is None or peer.key is None:
        fault("ADD_ADDR before both keys are known")
    elif option.hmac != keys.address_hmac(own.key, peer.key, *what):
        fault(f"ADD_ADDR with the wrong HMAC {option.hmac.hex()}")
    _bind(own, option.address_id, address_of(option.address), fault)
