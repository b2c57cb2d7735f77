//! What holds of any bytes as TCP options; the fuzz target and the replay of its corpus share it.

use ropewalk_wire::*;

/// Options come to an end, and what was read can be written and read again,
/// each alone and all together, as far as there is room.
///
/// Returns what was read.
pub fn hold(bytes: &[u8]) -> Vec<Result<TcpOption<'_>, Malformed>> {
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
