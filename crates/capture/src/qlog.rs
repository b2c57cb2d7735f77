//! qlog files: JSON Text Sequences (RFC 7464), one record per event.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ropewalk_quantities::Time;
use serde::Serialize;

use crate::epoch::EPOCH_RFC3339;
use crate::error::FileError;
use crate::qlog_event::{
    Metrics, MetricsData, PacketLostData, PathAssignedData, QlogEvent, SpuriousLossData,
};
use crate::replacing_file::{ReplacingFile, is_stream};

/// The header of a qlog file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// A title, such as the scenario's title and the seed.
    pub title: String,
    /// `TCP` or `MPTCP`.
    pub protocol: String,
    /// Path of each subflow: its index is the `path_id`, its name the `group_id`, by which viewers
    /// distinguish subflows. Names must differ.
    pub paths: Vec<String>,
}

/// A qlog file after draft-ietf-quic-qlog-main-schema.
///
/// Its schema is `urn:ietf:params:qlog:file:sequential` (QlogFileSeq), from the client's vantage
/// point. Each event has the `path_id` of its subflow. Choices that the draft leaves open:
///
/// - The extension is `.sqlog`, as the draft recommends and some viewers require. A FIFO, a device
///   or standard output may have any.
/// - The clock is called `system`, since a `monotonic` one must not have a date as its epoch, which
///   is [`EPOCH`](crate::EPOCH). Times are in milliseconds with nanoseconds as decimals.
/// - `event_schemas`, which must not be empty, names QUIC's: TCP has none, and the events have
///   QUIC's data. Event names are older: see [`QlogEvent`].
/// - `qlog_version` and `qlog_format` are from drafts until 2024, by which qvis recognises a file.
///   Later readers ignore them.
///
/// It appears under its name when it is [finished](QlogFile::finish), like a
/// [`PacketFile`](crate::PacketFile).
pub struct QlogFile {
    path: PathBuf,
    file: ReplacingFile,
    paths: Vec<PathState>,
}

struct PathState {
    name: String,
    last: Option<Metrics>,
}

impl QlogFile {
    /// Creates a file, with one `connectivity:path_assigned` event per path. Fails if the extension
    /// is not `.sqlog`, or the file cannot be created.
    pub fn create(path: &Path, header: &Header) -> Result<QlogFile, FileError> {
        let ending = path.extension().unwrap_or_default();
        if !ending.eq_ignore_ascii_case("sqlog") && !is_stream(path) {
            return Err(FileError::UnknownEnding {
                path: path.to_owned(),
                what: "qlog file",
                allowed: ".sqlog",
            });
        }
        let mut file = ReplacingFile::create(path)?;
        put(&mut file, &FileRecord::new(header)).map_err(|error| FileError::io(path, error))?;
        let mut qlog = QlogFile {
            path: path.to_owned(),
            file,
            paths: Vec::new(),
        };
        for (path_id, name) in header.paths.iter().enumerate() {
            qlog.paths.push(PathState {
                name: name.clone(),
                last: None,
            });
            let data = PathAssignedData {
                path_id,
                path_name: name,
            };
            qlog.put_event(Time::ZERO, "connectivity:path_assigned", path_id, data)?;
        }
        Ok(qlog)
    }

    /// Writes an event. The draft requires times in order. Fails if the file cannot be written.
    /// Panics if there is no such path.
    pub fn write(
        &mut self,
        time: Time,
        path_id: usize,
        event: &QlogEvent,
    ) -> Result<(), FileError> {
        match event {
            QlogEvent::Metrics(metrics) => {
                let last = self.paths[path_id].last.replace(*metrics);
                match MetricsData::changes(last.as_ref(), metrics) {
                    Some(data) => self.put_event(time, "recovery:metrics_updated", path_id, data),
                    None => Ok(()),
                }
            }
            QlogEvent::PacketLost(lost) => {
                let data = PacketLostData::from(lost);
                self.put_event(time, "recovery:packet_lost", path_id, data)
            }
            QlogEvent::SpuriousLoss(spurious) => {
                let data = SpuriousLossData::from(spurious);
                self.put_event(time, "recovery:spurious_loss", path_id, data)
            }
        }
    }

    /// Completes the file. Fails if the file cannot be written; then nothing appears.
    pub fn finish(self) -> Result<(), FileError> {
        self.file.finish()
    }

    fn put_event(
        &mut self,
        time: Time,
        name: &'static str,
        path_id: usize,
        data: impl Serialize,
    ) -> Result<(), FileError> {
        let record = EventRecord {
            time: time.as_millis_f64(),
            name,
            path_id,
            group_id: &self.paths[path_id].name,
            data,
        };
        put(&mut self.file, &record).map_err(|error| FileError::io(&self.path, error))
    }
}

impl fmt::Debug for QlogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QlogFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// First record; the order of its first two fields is fixed.
#[derive(Serialize)]
struct FileRecord<'a> {
    file_schema: &'static str,
    serialization_format: &'static str,
    qlog_version: &'static str,
    qlog_format: &'static str,
    title: &'a str,
    trace: Trace<'a>,
}

#[derive(Serialize)]
struct Trace<'a> {
    vantage_point: VantagePoint,
    common_fields: CommonFields<'a>,
    event_schemas: [&'static str; 1],
}

#[derive(Serialize)]
struct VantagePoint {
    name: &'static str,
    r#type: &'static str,
}

#[derive(Serialize)]
struct CommonFields<'a> {
    time_format: &'static str,
    reference_time: ReferenceTime,
    protocol_types: [&'a str; 1],
}

#[derive(Serialize)]
struct ReferenceTime {
    clock_type: &'static str,
    epoch: &'static str,
}

impl FileRecord<'_> {
    fn new(header: &Header) -> FileRecord<'_> {
        FileRecord {
            file_schema: "urn:ietf:params:qlog:file:sequential",
            serialization_format: "application/qlog+json-seq",
            qlog_version: "0.3",
            qlog_format: "JSON-SEQ",
            title: &header.title,
            trace: Trace {
                vantage_point: VantagePoint {
                    name: concat!("ropewalk ", env!("CARGO_PKG_VERSION")),
                    r#type: "client",
                },
                common_fields: CommonFields {
                    time_format: "relative_to_epoch",
                    reference_time: ReferenceTime {
                        clock_type: "system",
                        epoch: EPOCH_RFC3339,
                    },
                    protocol_types: [&header.protocol],
                },
                event_schemas: ["urn:ietf:params:qlog:events:quic"],
            },
        }
    }
}

#[derive(Serialize)]
struct EventRecord<'a, D> {
    time: f64,
    name: &'static str,
    path_id: usize,
    group_id: &'a str,
    data: D,
}

fn put(file: &mut ReplacingFile, record: &impl Serialize) -> io::Result<()> {
    file.write_all(b"\x1e")?;
    serde_json::to_writer(&mut *file, record)?;
    file.write_all(b"\n")
}
