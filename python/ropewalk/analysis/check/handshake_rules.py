"""Rules for MP_CAPABLE, MP_JOIN and addresses (RFC 8684, 3.1, 3.2, 3.4 to 3.6)."""

from . import keys
from .connections import (
    INITIATOR,
    RESPONDER,
    Connection,
    Connections,
    PlacedPacket,
    Stream,
    Subflow,
    unexamined,
)
from .findings import Findings
from .notes import Kind
from .packets import (
    ACK,
    RST,
    SYN,
    AddAddr,
    Address,
    Dss,
    MpCapable,
    MpFastclose,
    MpJoin,
    MpTcpRst,
    RemoveAddr,
    address_of,
)
from .rules import Mptcp, Rule

CHECKSUM_REQUIRED, NO_MORE_SUBFLOWS, HMAC_SHA256 = 0x80, 0x20, 0x01


def check(placed: PlacedPacket, is_first: bool, connections: Connections) -> None:
    """Check a segment's options of handshake and addresses.

    `is_first` means that this side has sent only SYN and RST so far.
    """
    packet, subflow = placed.packet, placed.subflow
    found = packet.segment.options
    capable, join = found.of(MpCapable), found.of(MpJoin)
    if packet.has(SYN) and placed.side == RESPONDER:
        _falls_back(placed, capable)
    if subflow.kind == "TCP":
        _plain(placed, join, connections)
        return
    if found.mptcp and not packet.has(SYN):
        placed.own.sent_mptcp = True
    if subflow.kind == "MP_CAPABLE":
        if join:
            placed.fault(Mptcp.JOIN, "MP_JOIN on the first subflow")
        if capable:
            _capable(placed, capable, connections)
        if not packet.has(SYN | RST):
            _first_subflow(placed, is_first)
    else:
        if capable:
            placed.fault(Mptcp.JOIN, "MP_CAPABLE on a joined subflow")
        if join:
            _join(placed, join)
        elif packet.has(SYN):
            placed.fault(Mptcp.JOIN, "SYN-ACK without MP_JOIN")
        if not packet.has(SYN | RST):
            _joined_subflow(placed, is_first)
    _other_options(placed)


def check_end(subflow: Subflow, outbound: set[Address], findings: Findings) -> None:
    """Check that the handshake of a joined subflow was answered, if the capture is exact."""
    initiator, responder = subflow.halves
    sends_here = responder.endpoint[0] in outbound
    if initiator.sent_join_ack and sends_here and not (responder.answered or responder.reset):
        text = "ACK with MP_JOIN never answered"
        findings.add(Mptcp.JOIN, text, connection=subflow.connection.number)


def falls_back(connection: Connection) -> bool:
    """Return whether an end that agreed on MPTCP sends no MPTCP options (RFC 8684, 3.7)."""
    first = connection.subflows[0]
    silent = any(half.answered and not half.sent_mptcp for half in first.halves)
    return first.kind == "MP_CAPABLE" and (silent or connection.fell_back)


def _falls_back(placed: PlacedPacket, capable: MpCapable | None) -> None:
    """Without MP_CAPABLE on both SYNs a connection is plain TCP."""
    subflow, version = placed.subflow, placed.subflow.connection.version
    if capable is not None and version is not None and capable.version > version:
        text = f"SYN-ACK with MP_CAPABLE of version {capable.version}, the SYN of {version}"
        placed.fault(Mptcp.VERSION, text)
    if subflow.kind == "MP_CAPABLE" and (capable is None or capable.version != 1):
        subflow.kind, subflow.connection.is_multipath = "TCP", False
        subflow.unexamined = None if capable is None else unexamined(capable.version)
    elif subflow.kind == "TCP" and subflow.unexamined is None and capable:
        placed.fault(Mptcp.PLAIN, "MP_CAPABLE that the SYN did not offer")


