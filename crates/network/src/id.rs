//! Numbers of a network's parts, each of a type of its own.

/// Which way over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the link's first end to its second: the way of the data, from client to server.
    Forward,
    /// Back.
    Reverse,
}

impl Direction {
    /// Both, forward first.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];
}

/// Declares the number of a part.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident: $inner:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name($inner);

        impl $name {
            /// The part of this number, counted from zero in the order in which parts were added.
            ///
            /// # Panics
            /// If the number is beyond what the network can have.
            #[inline]
            pub fn new(number: usize) -> $name {
                $name(number.try_into().expect("a part's number"))
            }

            /// Its number, to index with.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A host or a router.
    NodeId: u32
}
id! {
    /// Where a node meets a link or a medium.
    InterfaceId: u32
}
id! {
    /// A wired link: both its directions.
    LinkId: u32
}
id! {
    /// What a packet passes between two interfaces: one direction of a link, or the way from one
    /// radio to another.
    HopId: u32
}
