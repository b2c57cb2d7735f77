"""`ropewalk.connect` with a scripted proxy."""

import errno
import socket
import threading
from contextlib import contextmanager, suppress

import pytest

import ropewalk

GREETING = b"\x05\x01\x00"
ANY = b"\x01\x00\x00\x00\x00\x00\x00"


@contextmanager
def proxy(*exchanges):
    """Listen, expect the first of each pair and answer with the second, then echo."""
    heard = []
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)

    def serve():
        with listener, listener.accept()[0] as connection:
            connection.settimeout(10)
            for expected, answer in exchanges:
                got = b""
                while len(got) < len(expected) and (piece := connection.recv(4096)):
                    got += piece
                heard.append(got)
                connection.sendall(answer)
            # A rejected client may disconnect before it has read everything.
            with suppress(ConnectionResetError):
                while piece := connection.recv(4096):
                    connection.sendall(piece)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname(), heard
    finally:
        thread.join(20)
        assert not thread.is_alive()


def request(target):
    return b"\x05\x01\x00" + target


def test_names_go_to_the_far_end_and_bytes_come_back():
    wanted = request(b"\x03\x0bexample.org\x01\xbb")
    with proxy((GREETING, b"\x05\x00"), (wanted, b"\x05\x00\x00" + ANY)) as (address, heard):
        with ropewalk.connect(("example.org", 443), address, timeout=10) as connection:
            assert connection.gettimeout() == 10
            connection.sendall(b"there and back")
            assert connection.recv(100) == b"there and back"
        assert heard == [GREETING, wanted]


@pytest.mark.parametrize(
    ("host", "spelled"),
    [
        ("192.0.2.9", b"\x01\xc0\x00\x02\x09"),
        ("2001:db8::1", b"\x04" + bytes.fromhex("20010db8000000000000000000000001")),
        ("bücher.example", b"\x03\x15xn--bcher-kva.example"),
    ],
)
def test_addresses_are_spelled_as_socks_has_them(host, spelled):
    wanted = request(spelled + b"\x00\x50")
    reply = b"\x05\x00\x00\x03\x04name\x00\x50"
    with proxy((GREETING, b"\x05\x00"), (wanted, reply + b"first")) as ((name, port), heard):
        with ropewalk.connect((host, 80), f"{name}:{port}") as connection:
            assert connection.gettimeout() is None
            assert connection.recv(100) == b"first"
        assert heard[1] == wanted


@pytest.mark.parametrize(
    ("reply", "number", "kind"),
    [
        (1, errno.EIO, OSError),
        (2, errno.EACCES, PermissionError),
        (3, errno.ENETUNREACH, OSError),
        (4, errno.EHOSTUNREACH, OSError),
        (5, errno.ECONNREFUSED, ConnectionRefusedError),
        (6, errno.ETIMEDOUT, TimeoutError),
        (7, errno.EOPNOTSUPP, OSError),
        (9, errno.EAGAIN, OSError),
        (200, errno.EIO, OSError),
    ],
)
def test_reply_codes_become_errnos(reply, number, kind):
    wanted = request(b"\x03\x01a\x00\x50")
    answer = bytes([5, reply, 0]) + ANY
    with (
        proxy((GREETING, b"\x05\x00"), (wanted, answer)) as (address, _),
        pytest.raises(kind, match="a:80") as caught,
    ):
        ropewalk.connect(("a", 80), address)
    assert caught.value.errno == number


def test_user_and_password_are_sent_if_given():
    wanted = request(b"\x03\x01a\x00\x50")
    exchanges = [
        (b"\x05\x01\x02", b"\x05\x02"),
        (b"\x01\x03van\x06secret", b"\x01\x00"),
        (wanted, b"\x05\x00\x00" + ANY),
    ]
    with proxy(*exchanges) as (address, heard):
        ropewalk.connect(("a", 80), address, user="van", password="secret").close()
        assert heard == [sent for sent, _ in exchanges]
    with (
        proxy(exchanges[0], (exchanges[1][0], b"\x01\x01")) as (address, _),
        pytest.raises(PermissionError, match="password"),
    ):
        ropewalk.connect(("a", 80), address, user="van", password="secret")
    with (
        proxy((GREETING, b"\x05\xff")) as (address, _),
        pytest.raises(PermissionError, match="requires user"),
    ):
        ropewalk.connect(("a", 80), address)


def test_connect_rejects_other_servers():
    with (
        proxy((GREETING, b"HTTP/1.1 400 Bad Request\r\n")) as (address, _),
        pytest.raises(OSError, match="SOCKS") as caught,
    ):
        ropewalk.connect(("a", 80), address)
    assert caught.value.errno == errno.EPROTO


def test_silent_proxy_times_out_and_missing_one_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TimeoutError):
        ropewalk.connect(("a", 80), silent.getsockname(), timeout=0.2)
    with (
        proxy((GREETING, b"\x05")) as (address, _),
        pytest.raises(TimeoutError),
    ):
        ropewalk.connect(("a", 80), address, timeout=0.2)
    listener = socket.create_server(("127.0.0.1", 0))
    closed = listener.getsockname()
    listener.close()
    with pytest.raises(ConnectionRefusedError):
        ropewalk.connect(("a", 80), closed)


@pytest.mark.parametrize(
    ("address", "options", "says"),
    [
        (("a", 0), {}, "port = 0"),
        (("a", 65536), {}, "65535"),
        (("", 80), {}, "1 to 255"),
        (("a" * 256, 80), {}, "1 to 255"),
        (("fe80::1%eth0", 80), {}, "link-local"),
        (("a", 80), {"proxy": "localhost"}, "HOST:PORT"),
        (("a", 80), {"proxy": ":1080"}, "HOST:PORT"),
        (("a", 80), {"user": "van"}, "user and password"),
    ],
)
def test_connect_names_allowed_arguments(address, options, says):
    with pytest.raises(ValueError, match=says):
        ropewalk.connect(address, **options)
