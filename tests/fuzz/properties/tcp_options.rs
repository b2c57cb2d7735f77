//! Properties of arbitrary bytes as TCP options, for the fuzz target and the replay of its corpus.

use ropewalk_wire::*;

/// Parsing ends, and parsed options parse again after emission, each alone and, if they fit, all
/// together.
///
/// Returns the options.
pub fn check(bytes: &[u8]) -> Vec<Result<TcpOption<'_>, Malformed>> {
    let mut iterator = TcpOptions::new(bytes);
    let read: Vec<_> = iterator.by_ref().take(bytes.len() + 1).collect();
    assert!(
        read.len() <= bytes.len(),
        "more options than bytes: {read:?}"
    );
    assert_eq!(iterator.next(), None, "they went on after their end");

    let options: Vec<_> = read.iter().copied().filter_map(Result::ok).collect();
    let lengths: usize = options.iter().map(TcpOption::wire_len).sum();
    assert!(lengths <= bytes.len(), "{options:?}");
    write_and_read(&options);
    for option in &options {
        write_and_read(&[*option]);
    }
    read
}

fn write_and_read(options: &[TcpOption<'_>]) {
    let len = options_len(options);
    assert_eq!(len % 4, 0);
    let mut out = [0xee; MAX_OPTIONS_LEN];
    match emit_options(options, &mut out) {
        Err(error) => {
            assert_eq!(error, OptionsTooLong(len));
            assert!(len > MAX_OPTIONS_LEN);
        }
        Ok(written) => {
            assert_eq!(written, len);
            let again: Result<Vec<_>, _> = TcpOptions::new(&out[..len]).collect();
            assert_eq!(again.as_deref(), Ok(options));
        }
    }
}
