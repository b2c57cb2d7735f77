//! Datagrams between the ends of a tunnel, as far as their packets in the network do not say it.

use ropewalk_striping::tunnel::{
    DatagramLengths, Feedback, LinkTerms, Place, Sender, Shared, Transmit,
};
use ropewalk_transport::Segment;

use super::slab::Slab;

/// What a datagram has beside the first segment in it, which its packet in the network carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram {
    pub(super) link: u8,
    /// Counts the datagrams of its way on its link.
    pub(super) sequence: u64,
    /// The sender's, in microseconds modulo 2^32.
    pub(super) clock: u32,
    /// Of the IP packet.
    pub(super) bytes: u32,
    pub(super) content: Content,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Packets of the device: the first's place and length, and where the others are.
    Packets(Place, u32, Option<u32>),
    Feedback(Feedback),
    Ping(u32),
    Pong(u32),
    /// Of a link, with their version.
    Terms(u8, u32, LinkTerms),
    TermsSeen(u8, u32),
}

/// A packet that shares its datagram with one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Further {
    pub(super) segment: Segment,
    pub(super) place: Place,
    pub(super) bytes: u32,
    pub(super) next: Option<u32>,
}

/// All datagrams that are on their way.
#[derive(Debug)]
pub(super) struct Datagrams {
    lengths: DatagramLengths,
    on_their_way: Slab<Datagram>,
    further: Slab<Further>,
}

impl Datagrams {
    pub(super) fn new(lengths: DatagramLengths) -> Datagrams {
        Datagrams {
            lengths,
            on_their_way: Slab::new(),
            further: Slab::new(),
        }
    }

    /// Fills a datagram with a packet, and others if they are short, as the gateway does: the
    /// content, and the length.
    pub(super) fn fill(
        &mut self,
        sender: &mut Sender<Segment>,
        first: &Transmit<Segment>,
    ) -> (Content, u32) {
        let path_mtu = sender.confirmed_path_mtu(first.link);
        let Some(mut shared) = Shared::begin(path_mtu, first.bytes) else {
            let content = Content::Packets(first.place, first.bytes, None);
            return (content, self.lengths.packet(first.bytes));
        };
        let (mut count, mut bytes) = (1, first.bytes);
        let mut last = None;
        let mut others = None;
        let mut fits = shared.put(first.bytes);
        while let Some(packet) = sender.poll_more(first.link, fits) {
            let number = self.further.put(Further {
                segment: packet.packet,
                place: packet.place,
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
        let content = Content::Packets(first.place, first.bytes, others);
        (content, self.lengths.packets(count, bytes))
    }

    /// How long one is that carries no packet and is not padded.
    pub(super) fn length(&self, content: &Content) -> u32 {
        match content {
            Content::Packets(_, bytes, _) => self.lengths.packet(*bytes),
            Content::Feedback(feedback) => self.lengths.feedback(feedback),
            Content::Ping(_) | Content::Pong(_) => self.lengths.ping(),
            Content::Terms(..) => self.lengths.terms(),
            Content::TermsSeen(..) => self.lengths.terms_seen(),
        }
    }

    /// It leaves: the number that its packet in the network has.
    pub(super) fn put(&mut self, datagram: Datagram) -> u32 {
        self.on_their_way.put(datagram)
    }

    /// It has arrived.
    pub(super) fn take(&mut self, number: u32) -> Option<Datagram> {
        self.on_their_way.take(number)
    }

    /// A further packet of one that has arrived.
    pub(super) fn take_further(&mut self, number: u32) -> Option<Further> {
        self.further.take(number)
    }

    /// It was lost, with all that is in it.
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
    /// How many datagrams there are, and packets that share one.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> [usize; 2] {
        [self.on_their_way.len(), self.further.len()]
    }
}
