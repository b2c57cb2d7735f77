//! Properties of arbitrary bytes received on a carrier, for the fuzz target and the replay of its
//! corpus.

use ropewalk_gateway::record::{Decoder, Encoder};

/// Frames are parsed or the carrier ends, however the bytes are split. A parsed frame is equal
/// after writing and parsing again.
///
/// The first byte selects the split. Returns the frames, and the reason for the end.
pub fn check(bytes: &[u8]) -> String {
    let (step, bytes) = match bytes.split_first() {
        Some((step, bytes)) => (usize::from(*step) + 1, bytes),
        None => (1, bytes),
    };
    let (frames, end) = decode(bytes, step);
    let (whole, whole_end) = decode(bytes, bytes.len().max(1));
    assert_eq!((&frames, &end), (&whole, &whole_end));

    let mut encoder = Encoder::new(None);
    let mut written = Vec::new();
    for frame in &frames {
        encoder.push(frame);
    }
    encoder.finish();
    while !encoder.is_written() {
        let wrote = encoder.write(|slices| {
            let len = slices.iter().map(|slice| slice.len()).sum();
            slices
                .iter()
                .for_each(|slice| written.extend_from_slice(slice));
            Ok(len)
        });
        assert!(wrote.is_ok());
    }
    assert_eq!(
        decode(&written, written.len().max(1)),
        (frames.clone(), None)
    );
    match end {
        Some(error) => format!("{} frames, then: {error}", frames.len()),
        None => format!("{} frames", frames.len()),
    }
}

type Frame = ropewalk_wire::gateway::Frame<bytes::Bytes>;

fn decode(bytes: &[u8], step: usize) -> (Vec<Frame>, Option<String>) {
    let mut decoder = Decoder::new(None);
    let mut frames = Vec::new();
    for piece in bytes.chunks(step) {
        decoder.space().extend_from_slice(piece);
        loop {
            match decoder.frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Some(error.to_string())),
            }
        }
    }
    (frames, None)
}