def _plain(placed: PlacedPacket, join: MpJoin | None, connections: Connections) -> None:
    """Check the options on a subflow without MPTCP, or with unexamined MPTCP."""
    subflow, segment = placed.subflow, placed.packet.segment
    if subflow.join and placed.side == RESPONDER:
        _unknown_token(placed, subflow.join, join, connections)
    if segment.options.mptcp and subflow.unexamined is None and not segment.flags & SYN:
        placed.fault(Mptcp.PLAIN, "MPTCP option on plain TCP")


def _unknown_token(
    placed: PlacedPacket, asked: MpJoin, answer: MpJoin | None, connections: Connections
) -> None:
    """Judge an unknown token by the answer to it.

    The token is wrong if the answer's HMAC comes from the keys of a captured connection, or if the
    answer is a RST and the two hosts have a captured connection.
    """
    rule, subflow = Mptcp.JOIN_TOKEN, placed.subflow
    owner = None
    if answer and asked.nonce is not None and answer.nonce is not None:
        owner = connections.joined((asked.nonce, answer.nonce), answer.hmac)
    elif placed.packet.has(RST) and not subflow.halves[INITIATOR].answered:
        rule = Mptcp.JOIN_TOKEN_REFUSED
        owner = connections.between(subflow.halves)
    if owner is not None and asked.token is not None:
        text = f"token {asked.token.hex()} is of no connection, though the keys are known"
        placed.findings.add(rule, text, subflow.syn, owner.number, (placed.packet.number,))


def _capable(placed: PlacedPacket, option: MpCapable, connections: Connections) -> None:
    packet, side, connection = placed.packet, placed.side, placed.subflow.connection
    if option.version != connection.version:
        text = f"MP_CAPABLE of version {option.version}, where {connection.version} is in use"
        placed.fault(Mptcp.VERSION, text)
        return
    if option.flags & ~(CHECKSUM_REQUIRED | NO_MORE_SUBFLOWS) != HMAC_SHA256:
        text = f"MP_CAPABLE with flags {option.flags:#04x}: of B and D to H only H must be 1"
        placed.fault(Mptcp.CAPABLE, text)
    if option.flags & NO_MORE_SUBFLOWS:
        placed.stream.refuses = packet.segment.source
    if packet.has(SYN):
        keys_wanted = side
    elif side == INITIATOR:
        keys_wanted = 2
    else:
        placed.fault(Mptcp.CAPABLE, "MP_CAPABLE of the listener after its SYN-ACK")
        return
    if (option.sender_key is not None) + (option.receiver_key is not None) != keys_wanted:
        text = f"MP_CAPABLE without the {keys_wanted} keys of its place"
        placed.fault(Mptcp.CAPABLE, text)
        return
    wants_checksum = bool(option.flags & CHECKSUM_REQUIRED)
    if packet.has(SYN):
        connection.checksum = connection.checksum or wants_checksum
    elif wants_checksum != connection.checksum:
        text = "MP_CAPABLE confirms another use of checksums than was agreed on"
        placed.fault(Mptcp.CAPABLE_CHECKSUM, text)
    _keys(placed, option, connections)
    if (option.data_length is not None) != bool(packet.segment.length):
        placed.fault(Mptcp.CAPABLE, "MP_CAPABLE has a data length if and only if there is data")


def _keys(placed: PlacedPacket, option: MpCapable, connections: Connections) -> None:
    """Check that a host always sends the same key, and that the listener's key is echoed."""
    connection = placed.subflow.connection
    listener = connection.streams[RESPONDER]
    if option.sender_key is not None:
        known = placed.stream.key
        if known is None:
            connections.learn(connection, placed.side, option.sender_key)
        elif known != option.sender_key:
            text = f"MP_CAPABLE with key {option.sender_key.hex()}, {known.hex()} before"
            placed.fault(Mptcp.CAPABLE_KEY, text)
    if option.receiver_key is None:
        return
    if listener.key is None and placed.other.is_midway:
        # The SYN-ACK was not captured.
        connections.learn(connection, RESPONDER, option.receiver_key)
    elif option.receiver_key != listener.key:
        text = f"MP_CAPABLE returns key {option.receiver_key.hex()}, which is not the listener's"
        placed.fault(Mptcp.CAPABLE_KEY, text)


