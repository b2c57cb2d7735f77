//! What endpoints tell of themselves, on its way to whoever watches a run.

use ropewalk_transport::event::Recorder;

/// Which endpoint of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speaker {
    /// The client's or the server's.
    pub(crate) end: usize,
    /// The number of its first subflow among the flow's.
    pub(crate) first: usize,
    /// Which of the connections that its path has had.
    pub(crate) dial: u16,
}

/// Hears the endpoints of a flow; `()` hears none, and is what an unwatched run hands to hosts.
pub(crate) trait Hears {
    /// The recorder of one of them.
    fn hear(&mut self, speaker: Speaker) -> impl Recorder;
}

impl Hears for () {
    #[inline(always)]
    fn hear(&mut self, _: Speaker) -> impl Recorder {}
}
