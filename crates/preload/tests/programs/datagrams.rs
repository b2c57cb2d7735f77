//! Tests of UDP sockets, as seen by Python.

use std::process::Command;

use crate::gateway::{Gateway, is_there, output};

/// Functions for the scripts: a socket that does not wait for ever, and an answer of the test gateway.
const UDP: &str = "
def udp(family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.settimeout(20)
    return s
one, other = ('192.0.2.1', 5000), ('192.0.2.2', 5001)
";

fn run(gateway: &Gateway, script: &str) {
    gateway.python(&format!("{UDP}{script}"), &[]);
}

#[test]
fn unconnected_socket_reaches_several_targets() {
    run(
        &Gateway::start(),
        "
s = udp()
for target in (one, other, one):
    assert s.sendto(b'hello', target) == 5
    text = b'%s:%d: hello' % (target[0].encode(), target[1])
    assert s.recvfrom(100) == (text, target)
assert code(s.getpeername) == 'ENOTCONN'
assert s.getsockname()[0] == '0.0.0.0'
s.sendto(b'', one)
assert s.recvfrom(100) == (b'192.0.2.1:5000: ', one)
s.sendto(b'long', one)
assert s.recvfrom(4, socket.MSG_PEEK) == (b'192.', one)
assert s.recvfrom_into(bytearray(100)) == (20, one)
large = bytes(range(250)) * 250
s.sendto(large, one)
assert s.recvfrom(65535) == (b'192.0.2.1:5000: ' + large, one)
",
    );
}

#[test]
fn connected_socket_reads_and_writes_and_drops_datagrams_of_others() {
    run(
        &Gateway::start(),
        "
s = udp()
s.connect(one)
assert s.getpeername() == one
own = s.getsockname()
assert own[1] != 0
assert s.send(b'a') == 1 and s.recv(100) == b'192.0.2.1:5000: a'
s.setblocking(True)
assert os.write(s.fileno(), b'b') == 1 and os.read(s.fileno(), 100) == b'192.0.2.1:5000: b'
s.settimeout(20)
s.send(b'foreign')
assert s.recvfrom(100) == (b'192.0.2.1:5000: foreign', one)
loopback = udp(); loopback.bind(('127.0.0.1', 0))
loopback.sendto(b'x', ('127.0.0.1', own[1]))
s.send(b'c')
assert s.recvfrom(100) == (b'192.0.2.1:5000: c', one)
# Again to another target, then to none.
s.connect(other)
assert s.getpeername() == other
s.send(b'd')
assert s.recvfrom(100) == (b'192.0.2.2:5001: d', other)
import ctypes
assert ctypes.CDLL(None).connect(s.fileno(), bytes(16), 16) == 0
assert code(s.getpeername) == 'ENOTCONN'
s.sendto(b'e', one)
assert s.recvfrom(100) == (b'192.0.2.1:5000: e', one)
",
    );
}

#[test]
fn own_address_of_connected_socket_is_that_of_the_route() {
    run(
        &Gateway::start(),
        "
s, direct = udp(), udp()
s.connect(one)
ip, port = s.getsockname()
assert port != 0
# Without a route, the address is that of the gateway's connection.
routed = code(direct.connect, ('10.77.0.1', 9)) == 'OK'
assert ip == direct.getsockname()[0] if routed else ip == '127.0.0.1', ip
# A socket that is bound to this address, or to loopback, is served, too.
for bound in (ip, '127.0.0.1'):
    s = udp(); s.bind((bound, 0))
    for call in (lambda: s.sendto(b'x', one), lambda: s.connect(one) or s.send(b'x')):
        call()
        assert s.recvfrom(100) == (b'192.0.2.1:5000: x', one)
",
    );
}

#[test]
fn messages_have_their_targets() {
    run(
        &Gateway::start(),
        "
s = udp()
assert s.sendmsg([b'in ', b'parts'], [], 0, one) == 8
data, ancillary, flags, sender = s.recvmsg(100)
assert (data, sender) == (b'192.0.2.1:5000: in parts', one)
s.sendmsg([b'cut'], [], 0, other)
data, ancillary, flags, sender = s.recvmsg(4)
assert (data, flags, sender) == (b'192.', socket.MSG_TRUNC, other)
",
    );
}

#[test]
fn ancillary_data_may_not_choose_another_route() {
    run(
        &Gateway::start(),
        "
import struct
def info(interface, source):
    return [(socket.IPPROTO_IP, 8, struct.pack('i4s4s', interface, socket.inet_aton(source), bytes(4)))]
s = udp()
assert s.sendmsg([b'x'], info(0, '127.0.0.1'), 0, one) == 1
assert s.recvfrom(100)[1] == one
assert code(s.sendmsg, [b'x'], info(0, '192.0.2.9'), 0, one) == 'EINVAL'
assert code(s.sendmsg, [b'x'], info(7, '0.0.0.0'), 0, one) == 'EINVAL'
# Segmentation is the kernel's (UDP_SEGMENT, udp(7)).
try:
    s.sendmsg([b'aabbc'], [(17, 103, struct.pack('H', 2))], 0, one)
    got = sorted(s.recv(100) for _ in range(3))
    assert got == [b'192.0.2.1:5000: aa', b'192.0.2.1:5000: bb', b'192.0.2.1:5000: c'], got
except OSError as error:
    assert error.errno in (errno.EINVAL, errno.EIO), error
s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b'lo')
s.sendto(b'x', one)
assert s.recvfrom(100)[1] == one
",
    );
}

