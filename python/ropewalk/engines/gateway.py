"""Connections of Python programs through a running ``ropewalk proxy``."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import struct
import time

from ..support.arguments import argument_error, positive, whole

DEFAULT_PROXY = "127.0.0.1:1080"

_VERSION = 5
_NO_AUTHENTICATION, _USER_AND_PASSWORD = 0, 2
_CONNECT = 1
_IPV4, _NAME, _IPV6 = 1, 3, 4

# RFC 1928, section 6; codes above 8 are specific to the gateway.
_ERRORS = {
    1: errno.EIO,
    2: errno.EACCES,
    3: errno.ENETUNREACH,
    4: errno.EHOSTUNREACH,
    5: errno.ECONNREFUSED,
    6: errno.ETIMEDOUT,
    7: errno.EOPNOTSUPP,
    8: errno.EAFNOSUPPORT,
    9: errno.EAGAIN,
}


def connect(
    address: tuple[str, int],
    proxy: str | tuple[str, int] = DEFAULT_PROXY,
    *,
    timeout: float | None = None,
    user: str | None = None,
    password: str | None = None,
) -> socket.socket:
    r"""Connect to a host through the links of a running ``ropewalk proxy``.

    The relay resolves the name. The result is an operating system socket, usable with `ssl`,
    `select` or `asyncio`. Its ``getpeername()`` is the proxy's address.

    Parameters
    ----------
    address : tuple of str and int
        Host (name or address) and port.
    proxy : str or tuple of str and int
        Address of the proxy: ``"HOST:PORT"`` with IPv6 addresses in brackets, or a pair.
    timeout : float, optional
        Timeout of the whole connection setup, then of each socket operation, s; none by default.
    user, password : str, optional
        Credentials, if the proxy was started with a file of users.

    Returns
    -------
    socket.socket
        Connected socket; close it, or use it in a ``with`` statement.

    Raises
    ------
    OSError
        By ``errno``:

        - `ConnectionRefusedError`: the target refused.
        - `PermissionError` (EACCES): forbidden by the relay's rules, or wrong credentials.
        - `TimeoutError`, ENETUNREACH, EHOSTUNREACH (also for unknown names).
        - EAGAIN: the relay is at its limit of streams.
        - EPROTO: the listener is not a SOCKS proxy.
    ValueError
        An address is malformed.

    References
    ----------
    RFC 1928, RFC 1929.

    Examples
    --------
    >>> import ropewalk
    >>> def first_line(host):
    ...     with ropewalk.connect((host, 80), timeout=10) as connection:
    ...         connection.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
    ...         return connection.makefile().readline()
    """
    if not isinstance(address, (tuple, list)) or len(address) != 2:
        raise argument_error("address", address, 'a pair, such as ("example.org", 80)')
    host, port = address
    if timeout is not None:
        timeout = positive("timeout", timeout)
    target = _target(host, port)
    method, credentials = _credentials(user, password)
    deadline = None if timeout is None else time.monotonic() + timeout
    connection = socket.create_connection(_pair(proxy), timeout)
    try:
        stream = _MessageSocket(connection, deadline)
        stream.send(bytes([_VERSION, 1, method]))
        version, chosen = stream.receive(2)
        if version != _VERSION:
            raise _error(errno.EPROTO, "the proxy does not speak SOCKS 5")
        if chosen != method:
            raise _error(errno.EACCES, "the proxy requires user and password, or accepts none")
        if credentials is not None:
            stream.send(credentials)
            if stream.receive(2)[1] != 0:
                raise _error(errno.EACCES, "the proxy rejected user and password")
        stream.send(bytes([_VERSION, _CONNECT, 0]) + target)
        _read_reply(stream, f"{host}:{port}")
        connection.settimeout(timeout)
    except BaseException:
        connection.close()
        raise
    return connection


class _MessageSocket:
    """Whole messages over a socket, until a deadline."""

    def __init__(self, connection: socket.socket, deadline: float | None):
        self.connection = connection
        self.deadline = deadline

    def send(self, message: bytes) -> None:
        self._arm()
        self.connection.sendall(message)

    def receive(self, length: int) -> bytes:
        """Receive exactly this many bytes; later ones belong to the target."""
        message = b""
        while len(message) < length:
            self._arm()
            piece = self.connection.recv(length - len(message))
            if not piece:
                raise _error(errno.ECONNRESET, "the proxy closed the connection")
            message += piece
        return message

    def _arm(self) -> None:
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise _error(errno.ETIMEDOUT)
            self.connection.settimeout(left)


def _read_reply(stream: _MessageSocket, target: str) -> None:
    version, reply, _, kind = stream.receive(4)
    if version != _VERSION:
        raise _error(errno.EPROTO, "the proxy does not speak SOCKS 5")
    if reply != 0:
        raise _error(_ERRORS.get(reply, errno.EIO), target)
    lengths = {_IPV4: 4, _IPV6: 16}
    length = stream.receive(1)[0] if kind == _NAME else lengths.get(kind)
    if length is None:
        raise _error(errno.EPROTO, "the proxy does not speak SOCKS 5")
    stream.receive(length + 2)


def _error(number: int, detail: str | None = None) -> OSError:
    """Return the error for an errno; Python chooses the class."""
    text = os.strerror(number)
    return OSError(number, text if detail is None else f"{text}: {detail}")


def _target(host: str, port: int) -> bytes:
    port = whole("port", port, least=1, most=65535)
    if not isinstance(host, str):
        raise argument_error("host", host, "a name or an address, as text")
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        name = _name(host)
        return bytes([_NAME, len(name)]) + name + struct.pack(">H", port)
    if isinstance(literal, ipaddress.IPv6Address) and literal.scope_id is not None:
        raise ValueError(f"host {host!r}: a link-local address is not reachable through the relay")
    kind = _IPV4 if literal.version == 4 else _IPV6
    return bytes([kind]) + literal.packed + struct.pack(">H", port)


def _name(host: str) -> bytes:
    try:
        name = host.encode("ascii")
    except UnicodeEncodeError:
        name = host.encode("idna")
    if not 0 < len(name) < 256:
        raise ValueError(f"host {host!r}: must have 1 to 255 bytes")
    return name


def _credentials(user: str | None, password: str | None) -> tuple[int, bytes | None]:
    if user is None and password is None:
        return _NO_AUTHENTICATION, None
    words = [(user or "").encode(), (password or "").encode()]
    if not all(0 < len(word) < 256 for word in words):
        raise ValueError("user and password: must each have 1 to 255 bytes")
    return _USER_AND_PASSWORD, b"\x01" + b"".join(bytes([len(word)]) + word for word in words)


def _pair(proxy: str | tuple[str, int]) -> tuple[str, int]:
    if isinstance(proxy, (tuple, list)) and len(proxy) == 2:
        return proxy[0], proxy[1]
    if not isinstance(proxy, str):
        raise argument_error("proxy", proxy, f"HOST:PORT, such as {DEFAULT_PROXY!r}, or a pair")
    host, colon, port = proxy.rpartition(":")
    if not colon or not port.isdecimal() or not host:
        raise argument_error("proxy", proxy, f"HOST:PORT, such as {DEFAULT_PROXY!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)
