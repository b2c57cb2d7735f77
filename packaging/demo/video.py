"""A live video over TCP: one end sends frames in real time, the other counts late ones.

    video.py serve ADDRESS PORT SECONDS
    video.py play ADDRESS PORT SOCKS_PORT DEADLINE_MS

Both ends need a common clock, as in two namespaces of one machine. Each frame is preceded by its
length and due time. Sizes are like a live encoder's: an I frame per second, five times the size of
a P frame, and scenes; 2.5 Mbit/s on average.
"""

import random
import socket
import struct
import sys
import time

HEAD = struct.Struct("!Id")
FRAME_RATE = 30
MEAN = 2.5e6 / 8 / FRAME_RATE


def frames(seconds):
    """Yield frame sizes in bytes."""
    draw = random.Random(1)
    scene = 1.0
    weights = []
    for number in range(seconds * FRAME_RATE):
        if number % (4 * FRAME_RATE) == 0:
            scene = draw.lognormvariate(0, 0.45)
        weight = 5.0 if number % FRAME_RATE == 0 else 1.0
        weights.append(weight * scene * draw.lognormvariate(0, 0.25))
    factor = MEAN * len(weights) / sum(weights)
    return [max(1, round(weight * factor)) for weight in weights]


def serve(address, port, seconds):
    """Send a video to each client."""
    with socket.create_server((address, port)) as listener:
        while True:
            connection, _ = listener.accept()
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                begin = time.monotonic()
                for number, size in enumerate(frames(seconds)):
                    due = begin + number / FRAME_RATE
                    time.sleep(max(0.0, due - time.monotonic()))
                    connection.sendall(HEAD.pack(size, due) + bytes(size))


def connect(address, port, socks_port):
    """Return a connection through a local SOCKS5 proxy (RFC 1928)."""
    proxy = socket.create_connection(("127.0.0.1", socks_port))
    proxy.sendall(b"\x05\x01\x00")
    assert take(proxy, 2) == b"\x05\x00"
    proxy.sendall(b"\x05\x01\x00\x01" + socket.inet_aton(address) + struct.pack("!H", port))
    answer = take(proxy, 10)
    assert answer[1] == 0, answer
    return proxy


def take(connection, length):
    """Read `length` bytes; fewer at the end of the connection."""
    got = bytearray()
    while len(got) < length:
        piece = connection.recv(min(65_536, length - len(got)))
        if not piece:
            break
        got += piece
    return bytes(got)


def play(address, port, socks_port, deadline_ms):
    """Print the number of late frames, and the delays."""
    delays = []
    with connect(address, port, socks_port) as connection:
        while head := take(connection, HEAD.size):
            size, due = HEAD.unpack(head)
            assert len(take(connection, size)) == size
            delays.append(1e3 * (time.monotonic() - due))
    late = sum(delay > deadline_ms for delay in delays)
    delays.sort()
    median, most = delays[len(delays) // 2], delays[len(delays) * 99 // 100]
    print(
        f"{len(delays)} frames, {100 * late / len(delays):.2f} % later than {deadline_ms} ms;"
        f" median {median:.0f}, 99 % within {most:.0f} ms"
    )


if __name__ == "__main__":
    verb, address, *rest = sys.argv[1:]
    numbers = [int(word) for word in rest]
    {"serve": serve, "play": play}[verb](address, *numbers)
