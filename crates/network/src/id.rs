//! Typed identifiers of the parts of a network.

/// Direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the first end to the second: the direction of the data, from client to server.
    Forward,
    /// The reverse direction.
    Reverse,
}

impl Direction {
    /// Both directions, forward first.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident: $inner:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name($inner);

        impl $name {
            /// Creates the identifier of a part; parts are counted from zero in the order of addition.
            ///
            /// # Panics
            /// If the number exceeds the maximum of the network.
            #[inline]
            pub fn new(number: usize) -> $name {
                $name(number.try_into().expect("a part's number"))
            }

            /// Returns the number, for indexing.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// Host or router.
    NodeId: u32
}
id! {
    /// Attachment of a node to a link or a medium.
    InterfaceId: u32
}
id! {
    /// Wired link with its two directions.
    LinkId: u32
}
id! {
    /// One-way connection of two interfaces: a direction of a link, or a radio transmission to a neighbour.
    HopId: u32
}
