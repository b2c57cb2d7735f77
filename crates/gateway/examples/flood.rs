//! Flood of datagrams from forged addresses to an end of a tunnel, for tests. Needs root, and accepts only
//! private and documentation addresses as targets.
//!
//!     flood TARGET KIND RATE SECONDS [SOURCE] [RELAY_KEY]
//!
//! `TARGET` is an address with a port. `KIND` is `byte`, `random`, `session`, `hello` (with a wrong mark), `answer` or
//! `cookie`; or `marked-hello`, with the mark of the relay whose public key is in the file `RELAY_KEY`. `RATE` is in
//! datagrams per second. `SOURCE` is an address with a port, or `random` (the default): 198.18.0.0/15 (RFC 2544), or
//! 2001:db8:bad::/48.
//!
//! Example: 20,000 datagrams of one byte per second for 10 s: `flood 203.0.113.2:4434 byte 20000 10`

use std::env;
use std::error::Error;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::{PublicKey, SecretKey, read_public_key};
use ropewalk_gateway::noise::{Initiator, Purpose};
use socket2::{Domain, Protocol, Socket, Type};

const MAX_SECONDS: u64 = 600;
/// IPPROTO_RAW: the packet begins with its IP header.
const RAW: i32 = 255;
const UDP: u8 = 17;
/// Number of prepared datagrams.
const POOL: usize = 512;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [target, kind, rate, seconds, rest @ ..] = &arguments[..] else {
        return Err("usage: flood TARGET KIND RATE SECONDS [SOURCE] [RELAY_KEY]".into());
    };
    let target: SocketAddr = target.parse()?;
    if !is_for_tests(target.ip()) {
        return Err(format!("{target}: must be a private or documentation address").into());
    }
    let (rate, seconds): (u64, u64) = (rate.parse()?, seconds.parse()?);
    if seconds > MAX_SECONDS {
        return Err(format!("{seconds} s: must be at most {MAX_SECONDS} s").into());
    }
    let source = match rest.first().map(String::as_str) {
        None | Some("random") => None,
        Some(source) => Some(source.parse::<SocketAddr>()?),
    };
    let key = match rest.get(1) {
        Some(file) => Some(read_public_key(file.as_ref())?),
        None => None,
    };
    let mut random = Random(u64::from_be_bytes(
        fs::read("/proc/sys/kernel/random/uuid")?[..8].try_into()?,
    ));
    let pool: Vec<Vec<u8>> = (0..POOL)
        .map(|_| payload(kind, key.as_ref(), &mut random))
        .collect::<Result<_, _>>()?;

    let domain = Domain::for_address(target);
    let socket = Socket::new(domain, Type::RAW, Some(Protocol::from(RAW)))?;
    socket.set_send_buffer_size(4 << 20)?;
    let to = SocketAddr::new(target.ip(), 0).into();
    let begin = Instant::now();
    let (mut sent, mut failed) = (0_u64, 0);
    let mut packet = Vec::new();
    while begin.elapsed().as_secs() < seconds {
        let due = (begin.elapsed().as_micros() as u64 * rate) / 1_000_000;
        let until = due.min(sent + 1000);
        for number in sent..until {
            let source = source.unwrap_or_else(|| forged(target.ip(), &mut random));
            let payload = &pool[number as usize % POOL];
            emit(source, target, payload, &mut packet);
            failed += u64::from(socket.send_to(&packet, &to).is_err());
        }
        sent = until;
        if sent >= due {
            sleep(Duration::from_micros(500));
        }
    }
    let rate = sent as f64 / begin.elapsed().as_secs_f64();
    println!("{sent} datagrams of kind {kind}, {rate:.0} per second, {failed} not sent");
    Ok(())
}

/// Whether an address is reserved for tests or private.
fn is_for_tests(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.is_documentation() || ip.is_loopback(),
        IpAddr::V6(ip) => {
            ip.is_unique_local() || ip.is_loopback() || ip.segments()[..2] == [0x2001, 0xdb8]
        }
    }
}

fn payload(
    kind: &str,
    relay: Option<&PublicKey>,
    random: &mut Random,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut with_random = |head: &[u8], len: usize| {
        let mut bytes = vec![0; len];
        bytes.fill_with(|| random.next() as u8);
        bytes[..head.len()].copy_from_slice(head);
        bytes
    };
    Ok(match kind {
        "byte" => with_random(&[], 1),
        "random" => with_random(&[], 100),
        "hello" => with_random(&[1, 0], 166),
        "answer" => with_random(&[2, 0], 74),
        "cookie" => with_random(&[3, 0], 58),
        "session" => {
            let mut bytes = with_random(&[4, 0], 100);
            // The upper byte of the sequence is zero.
            bytes[6] = 0;
            bytes
        }
        "marked-hello" => {
            let relay = relay.ok_or("marked-hello: needs RELAY_KEY")?;
            let (_, message) =
                Initiator::new(Purpose::Tunnel, &SecretKey::generate(), relay, &[0; 36]);
            let key = [b"ropewalk tunnel mark", &relay.as_bytes()[..]].concat();
            let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &key);
            let mark = ring::hmac::sign(&key, &message);
            [&[1, 0][..], &[0; 16], &mark.as_ref()[..16], &message].concat()
        }
        _ => return Err(format!("{kind}: not a kind").into()),
    })
}

fn forged(target: IpAddr, random: &mut Random) -> SocketAddr {
    let bits = random.next();
    let ip = match target {
        IpAddr::V4(_) => Ipv4Addr::from_bits(0xc612_0000 | bits as u32 & 0x0001_ffff).into(),
        IpAddr::V6(_) => {
            let network = 0x2001_0db8_0bad_u128 << 80;
            let host = u128::from(random.next()) << 16 & (u128::MAX >> 48);
            Ipv6Addr::from_bits(network | host | 1).into()
        }
    };
    SocketAddr::new(ip, (bits >> 32) as u16 | 1024)
}

fn emit(source: SocketAddr, target: SocketAddr, payload: &[u8], out: &mut Vec<u8>) {
    let len = (8 + payload.len()) as u16;
    out.clear();
    let mut sum = u64::from(UDP) + u64::from(len);
    match (source.ip(), target.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            // The kernel sets length and checksum.
            out.extend([0x45, 0, 0, 0, 0, 0, 0, 0, 64, UDP, 0, 0]);
            out.extend(from.octets());
            out.extend(to.octets());
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            out.extend([0x60, 0, 0, 0]);
            out.extend(len.to_be_bytes());
            out.extend([UDP, 64]);
            out.extend(from.octets());
            out.extend(to.octets());
        }
        _ => return,
    }
    sum += words(&out[out.len() - if source.is_ipv4() { 8 } else { 32 }..]);
    let start = out.len();
    for field in [source.port(), target.port(), len, 0] {
        out.extend(field.to_be_bytes());
    }
    out.extend(payload);
    sum += words(&out[start..]);
    while sum >> 16 > 0 {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    let checksum = match !(sum as u16) {
        0 => 0xffff,
        checksum => checksum,
    };
    out[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
}

/// The sum of 16-bit words (RFC 1071).
fn words(bytes: &[u8]) -> u64 {
    let (pairs, rest) = bytes.as_chunks();
    let sum: u64 = pairs
        .iter()
        .map(|pair| u64::from(u16::from_be_bytes(*pair)))
        .sum();
    sum + rest.first().map_or(0, |&byte| u64::from(byte) << 8)
}

/// Generator of predictable random numbers (xorshift64, Marsaglia, 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
