"""Rules for captures: clause, severity, and required properties of the capture."""

from dataclasses import dataclass
from enum import Flag, IntEnum, auto


class Severity(IntEnum):
    """Severity of a broken rule."""

    FORM = 1
    """The peer ignores it or works around it."""
    PROTOCOL = 2
    """The connection may stall, slow down or end."""
    DATA = 3
    """An application may get wrong bytes, or loses some."""


class Needs(Flag):
    """Properties of a capture that a rule requires."""

    NOTHING = 0
    ORDER = auto()
    """Packets are in the order in which the host sent and received them."""
    WHOLE = auto()
    """No packet of the connection is missing."""
    SUBFLOWS = auto()
    """All subflows of the connection are captured."""
    MPTCP = auto()
    """The connection does not fall back to plain TCP."""


ANY, ORDER, WHOLE = Needs.NOTHING, Needs.ORDER, Needs.WHOLE
ALL = ORDER | WHOLE
MPTCP, EVERY = Needs.MPTCP, ALL | Needs.SUBFLOWS
FORM, PROTOCOL, DATA = Severity.FORM, Severity.PROTOCOL, Severity.DATA


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule."""

    name: str
    clause: str
    severity: Severity
    needs: Needs = ANY


def header(clause: str) -> Rule:
    """Return the rule for a malformed header."""
    return Rule("header", clause, PROTOCOL)


class Tcp:
    """Rules for each TCP connection."""

    CHECKSUM = Rule("tcp-checksum", "RFC 9293, 3.1", DATA)
    IP_CHECKSUM = Rule("ip-checksum", "RFC 791, 3.1", PROTOCOL)
    UDP_CHECKSUM = Rule("udp-checksum", "RFC 768", DATA)
    SYN_FLAGS = Rule("tcp-syn-flags", "RFC 9293, 3.5", FORM)
    HANDSHAKE = Rule("tcp-handshake", "RFC 9293, 3.5", PROTOCOL, ALL)
    MISSING_ACK = Rule("tcp-missing-ack", "RFC 9293, 3.1", PROTOCOL)
    MSS_PLACE = Rule("tcp-mss-place", "RFC 9293, 3.2", FORM)
    SCALE_PLACE = Rule("tcp-scale-place", "RFC 7323, 2.2", FORM)
    SACK_PERMITTED_PLACE = Rule("tcp-sack-permitted-place", "RFC 2018, 2", FORM)
    SCALE_OFFER = Rule("tcp-scale-offer", "RFC 7323, 2.2", PROTOCOL, WHOLE)
    TIMESTAMPS_OFFER = Rule("tcp-timestamps-offer", "RFC 7323, 3.2", PROTOCOL, WHOLE)
    MSS = Rule("tcp-mss", "RFC 9293, 3.7.1", PROTOCOL)
    SEQUENCE = Rule("tcp-sequence", "RFC 9293, 3.4", PROTOCOL)
    SEQUENCE_GAP = Rule("tcp-sequence-gap", "RFC 9293, 3.4", PROTOCOL, ALL)
    SEQUENCE_BEHIND = Rule("tcp-sequence-behind", "RFC 9293, 3.4", PROTOCOL, ORDER)
    RESENT = Rule("tcp-resent", "RFC 9293, 3.4", DATA)
    AFTER_FIN = Rule("tcp-after-fin", "RFC 9293, 3.6", PROTOCOL)
    FIN = Rule("tcp-fin", "RFC 9293, 3.6", PROTOCOL)
    FIN_EARLY = Rule("tcp-fin-early", "RFC 9293, 3.6", PROTOCOL, WHOLE)
    RESET = Rule("tcp-reset", "RFC 9293, 3.5.2", PROTOCOL, ALL)
    ACK = Rule("tcp-ack", "RFC 9293, 3.4", PROTOCOL)
    ACK_UNSENT = Rule("tcp-ack-unsent", "RFC 9293, 3.4", DATA, ALL)
    BEHIND_FIN = Rule("tcp-behind-fin", "RFC 9293, 3.6", DATA)
    ACK_BACK = Rule("tcp-ack-back", "RFC 9293, 3.4", PROTOCOL, ORDER)
    SACK_USE = Rule("tcp-sack-use", "RFC 2018, 2", PROTOCOL)
    SACK = Rule("tcp-sack", "RFC 2018, 4", PROTOCOL)
    SACK_UNSENT = Rule("tcp-sack-unsent", "RFC 2018, 4", DATA, ALL)
    DSACK = Rule("tcp-dsack", "RFC 2883, 4", FORM, ALL)
    WINDOW = Rule("tcp-window", "RFC 9293, 3.8.6", PROTOCOL, ALL)
    TIMESTAMPS_USE = Rule("tcp-timestamps-use", "RFC 7323, 3.2", PROTOCOL)
    TIMESTAMP_BACK = Rule("tcp-timestamp-back", "RFC 7323, 5.4", PROTOCOL, ORDER)
    TIMESTAMP_ECHO = Rule("tcp-timestamp-echo", "RFC 7323, 3.2", PROTOCOL, ORDER)
    MISSING = Rule("tcp-missing", "RFC 9293, 3.8", PROTOCOL)
    DOOR = Rule("tcp-door", "TCP-DOOR (Wang and Zhang 2002)", FORM, ALL)
    PATTERN = Rule("pattern", "the pattern of Ropewalk's runs", DATA)
    CAPTURE = Rule("capture", "option --exact", FORM)


class Mptcp:
    """Rules of MPTCP version 1."""

    VERSION = Rule("mptcp-version", "RFC 8684, 3.1", PROTOCOL)
    CAPABLE = Rule("mptcp-capable", "RFC 8684, 3.1", PROTOCOL)
    CAPABLE_CHECKSUM = Rule("mptcp-capable-checksum", "RFC 8684, 3.1", PROTOCOL)
    CAPABLE_REFUSED = Rule("mptcp-capable-refused", "RFC 8684, 3.1", PROTOCOL)
    CAPABLE_KEY = Rule("mptcp-capable-key", "RFC 8684, 3.1", PROTOCOL)
    ESTABLISHED = Rule("mptcp-established", "RFC 8684, 3.1", PROTOCOL, ALL | MPTCP)
    PLAIN = Rule("mptcp-plain", "RFC 8684, 3.1", PROTOCOL, WHOLE)
    JOIN = Rule("mptcp-join", "RFC 8684, 3.2", PROTOCOL)
    JOIN_ORDER = Rule("mptcp-join-order", "RFC 8684, 3.2", PROTOCOL, EVERY)
    JOIN_TOKEN = Rule("mptcp-join-token", "RFC 8684, 3.2", PROTOCOL)
    JOIN_TOKEN_REFUSED = Rule("mptcp-join-token-refused", "RFC 8684, 3.2", PROTOCOL, EVERY)
    JOIN_HMAC = Rule("mptcp-join-hmac", "RFC 8684, 3.2", PROTOCOL)
    MAPPING = Rule("mptcp-mapping", "RFC 8684, 3.3.1", DATA)
    UNMAPPED = Rule("mptcp-unmapped", "RFC 8684, 3.3.1", DATA, WHOLE | MPTCP)
    CHECKSUM = Rule("mptcp-checksum", "RFC 8684, 3.3.1", DATA)
    CHECKSUM_USE = Rule("mptcp-checksum-use", "RFC 8684, 3.3.1", PROTOCOL)
    RESENT = Rule("mptcp-resent", "RFC 8684, 3.3.1", DATA)
    ACK = Rule("mptcp-ack", "RFC 8684, 3.3.2", PROTOCOL)
    ACK_MISSING = Rule("mptcp-ack-missing", "RFC 8684, 3.3.2", PROTOCOL, ALL | MPTCP)
    ACK_UNSENT = Rule("mptcp-ack-unsent", "RFC 8684, 3.3.2", DATA, EVERY)
    BEHIND_FIN = Rule("mptcp-behind-fin", "RFC 8684, 3.3.3", DATA)
    UNKNOWN_KEY = Rule("mptcp-unknown-key", "RFC 8684, 3.1", PROTOCOL, WHOLE | MPTCP)
    ACK_BACK = Rule("mptcp-ack-back", "RFC 8684, 3.3.2", PROTOCOL, ORDER)
    ACK_WIDTH = Rule("mptcp-ack-width", "RFC 8684, 3.3.2", PROTOCOL, EVERY)
    DATA_FIN = Rule("mptcp-data-fin", "RFC 8684, 3.3.3", PROTOCOL)
    AFTER_FIN = Rule("mptcp-after-fin", "RFC 8684, 3.3.3", PROTOCOL)
    MISSING = Rule("mptcp-missing", "RFC 8684, 3.3.3", PROTOCOL)
    WINDOW = Rule("mptcp-window", "RFC 8684, 3.3.4", PROTOCOL, EVERY)
    ADDRESS = Rule("mptcp-address", "RFC 8684, 3.4.1", PROTOCOL)
    ADDRESS_HMAC = Rule("mptcp-address-hmac", "RFC 8684, 3.4.1", PROTOCOL)
    ADDRESS_ECHO = Rule("mptcp-address-echo", "RFC 8684, 3.4.1", PROTOCOL, EVERY)
    FASTCLOSE = Rule("mptcp-fastclose", "RFC 8684, 3.5", PROTOCOL)
    FALLBACK = Rule("mptcp-fallback", "RFC 8684, 3.7", PROTOCOL, WHOLE)
    RESET = Rule("mptcp-reset", "RFC 8684, 3.6", FORM)
