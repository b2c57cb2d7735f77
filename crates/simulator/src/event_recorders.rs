//! Events of endpoints, on their way to the observer of a run.

use ropewalk_transport::event::Recorder;

/// Identifies an endpoint of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndpointId {
    /// The client's or the server's end.
    pub(crate) end: usize,
    /// The number of its first subflow among the flow's.
    pub(crate) first: usize,
    /// Number of the connection among those that its path has had.
    pub(crate) dial: u16,
}

/// Receives the events of a flow's endpoints. `()` ignores them, and is used in runs without an observer.
pub(crate) trait EventRecorders {
    /// The recorder of an endpoint.
    fn recorder_of(&mut self, endpoint_id: EndpointId) -> impl Recorder;
}

impl EventRecorders for () {
    #[inline(always)]
    fn recorder_of(&mut self, _: EndpointId) -> impl Recorder {}
}
