//! First frame of a carrier: the association to join, and terms of use.

use super::malformed::{MAX_NAME_LEN, MalformedFrame, VERSION};
use crate::field::{array, put, u16_at, u32_at, u64_at};

const JOIN: u8 = 64;
const ANSWER: u8 = 65;

const RESUMES: u8 = 1;

/// First frame of a carrier after the handshake, sent by the end that dialled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// Random identifier of the association, the same on all its carriers.
    pub association: [u8; 16],
    /// The association exists: the peer must not create a new one.
    pub resumes: bool,
    /// Price per megabyte, in thousandths of the user's unit.
    pub cost: u32,
    /// Remaining quota in bytes, both directions together; `None`: unlimited.
    pub quota: Option<u64>,
    /// Carriers with a higher number are used when lower ones do not suffice.
    pub priority: u8,
    /// Name of the link: 1 to [`MAX_NAME_LEN`] bytes.
    pub link: String,
    /// Name of the scheduler for the peer: 1 to [`MAX_NAME_LEN`] bytes.
    pub scheduler: String,
}

impl Join {
    /// Type, version, flags, association, cost, quota, priority, and two name lengths.
    const FIXED_LEN: usize = 3 + 16 + 4 + 8 + 1 + 2;

    /// Length of the longest join.
    pub const MAX_LEN: usize = Join::FIXED_LEN + 2 * MAX_NAME_LEN;

    /// Parses the join at the front of `bytes`; returns its length too. `None` if it is incomplete.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Join, usize)>, MalformedFrame> {
        match bytes.first() {
            None => return Ok(None),
            Some(&JOIN) => {}
            Some(&kind) => return Err(MalformedFrame::Type(kind)),
        }
        match bytes.get(1) {
            None => return Ok(None),
            Some(&VERSION) => {}
            Some(&version) => return Err(MalformedFrame::Version(version)),
        }
        if bytes.len() < Join::FIXED_LEN {
            return Ok(None);
        }
        let [link, scheduler] = u16_at(bytes, 32).to_be_bytes().map(usize::from);
        if [link, scheduler]
            .iter()
            .any(|len| !(1..=MAX_NAME_LEN).contains(len))
        {
            return Err(MalformedFrame::Name);
        }
        let len = Join::FIXED_LEN + link + scheduler;
        if bytes.len() < len {
            return Ok(None);
        }
        let names = &bytes[Join::FIXED_LEN..len];
        let join = Join {
            association: array(bytes, 3),
            resumes: bytes[2] & RESUMES != 0,
            cost: u32_at(bytes, 19),
            quota: Some(u64_at(bytes, 23)).filter(|quota| *quota != u64::MAX),
            priority: bytes[31],
            link: name(&names[..link])?,
            scheduler: name(&names[link..])?,
        };
        Ok(Some((join, len)))
    }

    /// Appends the frame to `out`.
    ///
    /// # Panics
    /// If a name is empty or longer than [`MAX_NAME_LEN`] bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let lens = [&self.link, &self.scheduler].map(|name| {
            assert!((1..=MAX_NAME_LEN).contains(&name.len()), "name {name:?}");
            name.len() as u8
        });
        let mut fixed = [0; Join::FIXED_LEN];
        fixed[0] = JOIN;
        fixed[1] = VERSION;
        fixed[2] = if self.resumes { RESUMES } else { 0 };
        let at = put(&mut fixed, 3, self.association);
        let at = put(&mut fixed, at, self.cost.to_be_bytes());
        let at = put(&mut fixed, at, self.quota.unwrap_or(u64::MAX).to_be_bytes());
        let at = put(&mut fixed, at, [self.priority]);
        put(&mut fixed, at, lens);
        out.extend_from_slice(&fixed);
        out.extend_from_slice(self.link.as_bytes());
        out.extend_from_slice(self.scheduler.as_bytes());
    }
}

/// Reply to a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinAnswer {
    /// The carrier has joined the association.
    Joined,
    /// The association to resume no longer exists.
    Gone,
    /// The limit of associations or carriers is reached.
    Full,
    /// The scheduler is unknown.
    Scheduler,
}

impl JoinAnswer {
    /// Its length.
    pub const LEN: usize = 2;

    const ALL: [JoinAnswer; 4] = [
        JoinAnswer::Joined,
        JoinAnswer::Gone,
        JoinAnswer::Full,
        JoinAnswer::Scheduler,
    ];

    /// Encodes it.
    #[must_use]
    pub fn to_bytes(self) -> [u8; JoinAnswer::LEN] {
        [ANSWER, self as u8]
    }

    /// Decodes it.
    pub fn from_bytes(bytes: [u8; JoinAnswer::LEN]) -> Result<JoinAnswer, MalformedFrame> {
        let [kind, answer] = bytes;
        if kind != ANSWER {
            return Err(MalformedFrame::Type(kind));
        }
        let answer = JoinAnswer::ALL.get(usize::from(answer));
        answer.copied().ok_or(MalformedFrame::Type(kind))
    }
}

fn name(bytes: &[u8]) -> Result<String, MalformedFrame> {
    match std::str::from_utf8(bytes) {
        Ok(name) => Ok(name.to_owned()),
        Err(_) => Err(MalformedFrame::Name),
    }
}
