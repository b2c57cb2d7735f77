//! TCP options.

use super::*;

#[test]
fn options_are_read_past_unknown_and_malformed_ones() {
    let bytes = [
        99, 4, 1, 2, // unknown
        2, 3, 9, // MSS of a wrong length
        34, 6, 1, 2, 3, 4, // Fast Open
        172, 5, 0, 1, 2, // AccECN
        30, 5, 0x20, 0xff, 0, // DSS of a wrong length
        30, 12, 0x01, 0x81, 1, 2, 3, 4, 5, 6, 7, 8, // MP_CAPABLE
        3, 3, 7, // window scale
        0, 0,
    ];
    let options = Options::read(&bytes);
    assert_eq!(options.others, [(99, vec![1, 2])]);
    assert_eq!(options.window_scale, Some(7));
    assert_eq!(options.fast_open.as_deref(), Some(&[1, 2, 3, 4][..]));
    assert_eq!(options.accurate_ecn, Some((172, vec![0x0102])));
    assert_eq!((options.mptcp.len(), options.mptcp[0].flags), (1, 0x81));
    let text = "MSS of length 3, at byte 4 of the options";
    assert_eq!(options.faults, [Fault::new("RFC 9293, 3.2", text)]);
    let text = "DSS of length 5, at byte 18 of the options";
    assert_eq!(options.mptcp_faults, [Fault::new("RFC 8684, 3.3", text)]);
}

#[test]
fn violations_of_options_are_told() {
    let cases: [(&[u8], &str); 9] = [
        (
            &[0, 1],
            "padding after the end of the options is not 0, at byte 1",
        ),
        (&[3, 3, 15], "window scale 15 is more than 14"),
        (&[4, 2, 4, 2], "SACK permitted twice, at byte 2"),
        (
            &[1, 8, 0],
            "timestamps of length 0, at byte 1 of the options",
        ),
        (
            &[1, 8, 10, 1],
            "timestamps of length 10 where 3 bytes are left, at byte 1 of the options",
        ),
        (
            &[1, 8],
            "timestamps without a length, at byte 1 of the options",
        ),
        (&[30, 4, 0x20, 0x10], "DATA_FIN without a mapping"),
        (&[30, 3, 0x5e], "reserved bits of MP_PRIO are not 0"),
        (&[30, 3, 0x90], "unknown MPTCP subtype 9, at byte 0"),
    ];
    for (bytes, text) in cases {
        let options = Options::read(bytes);
        let faults = [options.faults, options.mptcp_faults].concat();
        assert_eq!(faults.len(), 1, "{text}: {faults:?}");
        assert_eq!(faults[0].text, text);
    }
    assert_eq!(Options::read(&[30, 3, 0xf0]).mptcp_faults, []);
}
