//! Properties of arbitrary first bytes on a carrier, for the fuzz target and the replay of its
//! corpus.

use ropewalk_wire::gateway::{Frame, Join, MAX_HEADER_LEN, MalformedFrame};

const FIN: u8 = 1;
const RESUMES: u8 = 1;

/// A join and frames are parsed, rejected or incomplete, and a prefix of incomplete ones is
/// incomplete. A parsed frame is written as the same bytes.
///
/// Returns the frames, and the reason for the end.
pub fn check(bytes: &[u8]) -> String {
    let (mut said, mut at) = (String::new(), 0);
    match Join::parse(bytes) {
        Ok(Some((join, len))) => {
            let mut written = Vec::new();
            join.emit(&mut written);
            let mut read = bytes[..len].to_vec();
            read[2] &= RESUMES; // Other flags are ignored.
            assert_eq!(written, read);
            nothing_in_parts(&bytes[..len], Join::parse);
            (said, at) = (format!("{} and ", join.link), len);
        }
        Ok(None) if !bytes.is_empty() => return "a part of a join".to_owned(),
        Err(error) if !matches!(error, MalformedFrame::Type(_)) => return error.to_string(),
        Ok(None) | Err(_) => {}
    }
    let mut frames = 0;
    let end = loop {
        let rest = &bytes[at..];
        let (frame, len) = match Frame::parse(rest) {
            Ok(Some(read)) => read,
            Ok(None) if rest.is_empty() => break String::new(),
            Ok(None) => break ", then a part of a header".to_owned(),
            Err(error) => break format!(", then: {error}"),
        };
        nothing_in_parts(&rest[..len], Frame::parse);
        let payload = written_again(&frame, &rest[..len]);
        frames += 1;
        at += len + payload;
        if at > bytes.len() {
            break format!(", the last without {} bytes", at - bytes.len());
        }
    };
    format!("{said}{frames} frames{end}")
}

/// Checks that the frame's header is these bytes; returns its payload's length.
fn written_again(frame: &Frame<usize>, header: &[u8]) -> usize {
    let payload = match frame {
        Frame::Data { payload, .. } => *payload,
        _ => 0,
    };
    let mut written = [0; MAX_HEADER_LEN];
    let len = frame.emit_header(payload, &mut written);
    let mut read = header.to_vec();
    if matches!(frame, Frame::Data { .. }) {
        read[1] &= FIN; // Other flags are ignored.
    }
    assert_eq!(written[..len], read);
    assert_eq!(len, frame.header_len());
    payload
}

/// Checks that prefixes of valid bytes are neither parsed nor rejected.
fn nothing_in_parts<T>(whole: &[u8], read: impl Fn(&[u8]) -> Result<Option<T>, MalformedFrame>) {
    for len in 0..whole.len() {
        assert!(matches!(read(&whole[..len]), Ok(None)), "{len} bytes");
    }
}
