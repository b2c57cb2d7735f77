//! Tests of the results of each call, as seen by Python.

use crate::gateway::{Gateway, Site};

#[test]
fn connects_to_names_and_addresses_and_names_them_as_peers() {
    let (gateway, site) = (Gateway::start(), Site::start(10));
    let printed = gateway.python(
        "
port = int(sys.argv[1])
def head(s):
    s.sendall(b'HEAD /file HTTP/1.0\\r\\n\\r\\n')
    reply = s.makefile('rb').read()
    return b'Content-Length: 10' in reply
s = socket.create_connection(('some.example', port))
assert s.getpeername()[0].startswith('198.18.') and s.getpeername()[1] == port, s.getpeername()
assert head(s)
s = socket.socket(socket.AF_INET6)
s.connect(('some.example', port))
assert s.getpeername()[0].startswith('2001:2::'), s.getpeername()
assert head(s)
for family, host in [(socket.AF_INET, '192.0.2.1'), (socket.AF_INET6, '2001:db8::7'),
                     (socket.AF_INET6, '::ffff:192.0.2.2')]:
    s = socket.socket(family)
    s.connect((host, port))
    assert s.getpeername()[:2] == (host, port), s.getpeername()
    assert head(s)
    assert code(s.connect, (host, port)) == 'EISCONN'
",
        &[&site.port.to_string()],
    );
    assert_eq!(printed, "");
    let targets = [
        "some.example",
        "some.example",
        "192.0.2.1",
        "[2001:db8::7]",
        "192.0.2.2",
    ];
    assert_eq!(
        gateway.requests(),
        targets.map(|host| format!("{host}:{}", site.port))
    );
}

#[test]
fn connect_fails_with_the_relays_reason() {
    let gateway = Gateway::start();
    gateway.python(
        "
closed = socket.socket(); closed.bind(('127.0.0.1', 0)); port = closed.getsockname()[1]
cases = {'closed.example': 'ECONNREFUSED', 'denied.example': 'EACCES',
         'nowhere.example': 'EHOSTUNREACH', 'silent.example': 'ETIMEDOUT'}
for host, expected in cases.items():
    for family in (socket.AF_INET, socket.AF_INET6):
        s = socket.socket(family)
        assert code(s.connect, (host, port)) == expected, host
        # And again, by the same socket.
        assert code(s.connect, (host, port)) == expected, host
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        assert code(s.getpeername) == 'ENOTCONN'

        s.setblocking(False)
        def begin():
            assert code(s.connect, (host, port)) == 'EINPROGRESS', host
            poll = select.poll(); poll.register(s, select.POLLOUT)
            (_, events), = poll.poll(10_000)
            assert events & select.POLLERR, events
        begin()
        error = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        assert errno.errorcode[error] == expected, error
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        begin()
        assert code(s.connect, (host, port)) == expected, host
",
        &[],
    );
}

#[test]
fn nonblocking_socket_is_writable_once_the_relay_has_answered() {
    let (gateway, site) = (Gateway::start(), Site::start(10));
    gateway.python(
        "
port = int(sys.argv[1])
s = socket.socket(); s.setblocking(False)
assert code(s.connect, ('slow.example', port)) == 'EINPROGRESS'
epoll = select.epoll(); epoll.register(s, select.EPOLLOUT | select.EPOLLIN)
assert epoll.poll(0) == []
assert code(s.getpeername) == 'ENOTCONN'
assert code(s.connect, ('slow.example', port)) == 'EALREADY'
assert code(s.send, b'x') == 'EAGAIN'
assert epoll.poll(10) == [(s.fileno(), select.EPOLLOUT)]
assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
assert s.connect_ex(('slow.example', port)) == 0
assert s.connect_ex(('slow.example', port)) == errno.EISCONN
assert s.getpeername()[1] == port

s = socket.socket(); s.settimeout(.05)
try:
    s.connect(('never.example', port)); raise SystemExit('connected')
except TimeoutError:
    pass

async def main():
    reader, writer = await asyncio.open_connection('slow.example', port)
    writer.write(b'HEAD /file HTTP/1.0\\r\\n\\r\\n')
    assert b'Content-Length: 10' in await reader.read()
    try:
        await asyncio.open_connection('denied.example', port); raise SystemExit('connected')
    except PermissionError:
        pass
asyncio.run(main())
",
        &[&site.port.to_string()],
    );
}

