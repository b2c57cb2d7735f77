//! Captured packets as Python values.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple, PyType};
use ropewalk_capture::Direction;
use ropewalk_capture::reading::{
    CaptureReader, CapturedPacket, ChecksumState, Fault, Options as ReadOptions, ReadError,
    Segment as ReadSegment, Unwrapping,
};

use crate::mptcp;

pyo3::create_exception!(
    ropewalk._core,
    PacketFileError,
    pyo3::exceptions::PyValueError,
    "The file is no capture, or does not conform to its format."
);

/// Payload bytes that end a batch: received segments may be large.
const BATCH_BYTES: usize = 8 << 20;

/// Reads the packets of a capture in batches.
#[pyclass(module = "ropewalk._core")]
pub struct PacketReader {
    reader: CaptureReader,
    path: PathBuf,
    /// A block error, kept until earlier packets are returned.
    broken: Option<ReadError>,
    endpoints: Endpoints,
    interface_names: Vec<Option<Py<PyString>>>,
}

#[pymethods]
impl PacketReader {
    /// Opens a capture; "-" is standard input.
    #[new]
    #[pyo3(signature = (path, *, local=HashSet::new(), encapsulated=false, port=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        local: HashSet<IpAddr>,
        encapsulated: bool,
        port: Option<u16>,
    ) -> PyResult<PacketReader> {
        let unwrapping = match (encapsulated, port) {
            (false, _) => Unwrapping::Off,
            (true, None) => Unwrapping::AnyPort,
            (true, Some(port)) => Unwrapping::Port(port),
        };
        Ok(PacketReader {
            reader: CaptureReader::open(&path, unwrapping, local)
                .map_err(|error| into_error(py, error, &path))?,
            path,
            broken: None,
            endpoints: Endpoints::default(),
            interface_names: Vec::new(),
        })
    }

    /// Returns the next packets, at most `count`, or an empty list at the end of the capture.
    fn read(&mut self, py: Python<'_>, count: usize) -> PyResult<Vec<Record>> {
        if let Some(error) = self.broken.take() {
            return Err(into_error(py, error, &self.path));
        }
        let reader = &mut self.reader;
        let (packets, broken) = py.detach(|| batch(reader, count));
        match (packets.is_empty(), broken) {
            (true, Some(error)) => return Err(into_error(py, error, &self.path)),
            (_, broken) => self.broken = broken,
        }
        let packets = packets.into_iter();
        packets.map(|packet| self.record(py, packet)).collect()
    }

    /// Bytes of the uncompressed file up to the last packet read.
    #[getter]
    fn position(&self) -> u64 {
        self.reader.position()
    }

    /// File size in bytes; 0 if unknown.
    #[getter]
    fn size(&self) -> u64 {
        self.reader.size()
    }

    /// Whether the file ends within a packet.
    #[getter]
    fn ends_within_packet(&self) -> bool {
        self.reader.ends_within_packet()
    }

    /// Number of IP fragments whose packet was never complete.
    #[getter]
    fn lost_fragments(&self) -> u64 {
        self.reader.lost_fragments()
    }

    /// Interfaces of the file so far.
    #[getter]
    fn interfaces(&self) -> Vec<Interface> {
        let interfaces = self.reader.interfaces().iter();
        let interfaces = interfaces.map(|interface| Interface {
            name: interface.name.clone(),
            link_type: interface.link_type,
            snap_length: interface.snap_length,
            speed: interface.speed,
            statistics: interface.statistics.clone(),
        });
        interfaces.collect()
    }
}

/// An interface of a capture.
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub struct Interface {
    name: Option<String>,
    link_type: u16,
    snap_length: u32,
    speed: Option<u64>,
    statistics: BTreeMap<&'static str, u64>,
}

/// A captured packet.
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub struct Record {
    number: u64,
    time_ns: i64,
    interface: Option<Py<PyString>>,
    interface_number: usize,
    outbound: Option<bool>,
    is_whole: bool,
    comments: Py<PyTuple>,
    segment: Option<Py<Segment>>,
    skipped: Option<Py<PyString>>,
    faults: Py<PyTuple>,
    zero_length: bool,
    trailing: usize,
    identification: Option<u16>,
    hop_limit: u8,
    ip_checksum: Py<PyString>,
    ip_checksum_error: u16,
    udp_checksum: Py<PyString>,
    tunnels: Py<PyTuple>,
}

