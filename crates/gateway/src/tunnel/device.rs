//! TUN device: reads and writes whole super-packets, each with a virtio-net header in front (the kernel's
//! Documentation/networking/tuntap.rst).
#![allow(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

use socket2::{Domain, Socket, Type};

use super::config::Interface;

/// A TUN device that this process created. Dropping it removes the device.
#[derive(Debug)]
pub struct Device {
    /// Non-blocking: reading returns a packet from the kernel, writing passes one to it.
    pub file: File,
    pub name: String,
    /// A socket of the device's network namespace, for requests about devices.
    requests: Socket,
}

impl Device {
    /// Creates a device in the calling thread's network namespace; `%d` in the name is replaced by the first
    /// free number. Fails without /dev/net/tun or CAP_NET_ADMIN, or if the name is in use (EBUSY).
    pub fn create(name: &str) -> io::Result<Device> {
        if name.is_empty() || name.len() >= libc::IFNAMSIZ {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")?;
        let requests = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        let mut request = request(name);
        let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes an ifreq, which lives until the call is over.
        check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &mut request) })?;
        let offloads = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
        // SAFETY: TUNSETOFFLOAD takes its argument by value.
        let done = unsafe {
            libc::ioctl(
                file.as_raw_fd(),
                libc::TUNSETOFFLOAD,
                libc::c_ulong::from(offloads),
            )
        };
        check(done)?;
        let letters = request.ifr_name.iter().take_while(|&&letter| letter != 0);
        let name: Vec<u8> = letters.map(|&letter| letter as u8).collect();
        Ok(Device {
            file,
            name: String::from_utf8_lossy(&name).into_owned(),
            requests,
        })
    }

    /// Sets whether the device has a carrier. Without one, the kernel can ignore its routes, and resolvers
    /// its name servers. Before Linux 5.0 it always has one.
    pub fn set_carrier(&self, carrier: bool) {
        let carrier = libc::c_int::from(carrier);
        // SAFETY: TUNSETCARRIER reads an int, which lives until the call is over.
        let _ = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::TUNSETCARRIER, &carrier) };
    }

    /// Returns a device that accepts every packet, for tests of its readers.
    #[cfg(any(test, fuzzing))]
    pub fn null() -> io::Result<Device> {
        let mut options = OpenOptions::new();
        Device::of_file(options.read(true).write(true).open("/dev/null")?)
    }

    /// Returns a device whose packets are read from a file and written to it, for tests.
    #[cfg(any(test, fuzzing))]
    pub fn of_file(file: File) -> io::Result<Device> {
        Ok(Device {
            file,
            name: "test".to_owned(),
            requests: Socket::new(Domain::IPV4, Type::DGRAM, None)?,
        })
    }

    /// Changes the device's MTU; the kernel notifies the connections that use it. Fails if the device has
    /// been renamed.
    pub fn set_mtu(&self, mtu: u16) -> io::Result<()> {
        let mut request = request(&self.name);
        request.ifr_ifru.ifru_mtu = mtu.into();
        // SAFETY: SIOCSIFMTU reads an ifreq, which lives until the call is over.
        check(unsafe {
            libc::ioctl(
                self.requests.as_raw_fd(),
                libc::SIOCSIFMTU as libc::Ioctl,
                &request,
            )
        })
    }

    /// Sets MTU, addresses (each with a prefix length, or a peer) and routes, and brings the device up, with
    /// `ip` of iproute2 or BusyBox. The error is the message of `ip`.
    pub fn set_up(&self, mtu: u16, interface: &Interface) -> io::Result<()> {
        let name = self.name.as_str();
        ip(&["link", "set", "dev", name, "mtu", &mtu.to_string(), "up"])?;
        for address in &interface.addresses {
            let own = address.address.to_string();
            match interface.peer.map(|peer| peer.to_string()) {
                Some(peer) => ip(&["addr", "add", &own, "peer", &peer, "dev", name])?,
                None => ip(&["addr", "add", &address.to_string(), "dev", name])?,
            }
        }
        for route in &interface.routes {
            ip(&["route", "add", &route.to_string(), "dev", name])?;
        }
        Ok(())
    }
}

/// Prepares a request about a device by name (netdevice(7)).
fn request(name: &str) -> libc::ifreq {
    // SAFETY: ifreq is a C struct of integers and arrays of them: all zeros are a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, &from) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *to = from as libc::c_char;
    }
    request
}

fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!(
        "ip {}: {}",
        arguments.join(" "),
        said.trim()
    )))
}

fn check(done: libc::c_int) -> io::Result<()> {
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
