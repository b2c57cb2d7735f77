"""Damage is reported, and never makes the checks themselves fail."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder import pcapng, written
from changes import checked
from conversations import encapsulated, mptcp, plain_tcp
from ropewalk.analysis import check

MADE = {
    "TCP": plain_tcp(),
    "MPTCP": mptcp(),
    "MPTCP with checksums": mptcp(with_checksum=True),
    "in UDP": encapsulated(mptcp()),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damaged")


@given(name=st.sampled_from(sorted(MADE)), number=st.integers(0), bit=st.integers(0))
def test_any_flipped_bit_is_reported(folder, name, number, bit):
    packets = MADE[name]
    number %= len(packets)
    data = bytearray(written(packets[number]))
    data[bit // 8 % len(data)] ^= 1 << bit % 8
    packets = [
        *packets[:number],
        packets[number] | {"damaged": bytes(data)},
        *packets[number + 1 :],
    ]
    assert checked(folder, packets, encapsulated=name == "in UDP").violations != []


@given(name=st.sampled_from(sorted(MADE)), seed=st.integers(0, 10**9))
def test_a_damaged_file_is_checked_to_its_end(folder, name, seed):
    chance = random.Random(seed)
    content = bytearray(pcapng(MADE[name], ["dsl", "lte"]))
    for _ in range(chance.choice([1, 3, 30])):
        content[chance.randrange(len(content))] = chance.randrange(256)
    path = folder / "damaged.pcapng"
    path.write_bytes(content[: chance.randrange(len(content)) if seed % 2 else len(content)])
    # A file damaged before its first packet may not be a capture at all.
    with suppress(check.PacketFileError):
        check.capture(path, encapsulated=name == "in UDP")


@given(name=st.sampled_from(sorted(MADE)), seed=st.integers(0, 10**9))
def test_packets_of_wrong_numbers_are_checked_to_the_end(folder, name, seed):
    chance = random.Random(seed)
    packets = [dict(packet) for packet in MADE[name]]
    for _ in range(chance.choice([1, 3, 30])):
        packet = chance.choice(packets)
        field = chance.choice(["seq", "ack", "window", "flags", "options", "payload"])
        if field == "flags":
            packet["flags"] = "".join(chance.sample("FSRPA", chance.randrange(6)))
        elif field in ("options", "payload"):
            packet[field] = chance.choice(packets)[field]
        else:
            packet[field] = chance.randrange(1 << chance.choice([4, 16]))
    report = checked(folder, packets, encapsulated=name == "in UDP")
    assert report.packets == len(packets)
