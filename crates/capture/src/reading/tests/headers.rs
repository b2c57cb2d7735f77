//! Headers of links and tunnels.

use super::*;

#[test]
fn each_link_header_is_removed() {
    let ip = tcp4(50);
    let snap = after(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &ip);
    let ppp = after(&[0, 0x21], &ip);
    let pppoe_len = (ppp.len() as u16).to_be_bytes();
    let pppoe = after(&[0x11, 0, 0, 1, pppoe_len[0], pppoe_len[1]], &ppp);
    let data_frame = [0x08, 2, 0, 0]
        .iter()
        .chain([2; 18].iter())
        .chain(&[0x10, 0]);
    let data_frame: Vec<u8> = data_frame.copied().collect();
    let qos_frame = after(&[&[0x88, 1][..], &data_frame[2..], &[0, 0]].concat(), &snap);
    let radiotap = [0, 0, 9, 0, 2, 0, 0, 0, 0x10];
    let tagged = after(&[0, 5, 0x81, 0, 0, 6, 8, 0], &ip);
    let sll = after(&[&[0; 14][..], &[8, 0]].concat(), &ip);
    let sll2 = after(&[&[8, 0][..], &[0; 18]].concat(), &ip);
    let frames = [
        (0, after(&[2, 0, 0, 0], &ip)),
        (108, after(&[0, 0, 0, 2], &ip)),
        (1, ethernet(0x0800, &ip)),
        (1, ethernet(0x88a8, &tagged)),
        (1, ethernet(snap.len() as u16, &snap)),
        (1, ethernet(0x8864, &pppoe)),
        (1, ethernet(0x8847, &after(&[0, 1, 0, 9, 0, 2, 1, 9], &ip))),
        (9, ppp.clone()),
        (9, after(&[0xff, 3, 0x21], &ip)),
        (50, after(&[0xff, 3], &ppp)),
        (50, after(&[0x0f, 0, 8, 0], &ip)),
        (51, pppoe),
        (12, ip.clone()),
        (14, ip.clone()),
        (101, ip.clone()),
        (228, ip.clone()),
        (104, after(&[0x0f, 0, 8, 0], &ip)),
        (105, after(&data_frame, &snap)),
        (105, qos_frame.clone()),
        (127, after(&radiotap, &after(&qos_frame, &[1, 2, 3, 4]))),
        (192, after(&[0, 0, 8, 0, 105, 0, 0, 0], &qos_frame)),
        (113, sll),
        (276, sll2),
        (204, after(&[1], &ppp)),
    ];
    for (link_type, frame) in frames {
        assert_examined(&content(link_type, frame), 50);
    }
}

#[test]
fn each_tunnel_is_removed() {
    let ip = tcp4(10);
    let frame = ethernet(0x0800, &ip);
    let tunnels = [
        ("IP in IP", ipv4(4, 0, &ip)),
        (
            "GRE",
            ipv4(47, 0, &after(&[0x20, 0, 8, 0, 0, 0, 0, 1], &ip)),
        ),
        ("GRE", ipv4(47, 0, &after(&[0, 0, 0x65, 0x58], &frame))),
        ("MPLS", ipv4(137, 0, &after(&[0, 1, 1, 9], &ip))),
        (
            "VXLAN",
            ipv4(17, 0, &udp(4789, &after(&[8, 0, 0, 0, 0, 0, 1, 0], &frame))),
        ),
        (
            "Geneve",
            ipv4(
                17,
                0,
                &udp(6081, &after(&[0, 0, 0x65, 0x58, 0, 0, 1, 0], &frame)),
            ),
        ),
        (
            "GTP-U",
            ipv4(
                17,
                0,
                &udp(2152, &after(&[0x30, 255, 0, 0, 0, 0, 0, 1], &ip)),
            ),
        ),
        (
            "GTP-U",
            ipv4(
                17,
                0,
                &udp(
                    2152,
                    &after(
                        &[0x34, 255, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0],
                        &ip,
                    ),
                ),
            ),
        ),
    ];
    for (name, packet) in tunnels {
        let found = content(101, packet);
        assert_examined(&found, 10);
        assert_eq!(found.tunnels, [name]);
    }
}

#[test]
fn a_datagram_is_unwrapped_on_request_only() {
    let capture = pcap(101, &[ipv4(17, 0, &udp(6080, &tcp4(10)))]);
    let read = |unwrapping| {
        let mut reader = open(&capture, unwrapping).unwrap();
        reader.next_packet().unwrap().unwrap().content
    };
    assert_eq!(read(Unwrapping::Off).skipped.as_deref(), Some("UDP"));
    assert_eq!(read(Unwrapping::Port(6081)).skipped.as_deref(), Some("UDP"));
    assert_examined(&read(Unwrapping::Port(6080)), 10);
    assert_examined(&read(Unwrapping::AnyPort), 10);
}
