//! Carrier responsible for a byte of a stream: the first that has it in flight.

use fixedbitset::FixedBitSet;
use ropewalk_quantities::Time;

use crate::carrier::Carrier;
use crate::carrier::in_flight::{Content, Sent};

/// Index of the carrier responsible for some bytes, and when their acknowledgement was expected.
pub(crate) type Holder = (usize, Time);

/// A stream's number and an offset in it.
type Place = (u32, u64);

/// The last query's result, and the carriers borrowed mutably since, whose frames in flight may have changed.
/// While a stream's window is full, the same byte is queried again and again.
#[derive(Debug, Default)]
pub(super) struct Holders {
    last: Option<(Place, Option<Holder>)>,
    changed: FixedBitSet,
}

impl Holders {
    pub(super) fn grow(&mut self, carriers: usize) {
        self.changed.grow(carriers);
    }

    pub(super) fn mark(&mut self, number: usize) {
        self.changed.insert(number);
    }

    pub(super) fn forget(&mut self) {
        self.last = None;
    }

    pub(super) fn find(&mut self, carriers: &[Carrier], place: Place) -> Option<Holder> {
        let holder = match self.last {
            Some((known, holder)) if known == place => self.find_again(carriers, place, holder),
            _ => first(carriers, place, 0),
        };
        self.last = Some((place, holder));
        self.changed.clear();
        holder
    }

    /// Repeats the last query. Unchanged carriers with a lower index are skipped.
    fn find_again(
        &self,
        carriers: &[Carrier],
        place: Place,
        before: Option<Holder>,
    ) -> Option<Holder> {
        let end = before.map_or(carriers.len(), |(number, _)| number);
        let found = self
            .changed
            .ones()
            .take_while(|number| *number < end)
            .find_map(|number| as_holder(carriers, number, place));
        found.or_else(|| match before {
            Some(_) if self.changed.contains(end) => first(carriers, place, end),
            _ => before,
        })
    }

    #[cfg(test)]
    pub(super) fn is_as_if_new(&mut self, carriers: &[Carrier]) -> bool {
        let Some((place, _)) = self.last else {
            return true;
        };
        self.find(carriers, place) == first(carriers, place, 0)
    }
}

fn first(carriers: &[Carrier], place: Place, from: usize) -> Option<Holder> {
    (from..carriers.len()).find_map(|number| as_holder(carriers, number, place))
}

fn as_holder(carriers: &[Carrier], number: usize, (stream, at): Place) -> Option<Holder> {
    let holds = |sent: &&Sent| {
        !sent.elsewhere
            && matches!(sent.content, Content::Data { stream: of, start, end, .. }
                if of == stream && start <= at && at < end)
    };
    let sent = carriers[number].in_flight.iter().find(holds)?;
    Some((number, sent.due))
}