#[test]
fn blocking_connect_ends_by_signal_or_timeout() {
    let (gateway, site) = (Gateway::start(), Site::start(10));
    gateway.python(
        "
import struct, time
class Rang(Exception): pass
def ring(*_): raise Rang
signal.signal(signal.SIGALRM, ring)
s = socket.socket()
signal.setitimer(signal.ITIMER_REAL, .1)
try:
    s.connect(('never.example', 1)); raise SystemExit('connected')
except Rang:
    pass
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack('ll', 0, 100_000))
assert code(s.connect, ('slow.example', int(sys.argv[1]))) == 'EINPROGRESS'
poll = select.poll(); poll.register(s, select.POLLOUT)
assert poll.poll(10_000) == [(s.fileno(), select.POLLOUT)]
assert s.getpeername()[1] == int(sys.argv[1])
",
        &[&site.port.to_string()],
    );
}

#[test]
fn duplicates_and_children_share_the_connection() {
    let (gateway, site) = (Gateway::start(), Site::start(10));
    gateway.python(
        "
port = int(sys.argv[1])
s = socket.create_connection(('some.example', port))
peer = s.getpeername()
assert s.dup().getpeername() == peer
if os.fork() == 0:
    os._exit(0 if s.getpeername() == peer else 1)
assert os.wait()[1] == 0
os.set_inheritable(s.fileno(), True)
started = '''import socket, sys; s = socket.socket(fileno=int(sys.argv[1])); print(s.getpeername())
socket.create_connection(('other.example', s.getpeername()[1])).close()'''
for close in (True, False):
    printed = subprocess.check_output([sys.executable, '-c', started, str(s.fileno())],
                                      close_fds=close, pass_fds=(s.fileno(),) if close else ())
    assert printed.decode().strip() == str(peer), printed
s.sendall(b'HEAD /file HTTP/1.0\\r\\n\\r\\n')
assert b'Content-Length: 10' in s.makefile('rb').read()
",
        &[&site.port.to_string()],
    );
}

#[test]
fn loopback_direct_networks_and_other_sockets_are_left_alone() {
    let gateway = Gateway::start();
    gateway.python(
        "
listener = socket.create_server(('127.0.0.1', 0))
address = listener.getsockname()
s = socket.create_connection(address)
accepted, peer = listener.accept()
assert s.getpeername() == address and peer == s.getsockname() == accepted.getpeername()
s = socket.create_connection(('localhost', address[1]))
one, other = socket.socketpair()
assert one.getpeername() == ''
udp = socket.socket(type=socket.SOCK_DGRAM); udp.bind(('127.0.0.1', 0))
udp.sendto(b'x', udp.getsockname()); assert udp.recv(1) == b'x'
assert code(udp.sendto, b'x', ('198.18.0.1', 9)) == 'EHOSTUNREACH'
assert code(udp.connect, ('198.18.0.1', 9)) == 'EHOSTUNREACH'
assert code(os.fstat, 999) == 'EBADF'
s = socket.socket(); os.close(s.fileno())
assert code(s.connect, ('192.0.2.1', 9)) == code(s.getpeername) == 'EBADF'
assert code(s.getsockopt, socket.SOL_SOCKET, socket.SO_ERROR) == 'EBADF'
s.detach()
s = socket.socket(); s.settimeout(.01)
try:
    s.connect(('10.77.0.1', 9))
except OSError:
    pass
",
        &[],
    );
    assert_eq!(gateway.requests(), Vec::<String>::new());
}

#[test]
fn udp_is_refused_by_option() {
    let gateway = Gateway::start();
    let script = "
import socket
udp = socket.socket(type=socket.SOCK_DGRAM)
for call in (lambda: udp.sendto(b'x', ('192.0.2.1', 9)), lambda: udp.connect(('192.0.2.1', 9)),
             lambda: udp.sendmsg([b'x'], [], 0, ('192.0.2.1', 9))):
    try:
        call(); raise SystemExit('sent')
    except OSError as error:
        assert error.errno == 101, error
udp.sendto(b'x', ('127.0.0.1', 9))
";
    let mut command = gateway.command(crate::gateway::python());
    command.env("ROPEWALK_EXEC_UDP", "refuse");
    crate::gateway::output(command.args(["-c", script]));
}

