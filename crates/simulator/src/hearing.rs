//! What endpoints tell of themselves, on its way to whoever watches a run.

use ropewalk_transport::event::{Happening, Recorded, Recorder};

use crate::hosts::SERVER;
use crate::observer::{Observer, Told};

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

/// Hears the endpoints of a flow.
#[derive(Debug)]
pub(crate) struct Hearing<'a, O> {
    pub(crate) observer: &'a mut O,
    pub(crate) flow: usize,
    /// A segment brought only data that had come before.
    pub(crate) duplicate: bool,
}

impl<'a, O: Observer> Hearing<'a, O> {
    #[inline]
    pub(crate) fn of(observer: &'a mut O, flow: usize) -> Hearing<'a, O> {
        Hearing {
            observer,
            flow,
            duplicate: false,
        }
    }

    /// The recorder of one of them.
    #[inline]
    pub(crate) fn speaker(&mut self, speaker: Speaker) -> Ear<'_, 'a, O> {
        Ear {
            hearing: self,
            speaker,
        }
    }
}

/// Hears one endpoint.
#[derive(Debug)]
pub(crate) struct Ear<'h, 'a, O> {
    hearing: &'h mut Hearing<'a, O>,
    speaker: Speaker,
}

impl<O: Observer> Recorder for Ear<'_, '_, O> {
    const LISTENS: bool = O::WATCHES;

    #[inline]
    fn record(&mut self, recorded: &Recorded) {
        self.hearing.duplicate |= matches!(recorded.happening, Happening::DuplicateArrived(_));
        self.hearing.observer.told(&Told {
            flow: self.hearing.flow,
            by_server: self.speaker.end == SERVER,
            dial: self.speaker.dial,
            recorded: Recorded {
                subflow: self.speaker.first + recorded.subflow,
                ..*recorded
            },
        });
    }
}