def _first_subflow(placed: PlacedPacket, is_first: bool) -> None:
    """Check that keys are delivered reliably and confirmed by the listener."""
    packet = placed.packet
    found = packet.segment.options
    if placed.side == INITIATOR:
        if is_first and packet.outbound and not found.of(MpCapable):
            placed.fault(Mptcp.ESTABLISHED, "first segment after the SYN without MP_CAPABLE")
        begins = packet.segment.length and placed.relative == 1
        if begins and not found.of(MpCapable) and not placed.other.sent_data_ack:
            text = "first data without MP_CAPABLE before any DATA_ACK"
            _or_add_addr(placed, placed.peer_stream.sent_add_addr, Mptcp.ESTABLISHED, text)
    elif is_first:
        if placed.peer_stream.key is None:
            text = "segment of the listener before the initiator's key"
            placed.fault(Mptcp.ESTABLISHED, text)
        dss, advertised = found.of(Dss), found.of(AddAddr)
        if dss is None or dss.ack is None:
            text = "first segment after the SYN-ACK without a DATA_ACK"
            has_other = advertised is not None and not advertised.is_echo
            _or_add_addr(placed, has_other, Mptcp.ESTABLISHED, text)


def _or_add_addr(placed: PlacedPacket, has_add_addr: bool, rule: Rule, text: str) -> None:
    """Note an ADD_ADDR in place of the required option: Linux accepts it as proof of the keys."""
    if has_add_addr:
        placed.note(Kind.ADD_ADDR_PROOF)
    else:
        placed.fault(rule, text)


def _join(placed: PlacedPacket, option: MpJoin) -> None:
    packet, side = placed.packet, placed.side
    own, peer, half, other = placed.stream, placed.peer_stream, placed.own, placed.other
    form = (option.token is not None, option.nonce is not None, len(option.hmac))
    if packet.has(SYN):
        if form != ((True, True, 0) if side == INITIATOR else (False, True, 8)):
            placed.fault(Mptcp.JOIN, "MP_JOIN of the wrong form on a SYN")
            return
        if half.nonce not in (None, option.nonce):
            placed.fault(Mptcp.JOIN, "MP_JOIN with another random number on a repeated SYN")
        half.nonce = option.nonce
        assert option.address_id is not None
        _bind(placed, option.address_id, packet.segment.source[0])
        if side == INITIATOR:
            _may_join(placed, option, peer)
            return
    elif side == RESPONDER or form != (False, False, 20):
        placed.fault(Mptcp.JOIN, "MP_JOIN of the wrong form on a segment that is no SYN")
        return
    else:
        half.sent_join_ack = True
    if own.key is None or peer.key is None or half.nonce is None or other.nonce is None:
        placed.fault(Mptcp.JOIN_ORDER, "MP_JOIN before keys and random numbers are known")
        return
    expected = keys.join_hmac(own.key, peer.key, half.nonce, other.nonce)
    if not expected.startswith(option.hmac):
        wanted = expected[: len(option.hmac)].hex()
        placed.fault(Mptcp.JOIN_HMAC, f"MP_JOIN with HMAC {option.hmac.hex()}, not {wanted}")


