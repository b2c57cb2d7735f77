"""Tokens, initial numbers and HMACs are equal to Linux's."""

import json
from ipaddress import ip_address
from pathlib import Path

import pytest

from ropewalk.analysis.check import keys

VECTORS = json.loads(
    (Path(__file__).parents[1] / "reference/mptcp-handshake-vectors.json").read_text()
)
CAPABLE = VECTORS["mp_capable"]
KEY_A, KEY_B = bytes.fromhex(CAPABLE["key_a"]), bytes.fromhex(CAPABLE["key_b"])


@pytest.mark.parametrize("side", "ab")
def test_token_and_initial_number_are_of_the_key(side):
    key = bytes.fromhex(CAPABLE[f"key_{side}"])
    assert keys.token(key).hex() == CAPABLE[f"token_{side}"]
    assert keys.initial_number(key) == int(CAPABLE[f"idsn_{side}"], 16)


@pytest.mark.parametrize("join", VECTORS["joins"])
def test_hosts_join_by_their_hmacs(join):
    nonce_a, nonce_b = bytes.fromhex(join["rand_a"]), bytes.fromhex(join["rand_b"])
    assert keys.token(KEY_B).hex() == join["token"]
    of_b = keys.join_hmac(KEY_B, KEY_A, nonce_b, nonce_a)
    assert of_b[:8].hex() == join["hmac_b64"]
    of_a = keys.join_hmac(KEY_A, KEY_B, nonce_a, nonce_b)
    assert of_a[:20].hex() == join["hmac_a160"]


@pytest.mark.parametrize("advertised", VECTORS["add_addr"])
def test_addresses_are_advertised_with_their_hmac(advertised):
    ordered = (KEY_A, KEY_B) if advertised["frm"] == "A" else (KEY_B, KEY_A)
    address = ip_address(advertised["ipv4"]).packed
    for port in {advertised["port"], advertised["port"] or None}:
        found = keys.address_hmac(*ordered, advertised["addr_id"], address, port)
        assert found.hex() == advertised["hmac64"]


@pytest.mark.parametrize("vector", VECTORS["hmac_sha256"])
def test_the_hmac_takes_keys_and_random_numbers_in_order(vector):
    # Both are text here, of two halves.
    key, message = vector["key_ascii"].encode(), vector["message_hex"].encode()
    found = keys.join_hmac(key[:8], key[8:], message[:4], message[4:])
    assert found.hex().startswith(vector["first_bytes"])