#[test]
fn names_have_addresses_and_addresses_names() {
    let gateway = Gateway::start();
    gateway.python(
        "
ip = socket.gethostbyname('some.example')
assert ip.startswith('198.18.'), ip
assert socket.gethostbyname('SOME.example.') == ip
assert socket.gethostbyname_ex('some.example') == ('some.example', [], [ip])
assert socket.gethostbyaddr(ip) == ('some.example', [], [ip])
assert socket.getnameinfo((ip, 80), 0) == ('some.example', 'http')
assert socket.getnameinfo((ip, 80), socket.NI_NUMERICHOST | socket.NI_NUMERICSERV) == (ip, '80')
found = socket.getaddrinfo('some.example', 'http', flags=socket.AI_CANONNAME)
assert [entry[4] for entry in found] == [(ip, 80)] * len(found) and found[0][3] == 'some.example'
found, = socket.getaddrinfo('some.example', 443, socket.AF_INET6, socket.SOCK_STREAM)
assert found[4][:2] == ('2001:2::' + found[4][0][8:], 443), found
for host in ('127.0.0.1', 'localhost', '192.0.2.1'):
    found = socket.getaddrinfo(host, 80, socket.AF_INET, socket.SOCK_STREAM)
    assert found[0][4][0] == host.replace('localhost', '127.0.0.1'), found
try:
    socket.getaddrinfo('not a name', 80); raise SystemExit('found')
except socket.gaierror as error:
    assert error.errno == socket.EAI_NONAME, error
",
        &[],
    );
}

#[test]
fn fast_open_connects_and_sends() {
    let (gateway, site) = (Gateway::start(), Site::start(10));
    gateway.python(
        "
ip, port = socket.gethostbyname('some.example'), int(sys.argv[1])
request = b'HEAD /file HTTP/1.0\\r\\n\\r\\n'
for send in (lambda s: s.sendto(request, socket.MSG_FASTOPEN, (ip, port)),
             lambda s: s.sendmsg([request], [], socket.MSG_FASTOPEN, (ip, port))):
    s = socket.socket()
    assert send(s) == len(request)
    assert b'Content-Length: 10' in s.makefile('rb').read()
s = socket.socket(); s.setblocking(False)
assert code(s.sendto, request, socket.MSG_FASTOPEN, (ip, port)) == 'EINPROGRESS'
s = socket.socket()
s.setsockopt(socket.IPPROTO_TCP, 30, 1)
s.connect((ip, port)); s.sendall(request)
assert b'Content-Length: 10' in s.makefile('rb').read()
s = socket.socket()
assert code(s.sendto, request, socket.MSG_FASTOPEN, (socket.gethostbyname('denied.example'), 1)) == 'EACCES'
s = socket.socket(proto=262)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'lo')
s.bind(('192.0.2.9', 0))
s.connect((ip, port)); s.sendall(request)
assert b'Content-Length: 10' in s.makefile('rb').read()
",
        &[&site.port.to_string()],
    );
}

#[test]
fn without_a_gateway_the_network_is_unreachable() {
    let gateway = Gateway::start();
    let script = "
import errno, socket
s = socket.socket()
assert s.connect_ex(('192.0.2.1', 80)) == errno.ENETUNREACH
assert s.connect_ex(('127.0.0.1', 1)) == errno.ECONNREFUSED
udp = socket.socket(type=socket.SOCK_DGRAM)
assert udp.connect_ex(('192.0.2.1', 53)) == errno.ENETUNREACH
try:
    socket.getaddrinfo('some.example', 80); raise SystemExit('found')
except socket.gaierror as error:
    assert error.errno == socket.EAI_AGAIN, error
";
    let mut command = gateway.command(crate::gateway::python());
    command.env("ROPEWALK_EXEC_CONTROL", "/nonexistent/control");
    crate::gateway::output(command.args(["-c", script]));
}
