//! Properties of arbitrary segments of a connection, for the fuzz target and the replay of its
//! corpus.

use ropewalk_wire::*;

const SUBFLOWS: usize = 4;

/// Each segment is parsed or rejected. A parsed segment has the stated header length, and parses
/// again after emission by the same connection.
///
/// Each segment follows a byte with sender (lowest bit: the server) and subflow (next two bits),
/// and its length in two bytes. Returns the numbers of parsed and rejected segments.
pub fn check(mut bytes: &[u8]) -> [usize; 2] {
    let mut connection = Connection::new();
    for number in 0..SUBFLOWS {
        let start = InitialNumbers {
            address_id: number as u8,
            ..InitialNumbers::default()
        };
        connection.add_subflow(start, InitialNumbers::default());
    }
    let mut counts = [0, 0];
    while let [who, high, low, rest @ ..] = bytes {
        let len = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
        let (segment, after) = rest.split_at(len);
        bytes = after;
        let from = [Side::Client, Side::Server][usize::from(who & 1)];
        let subflow = usize::from(who >> 1 & 3);
        let Ok(view) = TcpView::parse(segment) else {
            counts[1] += 1;
            continue;
        };
        match connection.parse(from, subflow, &view) {
            Ok(segment) => {
                assert_eq!(segment.len as usize, view.payload().len());
                write(&mut connection, from, subflow, &segment, view.payload());
                counts[0] += 1;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                counts[1] += 1;
            }
        }
    }
    counts
}

fn write(
    connection: &mut Connection,
    from: Side,
    subflow: usize,
    segment: &ropewalk_transport::Segment,
    payload: &[u8],
) {
    let sum = Checksum::new().add_bytes(payload);
    let wire = connection.emit(from, subflow, segment, sum);
    let len = TcpHeader::LEN + options_len(wire.options());
    assert_eq!(len, segment.header_len() as usize, "{segment:?}");
    if len > TcpHeader::LEN + MAX_OPTIONS_LEN {
        return; // They were packed closer than emission does.
    }
    let mut bytes = vec![0; len];
    wire.header(1, 2)
        .emit(wire.options(), sum, &mut bytes)
        .expect("40 bytes at most");
    bytes.extend(payload);
    let view = TcpView::parse(&bytes).expect("a whole segment");
    let again = connection
        .parse(from, subflow, &view)
        .unwrap_or_else(|error| {
            panic!("{error}: {segment:?}");
        });
    assert_eq!((again.seq, again.ack), (segment.seq, segment.ack));
    assert_eq!((again.len, again.data_ack), (segment.len, segment.data_ack));
}
