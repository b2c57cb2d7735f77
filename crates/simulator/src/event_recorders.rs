//! Recorders of endpoint events, for the observer of a run.

use ropewalk_transport::event::Recorder;

#[derive(Clone, Copy, Debug)]
pub(crate) struct EndpointId {
    /// The end of the client or the server.
    pub(crate) end: usize,
    /// Number of its first subflow in the flow.
    pub(crate) first: usize,
    /// Generation: number of earlier connections on the path.
    pub(crate) generation: u16,
}

/// Recorders of a flow's endpoints. `()` ignores the events, in runs without an observer.
pub(crate) trait EventRecorders {
    fn recorder_of(&mut self, endpoint_id: EndpointId) -> impl Recorder;
}

impl EventRecorders for () {
    #[inline(always)]
    fn recorder_of(&mut self, _: EndpointId) -> impl Recorder {}
}
