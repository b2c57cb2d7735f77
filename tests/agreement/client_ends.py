"""Both ends of a measurement of the gateway's client, at the client's end of emulated links.

    between SCENARIO python tests/agreement/client_ends.py METHOD SECONDS

`crates/testbed/examples/between.rs` sets SERVER, LINKS and AT_SERVER; GATEWAY is the program.
METHOD is a name of `METHODS`, or `tcp-alone:LINK` or `quic-alone:LINK`, which use no gateway. It
prints a JSON object with the bytes of each 100 ms, and the delays of a call.
"""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

GATEWAY = os.environ.get("GATEWAY", "ropewalk-gateway")
HOOK = Path(__file__).parents[2] / "packaging/hooks/tunnel-hook"
INNER = ("10.199.0.1", "10.199.0.2")
TCP, CALL, QUIC = 7000, 7100, 7200
STEP_S = 0.1
CALL_EVERY_S = 0.02
CALL_BYTES = 160
READY_S = 20
STARTED = time.monotonic()
"""About when the emulated links began."""


class Bytes:
    """Bytes received, by interval since its creation."""

    def __init__(self, seconds: float) -> None:
        self.began = time.monotonic()
        self.steps = [0] * round(seconds / STEP_S)

    def add(self, count: int) -> bool:
        """Count bytes; return whether the measurement continues."""
        step = int((time.monotonic() - self.began) / STEP_S)
        if step < len(self.steps):
            self.steps[step] += count
        return step < len(self.steps)


def gateway(*words: str, at_server: bool = False) -> subprocess.Popen[bytes]:
    prefix = os.environ["AT_SERVER"].split() if at_server else []
    return subprocess.Popen([*prefix, GATEWAY, "--log", "warn", *words])


def start_relay() -> subprocess.Popen[bytes]:
    """Start a relay at the server, with the tunnel's far end."""
    server = os.environ["SERVER"]
    words = f"relay --listen {server}:4433 --key relay.key --clients clients --allow {INNER[0]}"
    words += (
        f" --address {INNER[0]}/24 --hook {HOOK} --congestion cubic --control relay-{server}.sock"
    )
    return gateway(*words.split(), at_server=True)


def start_client(*others: str) -> subprocess.Popen[bytes]:
    """Start the client, which carries all traffic of this end."""
    words = "client --relay-key relay.pub --key van.key --control client.sock"
    words += f" --quota-state quota.json --address {INNER[1]}/24 --hook {HOOK}"
    words += f" --congestion cubic {os.environ['LINKS']}"
    for server in (os.environ["SERVER"], *others):
        words += f" --relay {server}:4433"
    return gateway(*words.split())


def start_proxy() -> list[subprocess.Popen[bytes]]:
    """Start relay and proxy alone."""
    server = os.environ["SERVER"]
    relay = f"relay --listen {server}:4433 --key relay.key --clients clients --allow {server}"
    proxy = (
        f"proxy --relay {server}:4433 --relay-key relay.pub --key van.key {os.environ['LINKS']}"
    )
    both = (relay + " --control relay.sock", proxy + " --control proxy.sock --quota-state q.json")
    relay, proxy = (f"{words} --congestion cubic" for words in both)
    return [gateway(*relay.split(), at_server=True), gateway(*proxy.split())]


def start_tunnel() -> list[subprocess.Popen[bytes]]:
    """Start a tunnel alone."""
    server = os.environ["SERVER"]
    far = f"tunnel --listen {server}:4434 --key relay.key --clients clients"
    far += f" --address {INNER[0]}/24 --control far.sock"
    near = f"tunnel --relay {server}:4434 --relay-key relay.pub --key van.key"
    near += f" --address {INNER[1]}/24 --control near.sock {os.environ['LINKS']}"
    return [gateway(*far.split(), at_server=True), gateway(*near.split())]


def await_ready(control: str) -> None:
    """Wait until a gateway can carry traffic: before, the kernel leads it over a bare link."""
    end = time.monotonic() + READY_S
    command = [GATEWAY, "status", "--check", "--control", control]
    while subprocess.run(command, capture_output=True, check=False).returncode != 0:
        if time.monotonic() > end:
            raise TimeoutError(f"{control}: no link is up")
        time.sleep(0.1)


def at_server(role: str, address: str) -> subprocess.Popen[bytes]:
    """Start a server of this file at the other end."""
    prefix = os.environ["AT_SERVER"].split()
    return subprocess.Popen([*prefix, sys.executable, __file__, role, address])


def serve_tcp(address: str) -> None:
    """Send to each connection as fast as it takes the bytes."""
    listener = listening(socket.SOCK_STREAM, address, TCP)
    listener.listen()
    data = bytes(1 << 18)

    def send(connection: socket.socket) -> None:
        try:
            while True:
                connection.sendall(data)
        except OSError:
            connection.close()

    while True:
        threading.Thread(target=send, args=(listener.accept()[0],), daemon=True).start()