#[test]
fn poll_epoll_and_timeouts_are_the_kernels() {
    run(
        &Gateway::start(),
        "
s = udp(); s.setblocking(False)
assert code(s.recvfrom, 1) == 'EAGAIN'
poll = select.poll(); poll.register(s, select.POLLIN)
assert poll.poll(0) == []
s.sendto(b'x', one)
assert poll.poll(20_000) == [(s.fileno(), select.POLLIN)]
assert s.recvfrom(100)[1] == one
epoll = select.epoll(); epoll.register(s, select.EPOLLIN)
s.sendto(b'x', other)
assert epoll.poll(20) == [(s.fileno(), select.EPOLLIN)]
assert select.select([s], [], [], 20)[0] == [s]
assert s.recvfrom(100)[1] == other

class Protocol(asyncio.DatagramProtocol):
    def datagram_received(self, data, sender): self.got.set_result((data, sender))
async def main():
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.create_datagram_endpoint(Protocol, remote_addr=one)
    protocol.got = loop.create_future()
    transport.sendto(b'later')
    assert await protocol.got == (b'192.0.2.1:5000: later', one)
    transport.close()
asyncio.run(main())
",
    );
}

#[test]
fn ipv6_sockets_reach_both_families() {
    run(
        &Gateway::start(),
        "
six, mapped = ('2001:db8::7', 53), ('::ffff:192.0.2.1', 5000)
for only in (0, 1):
    for bound in (False, True):
        s = udp(socket.AF_INET6)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only)
        if bound:
            s.bind(('::', 0))
        s.sendto(b'x', six)
        data, sender = s.recvfrom(100)
        assert (data, sender[:2]) == (b'[2001:db8::7]:53: x', six), sender
s = udp(socket.AF_INET6)
s.sendto(b'x', mapped)
data, sender = s.recvfrom(100)
assert (data, sender[:2]) == (b'192.0.2.1:5000: x', mapped), sender
s.connect(six)
assert s.getpeername()[:2] == six
s.send(b'y')
assert s.recvfrom(100)[0] == b'[2001:db8::7]:53: y'
assert code(udp().sendto, b'x', ('192.0.2.1', 0)) in ('OK', 'EINVAL')
s = udp(socket.AF_INET6); s.bind(('::1', 0))
assert code(s.sendto, b'x', six) == 'ENETUNREACH'
",
    );
}

