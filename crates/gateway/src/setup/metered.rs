//! Whether an interface is metered: by its name, or by NetworkManager.

use std::process::Command;

/// Beginnings of the names of mobile broadband: systemd.net-naming-scheme(7), pppd(8), and Qualcomm's rmnet.
const MOBILE: [&str; 3] = ["ww", "ppp", "rmnet"];

pub(super) fn is_metered(interface: &str) -> bool {
    let is_mobile = MOBILE.iter().any(|begin| interface.starts_with(begin));
    is_mobile || is_marked_by_network_manager(interface)
}

fn is_marked_by_network_manager(interface: &str) -> bool {
    let asked = Command::new("nmcli")
        .args([
            "--get-values",
            "GENERAL.METERED",
            "device",
            "show",
            interface,
        ])
        .output();
    asked.is_ok_and(|done| done.status.success() && is_yes(&done.stdout))
}

/// Whether nmcli(1) answers `yes` or `yes (guessed)`.
fn is_yes(answer: &[u8]) -> bool {
    answer.starts_with(b"yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mobile_broadband_is_metered_by_name() {
        for (interface, expected) in [
            ("wwan0", true),
            ("wwp0s20f0u4", true),
            ("ppp0", true),
            ("wlan0", false),
            ("no-such-device", false),
        ] {
            assert_eq!(is_metered(interface), expected, "{interface}");
        }
    }

    #[test]
    fn answers_of_nmcli() {
        for (answer, expected) in [
            ("yes\n", true),
            ("yes (guessed)\n", true),
            ("no (guessed)\n", false),
            ("unknown\n", false),
            ("", false),
        ] {
            assert_eq!(is_yes(answer.as_bytes()), expected, "{answer}");
        }
    }
}