/// A TCP segment.
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub struct Segment {
    source: Py<PyTuple>,
    destination: Py<PyTuple>,
    flow: u32,
    reverse_flow: u32,
    sequence: u32,
    acknowledgement: u32,
    flags: u16,
    reserved: u8,
    window: u16,
    urgent: u16,
    options: Py<Options>,
    payload: Py<PyBytes>,
    length: usize,
    checksum: Py<PyString>,
    checksum_error: u16,
}

#[pymethods]
impl Segment {
    fn has(&self, flags: u16) -> bool {
        self.flags & flags != 0
    }
}

/// The options of a TCP segment.
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub struct Options {
    length: usize,
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack_permitted: bool,
    sack: Py<PyTuple>,
    timestamps: Option<(u32, u32)>,
    transmission: Option<u16>,
    out_of_order: bool,
    fast_open: Option<Vec<u8>>,
    accurate_ecn: Option<Py<PyTuple>>,
    mptcp: Py<PyTuple>,
    others: Py<PyTuple>,
    faults: Py<PyTuple>,
    mptcp_faults: Py<PyTuple>,
}

#[pymethods]
impl Options {
    /// MPTCP option of a class, or None.
    fn of<'py>(&self, py: Python<'py>, kind: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
        let mut options = self.mptcp.bind(py).iter();
        options.find(|option| option.get_type().is(kind))
    }
}

/// The next packets, and the error that ends them.
fn batch(reader: &mut CaptureReader, count: usize) -> (Vec<CapturedPacket>, Option<ReadError>) {
    let mut packets = Vec::new();
    let mut bytes = 0;
    while packets.len() < count && bytes < BATCH_BYTES {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                let segment = packet.content.segment.as_ref();
                bytes += segment.map_or(0, |segment| segment.payload.len());
                packets.push(packet);
            }
            Ok(None) => break,
            Err(error) => return (packets, Some(error)),
        }
    }
    (packets, None)
}

impl PacketReader {
    fn record(&mut self, py: Python<'_>, packet: CapturedPacket) -> PyResult<Record> {
        let content = packet.content;
        let segment = match content.segment {
            Some(segment) => Some(Py::new(py, self.endpoints.segment(py, segment)?)?),
            None => None,
        };
        let skipped = content.skipped;
        Ok(Record {
            number: packet.number,
            time_ns: packet.time_ns,
            interface: self.interface_name(py, packet.interface),
            interface_number: packet.interface,
            outbound: packet.direction.map(|way| way == Direction::Outbound),
            is_whole: packet.is_whole,
            comments: strings(py, &packet.comments)?,
            segment,
            skipped: skipped.map(|reason| PyString::new(py, &reason).unbind()),
            faults: faults(py, &content.faults)?,
            zero_length: content.zero_length,
            trailing: content.trailing,
            identification: content.identification,
            hop_limit: content.hop_limit,
            ip_checksum: name(py, content.ip_checksum),
            ip_checksum_error: error_of(content.ip_checksum),
            udp_checksum: name(py, content.udp_checksum),
            tunnels: PyTuple::new(py, content.tunnels)?.unbind(),
        })
    }

    fn interface_name(&mut self, py: Python<'_>, index: usize) -> Option<Py<PyString>> {
        let known = self.interface_names.len();
        let interfaces = self.reader.interfaces().iter().skip(known);
        let names = interfaces.map(|interface| interface.name.as_deref());
        let names = names.map(|name| name.map(|name| PyString::new(py, name).unbind()));
        self.interface_names.extend(names);
        let name = self.interface_names[index].as_ref();
        name.map(|name| name.clone_ref(py))
    }
}

/// Endpoints of segments, each as one Python value, and numbers of their pairs.
#[derive(Default)]
struct Endpoints {
    addresses: HashMap<IpAddr, Py<PyAny>>,
    endpoints: HashMap<SocketAddr, Py<PyTuple>>,
    flows: HashMap<(SocketAddr, SocketAddr), u32>,
}

