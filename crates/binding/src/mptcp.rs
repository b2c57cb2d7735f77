//! MPTCP options as Python values.

use std::net::IpAddr;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use ropewalk_capture::reading::Multipath;
use ropewalk_wire::{CapableForm, DataSeq, Join, MptcpOption};

/// MP_CAPABLE (RFC 8684, 3.1): keys, and of the first data length and checksum.
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct MpCapable {
    version: u8,
    flags: u8,
    sender_key: Option<[u8; 8]>,
    receiver_key: Option<[u8; 8]>,
    data_length: Option<u16>,
    checksum: Option<u16>,
}

/// MP_JOIN (RFC 8684, 3.2) on a SYN, a SYN-ACK or an ACK, by its length.
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct MpJoin {
    backup: bool,
    address_id: Option<u8>,
    token: Option<[u8; 4]>,
    nonce: Option<[u8; 4]>,
    hmac: Vec<u8>,
}

/// A mapping of a DSS (RFC 8684, 3.3.1).
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct Mapping {
    number: u64,
    is_long: bool,
    subflow: u32,
    length: u16,
    checksum: Option<u16>,
}

/// A DSS (RFC 8684, 3.3): data acknowledgement, mapping and DATA_FIN.
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub struct Dss {
    ack: Option<u64>,
    ack_is_long: bool,
    mapping: Option<Py<Mapping>>,
    is_fin: bool,
}

/// ADD_ADDR (RFC 8684, 3.4.1).
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct AddAddr {
    is_echo: bool,
    address_id: u8,
    address: Vec<u8>,
    port: Option<u16>,
    hmac: Vec<u8>,
}

/// REMOVE_ADDR (RFC 8684, 3.4.2).
#[pyclass(frozen, get_all, module = "ropewalk._core")]
pub struct RemoveAddr {
    address_ids: Py<PyTuple>,
}

/// MP_PRIO (RFC 8684, 3.3.8).
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct MpPrio {
    backup: bool,
}

/// MP_FAIL (RFC 8684, 3.7).
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct MpFail {
    number: u64,
}

/// MP_FASTCLOSE (RFC 8684, 3.5).
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct MpFastclose {
    receiver_key: [u8; 8],
}

/// MP_TCPRST (RFC 8684, 3.6).
#[pyclass(frozen, eq, get_all, module = "ropewalk._core")]
#[derive(PartialEq)]
pub struct MpTcpRst {
    transient: bool,
    reason: u8,
}

#[pymethods]
impl MpCapable {
    #[getter]
    fn wants_checksum(&self) -> bool {
        self.flags & 0x80 != 0
    }
}

#[pymethods]
impl Mapping {
    #[new]
    fn new(
        number: u64,
        is_long: bool,
        subflow: u32,
        length: u16,
        checksum: Option<u16>,
    ) -> Mapping {
        Mapping {
            number,
            is_long,
            subflow,
            length,
            checksum,
        }
    }
}

pub(crate) fn option(py: Python<'_>, found: &Multipath) -> PyResult<Py<PyAny>> {
    Ok(match found.option {
        MptcpOption::Capable(capable) => {
            let (sender_key, receiver_key, data_length, checksum) = match capable.form {
                CapableForm::Syn => (None, None, None, None),
                CapableForm::SynAck { sender_key } => (Some(sender_key), None, None, None),
                CapableForm::Ack {
                    sender_key,
                    receiver_key,
                } => (Some(sender_key), Some(receiver_key), None, None),
                CapableForm::Data {
                    sender_key,
                    receiver_key,
                    len,
                    checksum,
                } => (Some(sender_key), Some(receiver_key), Some(len), checksum),
            };
            let capable = MpCapable {
                version: capable.version,
                flags: found.flags,
                sender_key: sender_key.map(u64::to_be_bytes),
                receiver_key: receiver_key.map(u64::to_be_bytes),
                data_length,
                checksum,
            };
            Py::new(py, capable)?.into_any()
        }
        MptcpOption::Join(join) => Py::new(py, self::join(join))?.into_any(),
        MptcpOption::Dss(dss) => {
            let number = |seq| match seq {
                DataSeq::Short(low) => (u64::from(low), false),
                DataSeq::Long(all) => (all, true),
            };
            let ack = dss.data_ack.map(number);
            let mapping = dss.mapping.map(|mapping| {
                let (number, is_long) = number(mapping.data_seq);
                Mapping {
                    number,
                    is_long,
                    subflow: mapping.subflow_seq,
                    length: mapping.len,
                    checksum: mapping.checksum,
                }
            });
            let dss = Dss {
                ack: ack.map(|(ack, _)| ack),
                ack_is_long: ack.is_some_and(|(_, is_long)| is_long),
                mapping: mapping.map(|mapping| Py::new(py, mapping)).transpose()?,
                is_fin: dss.data_fin,
            };
            Py::new(py, dss)?.into_any()
        }
        MptcpOption::AddAddress(address) => {
            let added = AddAddr {
                is_echo: address.is_echo(),
                address_id: address.address_id,
                address: match address.address {
                    IpAddr::V4(address) => address.octets().to_vec(),
                    IpAddr::V6(address) => address.octets().to_vec(),
                },
                port: address.port,
                hmac: address
                    .hmac
                    .map_or(Vec::new(), |hmac| hmac.to_be_bytes().to_vec()),
            };
            Py::new(py, added)?.into_any()
        }
        MptcpOption::RemoveAddress(ids) => {
            let address_ids = PyTuple::new(py, ids.as_slice())?.unbind();
            Py::new(py, RemoveAddr { address_ids })?.into_any()
        }
        MptcpOption::Priority { backup } => Py::new(py, MpPrio { backup })?.into_any(),
        MptcpOption::Fail { data_seq: number } => Py::new(py, MpFail { number })?.into_any(),
        MptcpOption::FastClose { receiver_key } => {
            let receiver_key = receiver_key.to_be_bytes();
            Py::new(py, MpFastclose { receiver_key })?.into_any()
        }
        MptcpOption::Reset { transient, reason } => {
            let reason = reason.0;
            Py::new(py, MpTcpRst { transient, reason })?.into_any()
        }
    })
}

fn join(join: Join) -> MpJoin {
    match join {
        Join::Syn {
            backup,
            address_id,
            token,
            nonce,
        } => MpJoin {
            backup,
            address_id: Some(address_id),
            token: Some(token.to_be_bytes()),
            nonce: Some(nonce.to_be_bytes()),
            hmac: Vec::new(),
        },
        Join::SynAck {
            backup,
            address_id,
            hmac,
            nonce,
        } => MpJoin {
            backup,
            address_id: Some(address_id),
            token: None,
            nonce: Some(nonce.to_be_bytes()),
            hmac: hmac.to_be_bytes().to_vec(),
        },
        Join::Ack { hmac } => MpJoin {
            backup: false,
            address_id: None,
            token: None,
            nonce: None,
            hmac: hmac.to_vec(),
        },
    }
}
