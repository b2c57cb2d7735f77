"""The MPTCP options of RFC 8684, each as a class with its fields.

Bodies are what follows kind and length. A reserved bit that is set is an error, since
senders must leave it 0.
"""

from dataclasses import dataclass
from typing import TypeVar

LONG, SHORT = 8, 4


class MptcpOptionError(ValueError):
    """An option violates RFC 8684."""


@dataclass(frozen=True, slots=True)
class MpCapable:
    """Section 3.1: keys, and of the first data its length and checksum."""

    version: int
    flags: int
    sender_key: bytes | None = None
    receiver_key: bytes | None = None
    data_length: int | None = None
    checksum: int | None = None

    @property
    def wants_checksum(self) -> bool:
        """Flag A."""
        return bool(self.flags & 0x80)


@dataclass(frozen=True, slots=True)
class MpJoin:
    """Section 3.2: by its length on a SYN, on a SYN-ACK, or on an ACK."""

    backup: bool = False
    address_id: int | None = None
    token: bytes | None = None
    nonce: bytes | None = None
    hmac: bytes = b""


@dataclass(frozen=True, slots=True)
class Mapping:
    """Section 3.3.1: data of the subflow from `subflow`, as data sequence from `number`."""

    number: int
    is_long: bool
    """Whether the data sequence number has 64 bits."""
    subflow: int
    length: int
    checksum: int | None


@dataclass(frozen=True, slots=True)
class Dss:
    """Section 3.3: data acknowledgement, mapping and DATA_FIN."""

    ack: int | None
    ack_is_long: bool
    mapping: Mapping | None
    is_fin: bool


@dataclass(frozen=True, slots=True)
class AddAddr:
    """Section 3.4.1."""

    is_echo: bool
    address_id: int
    address: bytes
    port: int | None
    hmac: bytes


@dataclass(frozen=True, slots=True)
class RemoveAddr:
    """Section 3.4.2."""

    address_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MpPrio:
    """Section 3.3.8."""

    backup: bool


@dataclass(frozen=True, slots=True)
class MpFail:
    """Section 3.7."""

    number: int


@dataclass(frozen=True, slots=True)
class MpFastclose:
    """Section 3.5."""

    receiver_key: bytes


@dataclass(frozen=True, slots=True)
class MpTcpRst:
    """Section 3.6."""

    transient: bool
    reason: int


Option = MpCapable | MpJoin | Dss | AddAddr | RemoveAddr | MpPrio | MpFail | MpFastclose | MpTcpRst
AnyOption = TypeVar("AnyOption", bound=Option)


def parse(body: bytes) -> Option:
    """Return the option of a body.

    Raises
    ------
    MptcpOptionError
        If the subtype is unknown, the length is none of the subtype's, or a bit that
        must be 0 is set.
    """
    subtype = body[0] >> 4 if body else None
    if subtype not in PARSERS:
        raise MptcpOptionError(f"unknown MPTCP subtype {subtype}")
    name, parser = PARSERS[subtype]
    option = parser(body)
    if option is None:
        raise MptcpOptionError(f"{name} of length {len(body) + 2}")
    return option


def _must_be_zero(bits: int, name: str) -> None:
    if bits:
        raise MptcpOptionError(f"reserved bits of {name} are not 0")


def _capable(body: bytes) -> MpCapable | None:
    if len(body) not in (2, 10, 18, 20, 22):
        return None
    version, flags = body[0] & 15, body[1]
    return MpCapable(
        version,
        flags,
        body[2:10] or None,
        body[10:18] or None,
        int.from_bytes(body[18:20], "big") if len(body) >= 20 else None,
        int.from_bytes(body[20:22], "big") if len(body) == 22 else None,
    )


