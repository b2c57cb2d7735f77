//! What endpoints tell of themselves, on its way to whoever watches a run.

use ropewalk_transport::event::{Happening, Recorded, Recorder};

use crate::hosts::SERVER;
use crate::observer::{Observer, Told};
use crate::sights::Watching;

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

impl<O: Observer> Hears for Watching<'_, O> {
    fn hear(&mut self, speaker: Speaker) -> impl Recorder {
        Ear {
            watching: self,
            speaker,
        }
    }
}

/// Hears one endpoint.
#[derive(Debug)]
pub(crate) struct Ear<'w, 'a, O> {
    watching: &'w mut Watching<'a, O>,
    speaker: Speaker,
}

impl<O: Observer> Recorder for Ear<'_, '_, O> {
    fn record(&mut self, recorded: &Recorded) {
        let watching = &mut *self.watching;
        watching.duplicate |= matches!(recorded.happening, Happening::DuplicateArrived(_));
        watching.observer.told(&Told {
            flow: watching.flow,
            by_server: self.speaker.end == SERVER,
            dial: self.speaker.dial,
            recorded: Recorded {
                subflow: self.speaker.first + recorded.subflow,
                ..*recorded
            },
        });
    }
}
