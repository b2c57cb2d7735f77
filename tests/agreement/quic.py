"""A QUIC server that sends as fast as it may, and a client that counts, by aioquic (RFC 9000).

Both ends use CUBIC, and windows of 16 MiB for flow control.
"""

import asyncio
import datetime
import ssl
import sys
from collections.abc import Callable

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.asyncio import serve as serve_connections
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import QuicEvent, StreamDataReceived
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

WINDOW = 16 << 20
CHUNK = bytes(1 << 18)
REFILL_S = 0.005


def configuration(is_client: bool) -> QuicConfiguration:
    made = QuicConfiguration(
        is_client=is_client,
        alpn_protocols=["count"],
        max_data=WINDOW,
        max_stream_data=WINDOW,
        congestion_control_algorithm="cubic",
    )
    if is_client:
        made.verify_mode = ssl.CERT_NONE
    else:
        made.private_key = ec.generate_private_key(ec.SECP256R1())
        made.certificate = certificate(made.private_key)
    return made


def certificate(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "quic")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(1)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    made = made.public_key(key.public_key()).serial_number(1)
    return made.not_valid_before(now - day).not_valid_after(now + day).sign(key, hashes.SHA256())


class Sender(QuicConnectionProtocol):
    """Answers the first data of a stream with bytes without end."""

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, StreamDataReceived):
            self._sending = asyncio.ensure_future(self.send_on(event.stream_id))

    async def send_on(self, stream: int) -> None:
        while True:
            # aioquic bounds its buffer by nothing.
            waiting = len(self._quic._streams[stream].sender._buffer)
            if waiting < WINDOW // 2:
                self._quic.send_stream_data(stream, CHUNK)
                self.transmit()
            await asyncio.sleep(REFILL_S)


async def serve(at: tuple[str, int]) -> None:
    """Serve until cancelled."""
    await serve_connections(*at, configuration=configuration(False), create_protocol=Sender)
    await asyncio.Future()


async def fetch(
    server: tuple[str, int], local: str, count: Callable[[int], object], seconds: float
) -> None:
    """Receive for some seconds, and pass on how many bytes have arrived each time."""

    class Counting(QuicConnectionProtocol):
        def quic_event_received(self, event: QuicEvent) -> None:
            if isinstance(event, StreamDataReceived):
                count(len(event.data))

    connection = QuicConnection(configuration=configuration(True))
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_datagram_endpoint(
        lambda: Counting(connection), local_addr=(local, 0)
    )
    protocol.connect(server)
    ending = loop.time() + seconds
    await protocol.wait_connected()
    connection.send_stream_data(connection.get_next_available_stream_id(), b"GET")
    protocol.transmit()
    await asyncio.sleep(ending - loop.time())


def main() -> None:
    """Serve at an address and port, or fetch from there for some seconds and print Mbit/s."""
    role, address, port, *rest = sys.argv[1:]
    server = (address, int(port))
    if role == "serve":
        asyncio.run(serve(server))
    seconds, counts = float(rest[0]), list[int]()
    asyncio.run(fetch(server, "0.0.0.0", counts.append, seconds))
    print(f"{sum(counts) * 8e-6 / seconds:.1f}", flush=True)


if __name__ == "__main__":
    main()
