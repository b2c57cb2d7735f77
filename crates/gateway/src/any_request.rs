//! Arbitrary requests to the status server and the control socket, for a fuzz target and the replay of its
//! corpus.

use std::sync::Arc;

use crate::control;
use crate::status::{Meter, examples, http};

/// Answers or refuses one request. An even first byte selects HTTP, an odd one the control socket. Returns
/// the status of the answer, or whether the line is a request.
pub fn check(bytes: &[u8]) -> &'static str {
    match bytes.split_first() {
        Some((kind, request)) if kind % 2 == 0 => {
            http::status_of(request, &Meter::new(Arc::new(examples::proxy)))
        }
        Some((_, line)) if control::is_request(line) => "a request",
        _ => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_request_is_answered_or_refused() {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fuzz/corpus/status_request"
        );
        let files = std::fs::read_dir(folder).unwrap();
        let mut statuses: Vec<_> = files
            .map(|file| check(&std::fs::read(file.unwrap().path()).unwrap()))
            .collect();
        statuses.sort_unstable();
        statuses.dedup();
        for expected in [
            "200 OK",
            "400 Bad Request",
            "403 Forbidden",
            "404 Not Found",
            "405 Method Not Allowed",
            "421 Misdirected Request",
            "a request",
            "none",
        ] {
            assert!(statuses.contains(&expected), "{expected} of {statuses:?}");
        }
    }
}
