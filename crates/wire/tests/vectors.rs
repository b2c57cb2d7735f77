//! Keys, tokens, data sequence numbers and HMACs as Linux computed them.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use ropewalk_transport::multipath::keys::{
    add_address_hmac, initial_data_sequence_number, join_hmac, token,
};
use serde_json::Value;

#[test]
fn the_vectors_of_linux_hold() {
    let file = "../../tests/reference/mptcp-handshake-vectors.json";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let vectors: Value = serde_json::from_slice(&fs::read(path).expect(file)).expect("JSON");

    let capable = &vectors["mp_capable"];
    let (key_a, key_b) = (number(&capable["key_a"]), number(&capable["key_b"]));
    for (key, token_of, idsn) in [(key_a, "token_a", "idsn_a"), (key_b, "token_b", "idsn_b")] {
        assert_eq!(u64::from(token(key)), number(&capable[token_of]));
        assert_eq!(initial_data_sequence_number(key), number(&capable[idsn]));
    }

    let joins = vectors["joins"].as_array().expect("joins");
    assert_eq!(joins.len(), 2);
    for join in joins {
        let nonce = |side: &str| number(&join[format!("rand_{side}")]) as u32;
        assert_eq!(number(&join["token"]), u64::from(token(key_b)));
        let from_b = join_hmac(key_b, key_a, nonce("b"), nonce("a"));
        assert_eq!(hex(&from_b[..8]), join["hmac_b64"]);
        let from_a = join_hmac(key_a, key_b, nonce("a"), nonce("b"));
        assert_eq!(hex(&from_a[..20]), join["hmac_a160"]);
    }

    let announced = vectors["add_addr"].as_array().expect("add_addr");
    assert_eq!(announced.len(), 1);
    for address in announced {
        assert_eq!(address["frm"], "B");
        let id = address["addr_id"].as_u64().expect("an identifier") as u8;
        let ip: IpAddr = address["ipv4"]
            .as_str()
            .expect("text")
            .parse()
            .expect("IPv4");
        let port = address["port"].as_u64().expect("a port") as u16;
        let port = (port != 0).then_some(port);
        let hmac = add_address_hmac(key_b, key_a, id, ip, port);
        assert_eq!(hmac, number(&address["hmac64"]));
    }
}

fn number(hex: &Value) -> u64 {
    u64::from_str_radix(hex.as_str().expect("hexadecimal"), 16).expect("64 bits at most")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