def _join(body: bytes) -> MpJoin | None:
    if len(body) == 22:
        _must_be_zero(body[0] & 15 | body[1], "MP_JOIN")
        return MpJoin(hmac=body[2:])
    if len(body) not in (10, 14):
        return None
    _must_be_zero(body[0] & 14, "MP_JOIN")
    backup = bool(body[0] & 1)
    if len(body) == 10:
        return MpJoin(backup, body[1], token=body[2:6], nonce=body[6:])
    return MpJoin(backup, body[1], nonce=body[10:], hmac=body[2:10])


def _dss(body: bytes) -> Dss | None:
    """Figure 9; the checksum is there if the length says so."""
    if len(body) < 2:
        return None
    flags = body[1]
    _must_be_zero(body[0] & 15 | flags & 0xE0, "DSS")
    has_ack, long_ack, has_mapping, long_number, is_fin = (flags & bit for bit in (1, 2, 4, 8, 16))
    at, ack, mapping = 2, None, None
    if has_ack:
        end = at + (LONG if long_ack else SHORT)
        ack = int.from_bytes(body[at:end], "big")
        at = end
    if has_mapping:
        size = LONG if long_number else SHORT
        left = len(body) - at
        if left not in (size + 6, size + 8):
            return None
        mapping = Mapping(
            int.from_bytes(body[at : at + size], "big"),
            bool(long_number),
            int.from_bytes(body[at + size : at + size + 4], "big"),
            int.from_bytes(body[at + size + 4 : at + size + 6], "big"),
            int.from_bytes(body[-2:], "big") if left == size + 8 else None,
        )
        at = len(body)
    if at != len(body):
        return None
    if is_fin and mapping is None:
        raise MptcpOptionError("DATA_FIN without a mapping")
    return Dss(ack, bool(has_ack and long_ack), mapping, bool(is_fin))


def _add_addr(body: bytes) -> AddAddr | None:
    if len(body) < 2:
        return None
    _must_be_zero(body[0] & 14, "ADD_ADDR")
    is_echo = bool(body[0] & 1)
    hmac_size = 0 if is_echo else 8
    size = len(body) - 2 - hmac_size
    if size not in (4, 6, 16, 18):
        return None
    address_size = size & ~2
    port = body[2 + address_size : 2 + size]
    return AddAddr(
        is_echo,
        body[1],
        body[2 : 2 + address_size],
        int.from_bytes(port, "big") if port else None,
        body[2 + size :],
    )


def _remove_addr(body: bytes) -> RemoveAddr | None:
    if len(body) < 2:
        return None
    _must_be_zero(body[0] & 15, "REMOVE_ADDR")
    return RemoveAddr(tuple(body[1:]))


def _prio(body: bytes) -> MpPrio | None:
    if len(body) != 1:
        return None
    _must_be_zero(body[0] & 14, "MP_PRIO")
    return MpPrio(bool(body[0] & 1))


def _fail(body: bytes) -> MpFail | None:
    if len(body) != 10:
        return None
    _must_be_zero(body[0] & 15 | body[1], "MP_FAIL")
    return MpFail(int.from_bytes(body[2:], "big"))


def _fastclose(body: bytes) -> MpFastclose | None:
    if len(body) != 10:
        return None
    _must_be_zero(body[0] & 15 | body[1], "MP_FASTCLOSE")
    return MpFastclose(body[2:])


def _tcprst(body: bytes) -> MpTcpRst | None:
    if len(body) != 2:
        return None
    _must_be_zero(body[0] & 14, "MP_TCPRST")
    if body[1] > 6:
        raise MptcpOptionError(f"reason {body[1]} of MP_TCPRST")
    return MpTcpRst(bool(body[0] & 1), body[1])


PARSERS = {
    0: ("MP_CAPABLE", _capable),
    1: ("MP_JOIN", _join),
    2: ("DSS", _dss),
    3: ("ADD_ADDR", _add_addr),
    4: ("REMOVE_ADDR", _remove_addr),
    5: ("MP_PRIO", _prio),
    6: ("MP_FAIL", _fail),
    7: ("MP_FASTCLOSE", _fastclose),
    8: ("MP_TCPRST", _tcprst),
}