def serve_call(address: str) -> None:
    """Send a numbered datagram with its time each 20 ms to who has asked last."""
    server = listening(socket.SOCK_DGRAM, address, CALL)
    server.setblocking(False)
    peer, number, due = None, 0, time.monotonic()
    while True:
        time.sleep(max(0.0, due - time.monotonic()))
        due += CALL_EVERY_S
        with contextlib.suppress(BlockingIOError):
            peer = server.recvfrom(64)[1]
        if peer:
            stamp = number.to_bytes(8) + time.monotonic_ns().to_bytes(8)
            number += 1
            try:
                server.sendto(stamp.ljust(CALL_BYTES, b"."), peer)
            except OSError:
                continue


def listening(kind: socket.SocketKind, address: str, port: int) -> socket.socket:
    """Bind a socket, as soon as the address exists."""
    end = time.monotonic() + READY_S
    while True:
        found = socket.socket(socket.AF_INET, kind)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((address, port))
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
        else:
            return found


def connected(address: str, local: str | None, socks: bool = False) -> socket.socket:
    """Connect to the TCP server, as soon as it answers with data."""
    end = time.monotonic() + READY_S
    while True:
        found = socket.socket()
        found.settimeout(5)
        try:
            if local:
                found.bind((local, 0))
            found.connect(("127.0.0.1", 1080) if socks else (address, TCP))
            if socks:
                found.sendall(b"\5\1\0\5\1\0\1" + socket.inet_aton(address) + TCP.to_bytes(2))
                if (
                    len(found.recv(2, socket.MSG_WAITALL) + found.recv(10, socket.MSG_WAITALL))
                    < 12
                ):
                    raise OSError("no answer by SOCKS")
            if found.recv(1):
                return found
        except OSError:
            pass
        if time.monotonic() > end:
            raise TimeoutError(f"{address} does not answer")
        found.close()
        time.sleep(0.1)


def download(connection: socket.socket, counted: Bytes) -> None:
    connection.settimeout(1)
    while counted.add(0):
        try:
            count = len(connection.recv(1 << 18))
        except TimeoutError:
            continue
        except OSError:
            return
        if not counted.add(count) or count == 0:
            return


def call(address: str, until: Callable[[], bool]) -> list[tuple[float, float, int]]:
    """Receive a call; return the time, the delay in ms and the number of each datagram."""
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(0.2)
    found = []
    asked = 0.0
    while until():
        if time.monotonic() > asked + 0.5:
            asked = time.monotonic()
            with contextlib.suppress(OSError):
                client.sendto(b"call", (address, CALL))
        try:
            datagram = client.recv(2048)
        except OSError:
            continue
        now = time.monotonic_ns()
        delay_ms = (now - int.from_bytes(datagram[8:16])) / 1e6
        found.append((now / 1e9, delay_ms, int.from_bytes(datagram[:8])))
    return found