#[test]
fn names_are_resolved_at_the_relay() {
    run(
        &Gateway::start(),
        "
found = socket.getaddrinfo('dns.example', 53, socket.AF_INET, socket.SOCK_DGRAM)
(ip, port), = [entry[4] for entry in found]
assert ip.startswith('198.18.'), ip
third = (socket.gethostbyname('time.example'), 53)
s = udp()
for target, name in ((ip, port), b'dns.example'), (third, b'time.example'), (one, None):
    s.sendto(b'x', target)
    text = name + b':53: x' if name else b'192.0.2.1:5000: x'
    assert s.recvfrom(100) == (text, target)
s.connect((ip, port))
assert s.getpeername() == (ip, port)
s.send(b'y')
assert s.recvfrom(100) == (b'dns.example:53: y', (ip, port))
denied = (socket.gethostbyname('denied.example'), 53)
assert code(udp().connect, denied) == code(udp().sendto, b'x', denied) == 'EACCES'
# The gateway may leave datagrams to the program, as a relay does.
server = udp(); server.bind(('127.0.0.1', 0))
s = udp()
s.sendto(b'x', (socket.gethostbyname('near.example'), server.getsockname()[1]))
assert server.recvfrom(9) == (b'x', ('127.0.0.1', s.getsockname()[1]))
",
    );
}

#[test]
fn loopback_direct_networks_and_groups_do_not_reach_the_gateway() {
    run(
        &Gateway::start(),
        "
server = udp(); server.bind(('127.0.0.1', 0))
s = udp()
s.sendto(b'x', one); assert s.recvfrom(100)[1] == one
s.sendto(b'x', server.getsockname())
data, sender = server.recvfrom(9)
server.sendto(b'y', sender)
assert s.recvfrom(9) == (b'y', server.getsockname())
for group in ('224.0.0.251', '255.255.255.255'):
    assert code(s.sendto, b'x', (group, 5353)) == 'ENETUNREACH'
s.settimeout(0)
code(s.sendto, b'x', ('10.77.0.1', 9))
assert code(s.recvfrom, 9) == 'EAGAIN'
# Another socket that knows the gateway's port and address cannot use them.
s = udp(); s.connect(one)
class Raw: pass
import ctypes, struct
libc = ctypes.CDLL(None)
address, length = ctypes.create_string_buffer(16), ctypes.c_int(16)
link = [line.split() for line in open('/proc/net/udp').readlines()[1:]]
port = s.getsockname()[1]
remote, = [entry[2] for entry in link if int(entry[1].split(':')[1], 16) == port]
ip, gate = remote.split(':')
at = socket.inet_ntoa(struct.pack('=I', int(ip, 16))), int(gate, 16)
assert at[0].startswith('127.'), at
thief = udp(); thief.sendto(b'stolen', at)
s.send(b'own')
assert s.recv(100) == b'192.0.2.1:5000: own'
s.settimeout(0); assert code(s.recv, 9) == 'EAGAIN'
",
    );
}

#[test]
fn duplicates_and_children_share_the_socket() {
    run(
        &Gateway::start(),
        "
s = udp(); s.connect(one)
copy = s.dup(); copy.settimeout(20)
s.send(b'x'); assert copy.recvfrom(100) == (b'192.0.2.1:5000: x', one)
s.close()
if os.fork() == 0:
    copy.send(b'child')
    os._exit(0 if copy.recvfrom(100) == (b'192.0.2.1:5000: child', one) else 1)
assert os.wait()[1] == 0
plain = udp()
plain.sendto(b'x', other); assert plain.recvfrom(100)[1] == other
for s, target in (copy, one), (plain, other):
    started = '''import socket, sys
s = socket.socket(fileno=int(sys.argv[1])); s.settimeout(20)
target = (sys.argv[2], int(sys.argv[3]))
s.sendto(b'started', target); print(s.recvfrom(100)[1] == target)'''
    printed = subprocess.check_output([sys.executable, '-c', started, str(s.fileno()), target[0], str(target[1])],
                                      pass_fds=(s.fileno(),))
    assert printed == b'True\\n', printed
",
    );
}

