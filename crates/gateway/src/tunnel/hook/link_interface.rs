//! Interface of a link, for packet filters.

use std::process::Command;

use crate::links::Egress;

/// Returns the interface of a link, or the pattern of its interfaces. That of an address is known to ip(8) only, and may not exist yet.
pub(super) fn interface_of(link: &Egress) -> Option<String> {
    let address = match link {
        Egress::Interface(name) => return Some(name.clone()),
        Egress::Address(address) => address.to_string(),
    };
    let mut command = Command::new("ip");
    let output = command
        .args(["-o", "addr", "show", "to", &address])
        .output();
    let text = String::from_utf8(output.ok()?.stdout).ok()?;
    text.split_whitespace().nth(1).map(str::to_owned)
}
