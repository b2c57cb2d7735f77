//! Content of the tunnel's datagrams that the simulated packets do not carry.

use ropewalk_striping::tunnel::{
    DatagramLengths, Feedback, LinkTerms, Sender, Sequencing, SharedDatagram, Transmit,
};
use ropewalk_transport::Segment;

use super::slab::Slab;

/// Content of a datagram besides its first segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram {
    pub(super) link: u8,
    /// Number of the datagram in its direction on its link.
    pub(super) sequence: u64,
    /// Clock of the sender, in microseconds modulo 2^32.
    pub(super) clock: u32,
    pub(super) bytes: u32,
    pub(super) content: Content,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Packets of the device: sequencing and length of the first, and the slot of the next.
    Packets(Sequencing, u32, Option<u32>),
    Feedback(Feedback),
    Ping(u32),
    Pong(u32),
    Terms(u8, u32, LinkTerms),
    TermsSeen(u8, u32),
}

/// Packet that follows another in its datagram.
#[derive(Clone, Copy, Debug)]
pub(super) struct Further {
    pub(super) segment: Segment,
    pub(super) sequencing: Sequencing,
    pub(super) bytes: u32,
    pub(super) next: Option<u32>,
}

#[derive(Debug)]
pub(super) struct DatagramStore {
    lengths: DatagramLengths,
    on_their_way: Slab<Datagram>,
    further: Slab<Further>,
}

impl DatagramStore {
    pub(super) fn new(lengths: DatagramLengths) -> DatagramStore {
        DatagramStore {
            lengths,
            on_their_way: Slab::new(),
            further: Slab::new(),
        }
    }

    /// Fills a datagram with a packet, and more if they are short, as the gateway does; returns content and
    /// length.
    pub(super) fn fill(
        &mut self,
        sender: &mut Sender<Segment>,
        first: &Transmit<Segment>,
    ) -> (Content, u32) {
        let path_mtu = sender.confirmed_path_mtu(first.link);
        let Some(mut shared) = SharedDatagram::begin(path_mtu, first.bytes) else {
            let content = Content::Packets(first.sequencing, first.bytes, None);
            return (content, self.lengths.packet(first.bytes));
        };
        let (mut count, mut bytes) = (1, first.bytes);
        let mut last = None;
        let mut others = None;
        let mut fits = shared.put(first.bytes);
        while let Some(packet) = sender.poll_more(first.link, fits) {
            let number = self.further.put(Further {
                segment: packet.packet,
                sequencing: packet.sequencing,
                bytes: packet.bytes,
                next: None,
            });
            match last.replace(number).map(|last| self.further.get_mut(last)) {
                Some(Some(before)) => before.next = Some(number),
                _ => others = Some(number),
            }
            count += 1;
            bytes += packet.bytes;
            fits = shared.put(packet.bytes);
        }
        let content = Content::Packets(first.sequencing, first.bytes, others);
        (content, self.lengths.packets(count, bytes))
    }

    /// Returns the length of a datagram without packets and padding.
    pub(super) fn length(&self, content: &Content) -> u32 {
        match content {
            Content::Packets(_, bytes, _) => self.lengths.packet(*bytes),
            Content::Feedback(feedback) => self.lengths.feedback(feedback),
            Content::Ping(_) | Content::Pong(_) => self.lengths.ping(),
            Content::Terms(..) => self.lengths.terms(),
            Content::TermsSeen(..) => self.lengths.terms_seen(),
        }
    }

    /// Stores a datagram that is sent; returns its number for the simulated packet.
    pub(super) fn put(&mut self, datagram: Datagram) -> u32 {
        self.on_their_way.put(datagram)
    }

    pub(super) fn take(&mut self, number: u32) -> Option<Datagram> {
        self.on_their_way.take(number)
    }

    pub(super) fn take_further(&mut self, number: u32) -> Option<Further> {
        self.further.take(number)
    }

    /// Removes a datagram that was lost, with all its packets.
    pub(super) fn lose(&mut self, number: u32) {
        let Some(datagram) = self.take(number) else {
            return;
        };
        if let Content::Packets(_, _, mut next) = datagram.content {
            while let Some(further) = next.and_then(|number| self.take_further(number)) {
                next = further.next;
            }
        }
    }
    #[cfg(test)]
    pub(super) fn stored(&self) -> [usize; 2] {
        [self.on_their_way.len(), self.further.len()]
    }
}