#[test]
fn socket_after_socket_is_served() {
    run(
        &Gateway::start(),
        "
for number in range(3000):
    s = udp()
    s.connect(('192.0.2.1', 1 + number))
    s.send(b'x')
    assert s.recv(100) == b'192.0.2.1:%d: x' % (1 + number)
    s.close()
",
    );
}

#[test]
fn many_messages_pass_in_one_call() {
    if !is_there("cc") {
        return;
    }
    let gateway = Gateway::start();
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("many.c"), folder.path().join("many"));
    std::fs::write(&source, MANY).unwrap();
    // The checked functions of the C library are called with _FORTIFY_SOURCE only.
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-o"]);
    output(compiler.arg(&program).arg(&source));
    output(&mut gateway.command(&program));
}

/// Program that sends 50 messages by sendmmsg, receives them by recvmmsg, and one by the checked recvfrom.
const MANY: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define COUNT 50
#define CHECK(what) do { if (!(what)) { perror(#what); return 1; } } while (0)

int main(int count, char **arguments) {
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct timeval patience = { 20, 0 };
    CHECK(setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0);
    static struct mmsghdr messages[COUNT];
    static struct sockaddr_in addresses[COUNT];
    static struct iovec pieces[COUNT];
    static char texts[COUNT][64];
    for (int i = 0; i < COUNT; i++) {
        addresses[i].sin_family = AF_INET;
        addresses[i].sin_port = htons(1000 + i);
        inet_aton("192.0.2.1", &addresses[i].sin_addr);
        pieces[i].iov_base = texts[i];
        pieces[i].iov_len = snprintf(texts[i], 64, "number %d", i);
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
        messages[i].msg_hdr.msg_name = &addresses[i];
        messages[i].msg_hdr.msg_namelen = sizeof addresses[i];
    }
    CHECK(sendmmsg(s, messages, COUNT, 0) == COUNT);
    for (int i = 0; i < COUNT; i++) {
        CHECK(messages[i].msg_len == strlen(texts[i]));
        CHECK(ntohs(addresses[i].sin_port) == 1000 + i);
    }
    char seen[COUNT] = { 0 };
    for (int received = 0; received < COUNT;) {
        for (int i = 0; i < COUNT; i++) {
            pieces[i].iov_len = 64;
            memset(texts[i], 0, 64);
            messages[i].msg_hdr.msg_namelen = sizeof addresses[i];
        }
        int got = recvmmsg(s, messages, COUNT, MSG_WAITFORONE, NULL);
        CHECK(got > 0);
        for (int i = 0; i < got; i++) {
            int port = ntohs(addresses[i].sin_port);
            char expected[64];
            snprintf(expected, 64, "192.0.2.1:%d: number %d", port, port - 1000);
            CHECK(messages[i].msg_hdr.msg_namelen == sizeof addresses[i]);
            CHECK(addresses[i].sin_addr.s_addr == inet_addr("192.0.2.1"));
            CHECK(port >= 1000 && port < 1000 + COUNT && !seen[port - 1000]);
            CHECK(strcmp(texts[i], expected) == 0);
            seen[port - 1000] = 1;
        }
        received += got;
    }
    // The second message is to a group: the first is sent, and then the error is returned.
    pieces[0].iov_len = 1;
    inet_aton("224.0.0.1", &addresses[1].sin_addr);
    CHECK(sendmmsg(s, messages, 2, 0) == 1);
    CHECK(sendmmsg(s, messages + 1, 1, 0) == -1);
    char buffer[64];
    struct sockaddr_in sender;
    socklen_t length = sizeof sender;
    size_t room = 30 + count;
    CHECK(recvfrom(s, buffer, room, 0, (struct sockaddr *)&sender, &length) > 0);
    CHECK(sender.sin_addr.s_addr == inet_addr("192.0.2.1") && length == sizeof sender);
    return 0;
}
"#;
