"""Tokens and HMACs derived from the keys of an MPTCP connection (RFC 8684, 3.1, 3.2, 3.4.1)."""

import hashlib
import hmac


def token(key: bytes) -> bytes:
    """Return the token of a key: the first 32 bits of its SHA-256."""
    return hashlib.sha256(key).digest()[:4]


def initial_number(key: bytes) -> int:
    """Return the initial data sequence number of a key: the last 64 bits of its SHA-256."""
    return int.from_bytes(hashlib.sha256(key).digest()[-8:], "big")


def join_hmac(own_key: bytes, peer_key: bytes, own_nonce: bytes, peer_nonce: bytes) -> bytes:
    """Return all 32 bytes of the join HMAC; a host sends the first 8 or 20."""
    return hmac.digest(own_key + peer_key, own_nonce + peer_nonce, "sha256")


def address_hmac(
    own_key: bytes, peer_key: bytes, address_id: int, address: bytes, port: int | None
) -> bytes:
    """Return the HMAC in ADD_ADDR: the last 8 bytes; no port counts as 0."""
    message = bytes([address_id]) + address + (port or 0).to_bytes(2, "big")
    return hmac.digest(own_key + peer_key, message, "sha256")[-8:]
