//! Identifiers of a network's parts, each with a type of its own.

/// Direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From the link's first end to its second: the direction of the data, from client to server.
    Forward,
    /// The reverse direction.
    Reverse,
}

impl Direction {
    /// Both, forward first.
    pub const BOTH: [Direction; 2] = [Direction::Forward, Direction::Reverse];
}

/// Declares an identifier.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident: $inner:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name($inner);

        impl $name {
            /// The identifier of a part, counted from zero in the order in which parts were added.
            ///
            /// # Panics
            /// If the number is beyond what the network can have.
            #[inline]
            pub fn new(number: usize) -> $name {
                $name(number.try_into().expect("a part's number"))
            }

            /// Its number, as an index.
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
    /// A node's attachment to a link or a medium.
    InterfaceId: u32
}
id! {
    /// A wired link with its two directions.
    LinkId: u32
}
id! {
    /// A one-way connection between two interfaces: a direction of a link, or a path between two radios.
    HopId: u32
}