def client_status() -> dict[str, Any]:
    """Return what `status` knows; nothing while it does not answer."""
    command = [GATEWAY, "status", "--json", "--control", "client.sock"]
    done = subprocess.run(command, capture_output=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def watched(seconds: float) -> list[dict[str, Any]]:
    """Return `total` of the client's status, each second."""
    rows = []
    began = time.monotonic()
    for second in range(1, int(seconds) + 1):
        time.sleep(max(0.0, began + second - time.monotonic()))
        rows.append({"at_s": time.monotonic() - began, **client_status().get("total", {})})
    return rows


def measure_tcp(
    address: str, seconds: float, local: str | None = None, socks: bool = False
) -> dict[str, Any]:
    server = at_server("serve-tcp", address)
    connection = connected(address, local, socks)
    counted = Bytes(seconds)
    download(connection, counted)
    server.kill()
    return {"offset_s": counted.began - STARTED, "steps": counted.steps}


def measure_both(seconds: float, socks: bool = False, is_watched: bool = False) -> dict[str, Any]:
    """Measure a download and a call at once."""
    address = os.environ["SERVER"] if socks else INNER[0]
    servers = [at_server(role, address) for role in ("serve-tcp", "serve-call")]
    found: dict[str, Any] = {}
    connection = connected(address, None, socks)
    counted = Bytes(seconds)
    begins = counted.began

    def hear() -> None:
        heard = call(address, lambda: counted.add(0))
        found["call"] = [(at - begins, delay, number) for at, delay, number in heard]

    tasks = [threading.Thread(target=download, args=(connection, counted))]
    if not socks:
        tasks.append(threading.Thread(target=hear))
    for task in tasks:
        task.start()
    if is_watched:
        found["total"] = watched(seconds)
    for task in tasks:
        task.join()
    for server in servers:
        server.kill()
    return {"offset_s": counted.began - STARTED, "steps": counted.steps, **found}


def measure_quic(address: str, seconds: float, local: str = "0.0.0.0") -> dict[str, Any]:
    import quic

    server = at_server("serve-quic", address)
    time.sleep(1.5)
    counted = Bytes(seconds)
    asyncio.run(quic.fetch((address, QUIC), local, counted.add, seconds))
    server.kill()
    return {"offset_s": counted.began - STARTED, "steps": counted.steps}


def through_client(measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    return through([start_relay(), start_client()], "client.sock", measure)


def through(
    processes: list[subprocess.Popen[bytes]], control: str, measure: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    try:
        await_ready(control)
        return measure()
    finally:
        for process in processes:
            process.kill()


def second_server() -> tuple[str, str]:
    """Make a machine behind the server; return its address and the prefix of commands there."""
    server = os.environ["AT_SERVER"]
    # /proc has the numbers of processes outside of this namespace; the kernel takes those inside.
    sleep = "read number _ </proc/self/stat; echo $number; exec sleep infinity"
    command = [*server.split(), "unshare", "--net", "sh", "-c", sleep]
    sleeper = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert sleeper.stdout
    there = f"nsenter --net=/proc/{sleeper.stdout.readline().strip()}/ns/net --"
    for command in (
        f"{server} ip link add second type veth peer name first netns {sleeper.pid}",
        f"{server} ip address add 192.168.77.1/24 dev second",
        f"{server} ip link set second up",
        f"{server} sysctl -qw net.ipv4.ip_forward=1",
        f"{there} ip link set lo up",
        f"{there} ip address add 192.168.77.2/24 dev first",
        f"{there} ip link set first up",
        f"{there} ip route add default via 192.168.77.1",
    ):
        run(command)
    return "192.168.77.2", there


def measure_relays(seconds: float) -> dict[str, Any]:
    """Kill the first of two relays; return when a new connection has data, and the call."""
    here = os.environ["SERVER"], os.environ["AT_SERVER"]
    machines = [here, second_server()]
    processes = []
    for os.environ["SERVER"], os.environ["AT_SERVER"] in machines:
        processes.append(start_relay())
        processes += [at_server(role, INNER[0]) for role in ("serve-tcp", "serve-call")]
    os.environ["SERVER"], os.environ["AT_SERVER"] = here
    processes.append(start_client(machines[1][0]))
    await_ready("client.sock")
    connected(INNER[0], None).close()
    found: dict[str, Any] = {}
    began = time.monotonic()

    def kill() -> None:
        time.sleep(seconds / 2)
        processes[0].kill()
        killed = time.monotonic()
        connected(INNER[0], None).close()
        found["new_s"] = time.monotonic() - killed

    killing = threading.Thread(target=kill)
    killing.start()
    heard = call(INNER[0], lambda: time.monotonic() < began + seconds)
    killing.join()
    found["call"] = [(at - began, delay, number) for at, delay, number in heard]
    for process in processes:
        process.kill()
    return found


METHODS: dict[str, Callable[[float], dict[str, Any]]] = {
    "client": lambda seconds: through_client(lambda: measure_both(seconds, is_watched=True)),
    "client-quic": lambda seconds: through_client(lambda: measure_quic(INNER[0], seconds)),
    "proxy": lambda seconds: through(
        start_proxy(), "proxy.sock", lambda: measure_both(seconds, socks=True)
    ),
    "relays": measure_relays,
    "tunnel": lambda seconds: through(start_tunnel(), "near.sock", lambda: measure_both(seconds)),
}


def change_address(after_s: float) -> None:
    """Give the first link's interface another address after this time.

    The links become interfaces, which need a default route each.
    """
    interface, before, now = "path0", "10.0.0.1", "10.0.0.77"
    words = [word for word in os.environ["LINKS"].split() if "=" in word]
    names = [word.split("=")[0] for word in words]
    links = [f"--link {name}=path{number}" for number, name in enumerate(names)]
    os.environ["LINKS"] = " ".join(links)
    for number in range(1, len(names)):
        run(f"ip route add default dev path{number} metric {100 + number}")
    server = os.environ["AT_SERVER"]
    run(f"{server} ip route add {now} dev {interface}")

    def change() -> None:
        time.sleep(after_s)
        run(f"ip address add {now}/32 dev {interface}")
        run(f"ip address del {before}/32 dev {interface}")
        run(f"ip route replace default dev {interface} src {now}")

    threading.Thread(target=change, daemon=True).start()


def run(command: str) -> None:
    subprocess.run(command.split(), check=True)


def measure_alone(method: str, link: str, seconds: float) -> dict[str, Any]:
    links = dict(word.split("=") for word in os.environ["LINKS"].split() if "=" in word)
    measure = {"tcp-alone": measure_tcp, "quic-alone": measure_quic}[method]
    return measure(os.environ["SERVER"], seconds, links[link])


def main() -> None:
    role, argument = sys.argv[1:]
    if role == "serve-quic":
        import quic

        asyncio.run(quic.serve((argument, QUIC)))
    servers = {"serve-tcp": serve_tcp, "serve-call": serve_call}
    if role in servers:
        servers[role](argument)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("relay", "van"):
            subprocess.run([GATEWAY, "keygen", name], check=True, stdout=subprocess.DEVNULL)
        key = Path("van.pub").read_text().strip()
        Path("clients").write_text(f"{key} addresses={INNER[1]}\n")
        role, _, change = role.partition("+")
        method, _, link = role.partition(":")
        seconds = float(argument)
        if change:
            change_address(seconds / 2)
        found = measure_alone(method, link, seconds) if link else METHODS[method](seconds)
        print(json.dumps(found), flush=True)
        os._exit(0)


if __name__ == "__main__":
    main()