impl Endpoints {
    fn segment(&mut self, py: Python<'_>, segment: ReadSegment) -> PyResult<Segment> {
        let (source, destination) = (segment.source, segment.destination);
        Ok(Segment {
            source: self.endpoint(py, source)?,
            destination: self.endpoint(py, destination)?,
            flow: self.flow(source, destination),
            reverse_flow: self.flow(destination, source),
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            flags: segment.flags,
            reserved: segment.reserved,
            window: segment.window,
            urgent: segment.urgent,
            options: Py::new(py, options(py, &segment.options)?)?,
            payload: PyBytes::new(py, &segment.payload).unbind(),
            length: segment.len,
            checksum: name(py, segment.checksum),
            checksum_error: error_of(segment.checksum),
        })
    }

    fn endpoint(&mut self, py: Python<'_>, endpoint: SocketAddr) -> PyResult<Py<PyTuple>> {
        if let Some(known) = self.endpoints.get(&endpoint) {
            return Ok(known.clone_ref(py));
        }
        let address = match self.addresses.get(&endpoint.ip()) {
            Some(known) => known.clone_ref(py),
            None => {
                let address = endpoint.ip().into_pyobject(py)?.unbind();
                self.addresses.insert(endpoint.ip(), address.clone_ref(py));
                address
            }
        };
        let made = (address, endpoint.port()).into_pyobject(py)?.unbind();
        self.endpoints.insert(endpoint, made.clone_ref(py));
        Ok(made)
    }

    fn flow(&mut self, source: SocketAddr, destination: SocketAddr) -> u32 {
        let next = self.flows.len() as u32;
        *self.flows.entry((source, destination)).or_insert(next)
    }
}

fn options(py: Python<'_>, found: &ReadOptions) -> PyResult<Options> {
    let blocks = found.sack.as_ref().map_or(&[][..], |sack| sack.as_slice());
    let accurate_ecn = match &found.accurate_ecn {
        Some((kind, counters)) => {
            let counters = PyTuple::new(py, counters)?;
            Some((*kind, counters).into_pyobject(py)?.unbind())
        }
        None => None,
    };
    let mptcp = found.mptcp.iter();
    let mptcp: Vec<_> = mptcp
        .map(|option| mptcp::option(py, option))
        .collect::<PyResult<_>>()?;
    let others = found
        .others
        .iter()
        .map(|(kind, body)| (*kind, PyBytes::new(py, body)));
    Ok(Options {
        length: found.len,
        mss: found.mss,
        window_scale: found.window_scale,
        sack_permitted: found.sack_permitted,
        sack: PyTuple::new(py, blocks)?.unbind(),
        timestamps: found.timestamps,
        transmission: found.transmission,
        out_of_order: found.out_of_order,
        fast_open: found.fast_open.clone(),
        accurate_ecn,
        mptcp: PyTuple::new(py, mptcp)?.unbind(),
        others: PyTuple::new(py, others.collect::<Vec<_>>())?.unbind(),
        faults: faults(py, &found.faults)?,
        mptcp_faults: faults(py, &found.mptcp_faults)?,
    })
}

fn faults(py: Python<'_>, found: &[Fault]) -> PyResult<Py<PyTuple>> {
    let found = found
        .iter()
        .map(|fault| (fault.clause, fault.text.as_str()));
    Ok(PyTuple::new(py, found)?.unbind())
}

fn strings(py: Python<'_>, found: &[String]) -> PyResult<Py<PyTuple>> {
    Ok(PyTuple::new(py, found)?.unbind())
}

fn name(py: Python<'_>, checked: ChecksumState) -> Py<PyString> {
    PyString::intern(py, checked.name()).unbind()
}

fn error_of(checked: ChecksumState) -> u16 {
    match checked {
        ChecksumState::Wrong(error) => error,
        _ => 0,
    }
}

fn into_error(py: Python<'_>, error: ReadError, path: &Path) -> PyErr {
    match error {
        ReadError::Io(error) => match error.raw_os_error() {
            // With the error number, Python chooses the class, such as FileNotFoundError.
            Some(number) => py
                .import("os")
                .and_then(|os| os.call_method1("strerror", (number,)))
                .map_or_else(
                    |error| error,
                    |text| PyOSError::new_err((number, text.unbind(), path.to_owned())),
                ),
            None => PyErr::from(error),
        },
        other => PacketFileError::new_err(other.to_string()),
    }
}
