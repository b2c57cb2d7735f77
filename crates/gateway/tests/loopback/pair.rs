//! A relay and a proxy without encryption, each with options of its own.

use std::net::SocketAddr;

use serde_json::Value;
use tempfile::TempDir;

use crate::gateways;
use crate::process::Gateway;

/// A relay, a proxy with one link, and a folder with their control sockets.
pub struct Pair {
    folder: TempDir,
    pub ends: [Gateway; 2],
    pub proxy_at: SocketAddr,
}

impl Pair {
    /// Options are words; `FOLDER` is replaced by the folder.
    pub fn new(relay_options: &str, proxy_options: &str) -> Pair {
        Pair::within(tempfile::tempdir().unwrap(), relay_options, proxy_options)
    }

    /// Uses a folder with existing files.
    pub fn within(folder: TempDir, relay_options: &str, proxy_options: &str) -> Pair {
        let start = |words: &str| {
            let words = words.replace("FOLDER", folder.path().to_str().unwrap());
            Gateway::start_words(&words)
        };
        let relay = start(&format!(
            "relay --plaintext --listen 127.0.0.1:0 --control FOLDER/relay.sock {relay_options}"
        ));
        let relay_at = relay.wait_for("relay listens on ");
        let proxy = start(&format!(
            "proxy --plaintext --relay {relay_at} --link l2=127.0.0.2 --listen 127.0.0.1:0 \
             --control FOLDER/proxy.sock {proxy_options}"
        ));
        let proxy_at = proxy.wait_for("proxy listens on ").parse().unwrap();
        proxy.wait_for("link l2: up");
        Pair {
            folder,
            ends: [relay, proxy],
            proxy_at,
        }
    }

    pub fn status(&self, end: &str) -> Value {
        gateways::status(self.folder.path(), &format!("{end}.sock"))
    }
}
