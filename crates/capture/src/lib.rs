//! Files of a run for other programs: packets, 802.11 frames, and the sender's state.
//!
//! - [`PacketFile`]: packets, as pcapng (with interfaces, directions and comments) or as classic pcap
//!   (for the oldest tools).
//! - [`AirCapture`]: 802.11 frames with radiotap headers, as from a receiver in monitor mode.
//! - [`QlogFile`]: congestion windows, round-trip times and losses of senders.
//!
//! A [`Recording`] observes a run and writes these files: each packet at an [`ObservationPoint`] in
//! wire format, and the sender's state of the measured connection. [`reading`] reads captures of any
//! program.
//!
//! All files have the same simulated time, from [`EPOCH`]. A file appears under its name when it is
//! finished. If it is dropped before, an older file of that name stays.
//!
//! ```
//! use ropewalk_capture::{Direction, Interface, InterfaceCounts, PacketFile, Record, Settings};
//! use ropewalk_quantities::{Rate, Time};
//!
//! # let folder = std::env::temp_dir().join(format!("ropewalk-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let path = folder.join("run.pcapng");
//! let interfaces = [Interface { name: "wifi".to_owned(), speed: Some(Rate::from_mbps(20.0)) }];
//! let settings = Settings { snaplen: None, comment: "Wi-Fi alone, seed 1".to_owned(), ..Settings::default() };
//! let mut file = PacketFile::create(&path, &interfaces, &settings)?;
//! file.write(&Record {
//!     time: Time::from_millis(10),
//!     interface: 0,
//!     direction: Direction::Outbound,
//!     bytes: &[0x45, 0x00],
//!     comment: Some("lost"),
//! })?;
//! let packets = file.finish(&[InterfaceCounts { received: 1, dropped: 0 }])?;
//! assert_eq!(packets, 1);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod addresses;
mod air;
mod air_tap;
mod epoch;
mod error;
mod flow;
mod flows;
mod observation_point;
mod packet_file;
mod pcap;
mod pcapng;
mod pending_packets;
mod qlog;
mod qlog_event;
pub mod reading;
mod record;
mod recording;
mod replacing_file;
mod sender_log;
mod tap;
mod writer_lock;

pub use air::AirCapture;
pub use epoch::EPOCH;
pub use error::FileError;
pub use observation_point::{ObservationPoint, UnknownObservationPoint};
pub use packet_file::PacketFile;
pub use qlog::{Header, QlogFile};
pub use qlog_event::{LossCause, Metrics, PacketLost, QlogEvent, SpuriousLoss};
pub use record::{Direction, Interface, InterfaceCounts, LinkType, Record, Settings};
pub use recording::{PacketPlan, Plan, Recording};
pub use tap::Tag;
