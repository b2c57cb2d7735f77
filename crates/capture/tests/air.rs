//! Frames of a channel in files, read back.

use std::fs::File;

use pcap_file::DataLink;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use ropewalk_capture::AirCapture;
use ropewalk_network::radio::{
    CapturePoint, Channel, ChannelConfig, DataRate, ErrorModel, FrameKind, Preamble, Propagation,
    QueueOrder, RadioConfig, RadioHop, RateControl, RecordedFrame, Standard,
};
use ropewalk_network::{HopId, Loss, Network, Offer};
use ropewalk_quantities::Time;
use ropewalk_wire::wifi::{MacFrame, Radiotap, fcs_is_right};
use ropewalk_wire::{Checksum, IpHeader, UdpHeader, protocol};

const SIZE: u32 = 1028;

fn radio(node: &str, x: f64) -> RadioConfig {
    RadioConfig {
        node: node.to_owned(),
        at: [x, 0.0, 0.0],
        standard: Standard::B,
        rate: RateControl::Fixed(DataRate::Cck11),
        basic_rates: vec![DataRate::Cck11],
        tries: 7,
        long_tries: 4,
        rts: None,
        preamble: Preamble::Long,
        slot: Standard::B.slot(),
        queue_packets: 5000,
        queue_order: QueueOrder::Fifo,
        lifetime: None,
        power_dbm: 16.0206,
        antenna_gain_db: 0.0,
        noise_figure_db: 7.0,
        sensitivity_dbm: -82.0,
        sense_dbm: -82.0,
        preamble_detection: None,
        eifs_rate: DataRate::Dsss1,
    }
}

/// Frames of two mutually hidden senders, one of them with RTS, at a monitor; and the number of
/// retries.
fn heard() -> (Vec<RecordedFrame<u16>>, u64) {
    let channel = ChannelConfig {
        name: "one".to_owned(),
        propagation: Propagation::Range {
            range_m: 25.0,
            sense_m: 25.0,
        },
        fading: None,
        error_model: ErrorModel::Nist,
        capture_db: None,
        propagation_delay: false,
    };
    let mut radios = [
        radio("left", -20.0),
        radio("middle", 0.0),
        radio("right", 20.0),
    ];
    radios[2].rts = Some(500);
    let hops = [0, 2].map(|from| RadioHop {
        name: format!("{from}"),
        from,
        to: 1,
        loss: Loss::Bernoulli(0.1),
    });
    let mut network: Network<u16, Channel<u16>> = Network::new();
    let interfaces = radios.clone().map(|_| {
        let node = network.add_node();
        network.add_interface(node)
    });
    let pairs = [0, 2].map(|from| (interfaces[from], interfaces[1]));
    let ids: Vec<HopId> = network.add_medium(&pairs, |ids| {
        let mut channel = Channel::new(&channel, &radios, &hops, ids, 1);
        channel.record_frames(CapturePoint::Monitor);
        channel
    });
    for id in ids {
        let route = network.add_route([id]);
        for mut number in 0..300 {
            let offer = network.offer(Time::ZERO, route, SIZE, &mut number, &mut ());
            assert_eq!(offer, Offer::Accepted);
        }
    }
    while let Some(key) = network.next() {
        let _ = network.advance(key.time, &mut ());
        assert!(key.time < Time::from_secs(20));
    }
    let end = Time::from_secs(20);
    let channel = network.media_mut().next().expect("a channel");
    let retries = (0..3).map(|radio| channel.radio_stats(radio, end).retries);
    let retries = retries.sum();
    (channel.take_frames().collect(), retries)
}

fn packet(number: u16) -> Vec<u8> {
    let ends = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
    let ip = IpHeader::new(ends[0], ends[1], protocol::UDP).unwrap();
    let mut bytes = vec![0; SIZE as usize];
    let head = ip.wire_len();
    let len = bytes.len() - head;
    ip.emit(len, &mut bytes[..head]);
    let sum: Checksum = ip.pseudo_header(len).add_sum(Checksum::new());
    let udp = UdpHeader {
        source_port: 40_000 + number,
        destination_port: 9,
    };
    udp.emit(len - UdpHeader::LEN, sum, &mut bytes[head..]);
    bytes
}

#[test]
fn frames_are_read_back_as_they_were_heard() {
    let (heard, retries) = heard();
    let folder = tempfile::tempdir().unwrap();
    let mut frames: Vec<Vec<Vec<u8>>> = Vec::new();
    for name in ["air.pcap", "air.pcapng"] {
        let path = folder.path().join(name);
        let mut file = AirCapture::create(&path, &["one"], None, "two hidden senders").unwrap();
        for frame in &heard {
            let bytes = frame.packet.map(|carried| packet(carried.packet));
            file.write(0, frame, &bytes.unwrap_or_default()).unwrap();
        }
        assert_eq!(file.finish().unwrap(), heard.len() as u64);
        let file = File::open(&path).unwrap();
        let mut read = Vec::new();
        if name.ends_with("ng") {
            let mut reader = PcapNgReader::new(file).unwrap();
            while let Some(block) = reader.next_block() {
                match block.unwrap() {
                    Block::InterfaceDescription(interface) => {
                        assert_eq!(interface.linktype, DataLink::IEEE802_11_RADIOTAP);
                    }
                    Block::EnhancedPacket(packet) => read.push(packet.data.into_owned()),
                    _ => {}
                }
            }
        } else {
            let mut reader = PcapReader::new(file).unwrap();
            assert_eq!(reader.header().datalink, DataLink::IEEE802_11_RADIOTAP);
            while let Some(packet) = reader.next_packet() {
                read.push(packet.unwrap().data.into_owned());
            }
        }
        frames.push(read);
    }
    assert_eq!(frames[0], frames[1]);
    assert_eq!(frames[0].len(), heard.len());
    let mut seen = [0_u64; 4];
    for (bytes, heard) in frames[0].iter().zip(&heard) {
        let (radiotap, rest) = Radiotap::parse(bytes).unwrap();
        assert_eq!(radiotap.bad_fcs, !heard.intact);
        assert_eq!(radiotap.time_us, heard.start.as_nanos() / 1000);
        assert_eq!((radiotap.signal_dbm, radiotap.noise_dbm), (16, -94));
        assert_eq!(rest.len(), heard.bytes as usize);
        assert_eq!(fcs_is_right(rest), heard.intact);
        let frame = MacFrame::parse(&rest[..rest.len() - 4]).unwrap();
        let micros = (heard.duration.as_nanos() / 1000) as u16;
        match frame {
            MacFrame::Data {
                retry,
                duration_us,
                sequence,
                packet: bytes,
                ..
            } => {
                assert_eq!((retry, sequence), (heard.retry, heard.sequence));
                // SIFS and an ACK at 11 Mbit/s.
                assert_eq!((duration_us, radiotap.rate), (213, 22));
                assert_eq!(bytes, packet(heard.packet.unwrap().packet));
                seen[0] += 1;
                seen[1] += u64::from(retry);
            }
            MacFrame::Rts { duration_us, .. } => {
                assert_eq!(duration_us, micros);
                assert_eq!(duration_us, 10 + 203 + 10 + 966 + 213);
                seen[2] += 1;
            }
            MacFrame::Cts { duration_us, .. } => assert_eq!(duration_us, 10 + 966 + 213),
            MacFrame::Ack { .. } => assert_eq!(heard.kind, FrameKind::Ack),
        }
        seen[3] += u64::from(heard.collided);
    }
    assert_eq!(seen[1], retries);
    assert!(seen.iter().all(|count| *count > 50), "{seen:?}");
}
