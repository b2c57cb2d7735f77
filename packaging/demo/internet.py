"""The internet of packaging/demo/install.sh: a web and a name server.

    python3 internet.py ADDRESS-OF-WEB-SERVER ADDRESS-OF-NAME-SERVER

The name server has one answer, and prints its clients' addresses.
"""

from __future__ import annotations

import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MEGABYTE = bytes(1_000_000)


class Web(BaseHTTPRequestHandler):
    """``/`` returns the client's address; ``/20`` returns 20 megabytes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer."""
        count = self.path.strip("/")
        parts = (
            [MEGABYTE] * int(count)
            if count.isdecimal()
            else [f"{self.client_address[0]}\n".encode()]
        )
        self.send_response(200)
        self.send_header("Content-Length", str(sum(map(len, parts))))
        self.end_headers()
        for part in parts:
            self.wfile.write(part)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def answer(query: bytes, address: str) -> bytes:
    """Answer an address query (RFC 1035) with this address; with none for IPv6."""
    end = query.index(b"\0", 12) + 5
    question = query[12:end]
    is_ipv4 = question[-4:-2] == b"\0\x01"
    record = b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04" + socket.inet_aton(address)
    header = query[:2] + b"\x81\x80\0\x01" + (b"\0\x01" if is_ipv4 else b"\0\0") + b"\0\0\0\0"
    return header + question + (record if is_ipv4 else b"")


def name_server(at: str, web: str) -> None:
    """Answer every question with the web server's address."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind((at, 53))
        while True:
            query, client = server.recvfrom(4096)
            print(client[0], flush=True)
            server.sendto(answer(query, web), client)


def main() -> None:
    """Serve until it is killed."""
    web, names = sys.argv[1:]
    threading.Thread(target=name_server, args=(names, web), daemon=True).start()
    ThreadingHTTPServer((web, 80), Web).serve_forever()


if __name__ == "__main__":
    main()