def _may_join(placed: PlacedPacket, option: MpJoin, peer: Stream) -> None:
    """Check that no subflow precedes a DSS (RFC 8684, 3.1) and that the token is the peer's."""
    segment = placed.packet.segment
    if not peer.sent_dss:
        text = "MP_JOIN before any DSS of the peer"
        _or_add_addr(placed, peer.sent_add_addr, Mptcp.JOIN_ORDER, text)
    if peer.key is not None and option.token != keys.token(peer.key):
        placed.fault(Mptcp.JOIN_TOKEN, "repeated SYN with another token")
    if placed.packet.outbound and segment.source[0] in peer.addresses.values():
        placed.fault(Mptcp.JOIN_TOKEN, "MP_JOIN with the token of its own sender")
    if segment.destination == peer.refuses:
        text = "MP_JOIN to an address and port that take no more subflows"
        placed.fault(Mptcp.CAPABLE_REFUSED, text)


def _joined_subflow(placed: PlacedPacket, is_first: bool) -> None:
    """Check that the initiator authenticates itself, and sends data only after an ACK."""
    packet = placed.packet
    if placed.side == INITIATOR:
        if is_first and packet.outbound and not packet.segment.options.of(MpJoin):
            placed.fault(Mptcp.JOIN_ORDER, "first segment after the SYN without MP_JOIN")
        if packet.segment.length and not placed.other.answered:
            placed.fault(Mptcp.JOIN_ORDER, "data before the ACK with MP_JOIN was acknowledged")
    elif is_first:
        if not placed.other.sent_join_ack:
            text = "segment of the responder before the ACK with MP_JOIN"
            placed.fault(Mptcp.JOIN_ORDER, text)
        if packet.segment.length and packet.outbound:
            text = "data instead of an acknowledgement of the ACK with MP_JOIN"
            placed.fault(Mptcp.JOIN_ORDER, text)


def _bind(placed: PlacedPacket, address_id: int, address: Address) -> None:
    """Bind an address to an identifier, one to one for each host.

    Several addresses look alike behind a NAT, so only the sending host is checked.
    """
    owner = placed.stream
    for known_id, known in owner.addresses.items():
        if (known_id == address_id) != (known == address) and placed.packet.outbound:
            text = f"address {address} has identifier {address_id}, but {known} has {known_id}"
            placed.fault(Mptcp.ADDRESS, text)
            return
    owner.addresses[address_id] = address


def _other_options(placed: PlacedPacket) -> None:
    packet = placed.packet
    own, peer = placed.stream, placed.peer_stream
    for option in packet.segment.options.mptcp:
        if isinstance(option, AddAddr):
            _add_addr(placed, option, own, peer)
        elif isinstance(option, RemoveAddr):
            for address_id in option.address_ids:
                own.addresses.pop(address_id, None)
        elif isinstance(option, MpFastclose):
            if peer.key is not None and option.receiver_key != peer.key:
                text = f"MP_FASTCLOSE with key {option.receiver_key.hex()}, not the receiver's"
                placed.fault(Mptcp.FASTCLOSE, text)
            if not packet.has(ACK | RST):
                placed.fault(Mptcp.FASTCLOSE, "MP_FASTCLOSE on neither ACK nor RST")
        elif isinstance(option, MpTcpRst) and not packet.has(RST):
            placed.fault(Mptcp.RESET, "MP_TCPRST on a segment that is no RST")


def _add_addr(placed: PlacedPacket, option: AddAddr, own: Stream, peer: Stream) -> None:
    what = (option.address_id, option.address, option.port)
    if option.is_echo:
        if what not in peer.advertised:
            text = "echo of an ADD_ADDR that was not seen"
            placed.fault(Mptcp.ADDRESS_ECHO, text)
        return
    own.advertised.add(what)
    own.sent_add_addr = True
    if own.key is None or peer.key is None:
        placed.fault(Mptcp.ADDRESS_ECHO, "ADD_ADDR before both keys are known")
    elif option.hmac != keys.address_hmac(own.key, peer.key, *what):
        text = f"ADD_ADDR with the wrong HMAC {option.hmac.hex()}"
        placed.fault(Mptcp.ADDRESS_HMAC, text)
    if option.port is None:
        _bind(placed, option.address_id, address_of(option.address))
