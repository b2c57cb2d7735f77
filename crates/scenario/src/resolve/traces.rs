//! Cache of trace files.

use std::collections::BTreeMap;
use std::sync::Arc;

use ropewalk_network::{DelayTrace, Trace};

use crate::error::Problem;
use crate::limits::{MAX_TRACE_BYTES, MAX_TRACE_LINES};

pub(crate) type ReadTrace<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

pub(crate) struct Traces<'a> {
    read: ReadTrace<'a>,
    known: BTreeMap<String, Result<Arc<Trace>, Problem>>,
}

impl<'a> Traces<'a> {
    pub fn new(read: ReadTrace<'a>) -> Traces<'a> {
        Traces {
            read,
            known: BTreeMap::new(),
        }
    }

    pub fn get(&mut self, name: &str) -> Result<Arc<Trace>, Problem> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let trace = self.load(name);
        self.known.insert(name.to_owned(), trace.clone());
        trace
    }

    /// Text of another file, with the size limit of a trace.
    pub fn text(&mut self, name: &str) -> Result<String, Problem> {
        let text = (self.read)(name).map_err(Problem::TraceUnreadable)?;
        match text.len() > MAX_TRACE_BYTES {
            true => Err(Problem::TraceTooLarge("64 MiB")),
            false => Ok(text),
        }
    }

    /// Recorded delays.
    pub fn delays(&mut self, name: &str) -> Result<DelayTrace, Problem> {
        let text = self.text(name)?;
        DelayTrace::parse(name, &text).map_err(Problem::Trace)
    }

    fn load(&mut self, name: &str) -> Result<Arc<Trace>, Problem> {
        let text = (self.read)(name).map_err(Problem::TraceUnreadable)?;
        if text.len() > MAX_TRACE_BYTES {
            return Err(Problem::TraceTooLarge("64 MiB"));
        }
        if text.bytes().filter(|byte| *byte == b'\n').count() > MAX_TRACE_LINES {
            return Err(Problem::TraceTooLarge("10 million lines"));
        }
        match Trace::parse(name, &text) {
            Ok(trace) => Ok(Arc::new(trace)),
            Err(error) => Err(Problem::Trace(error)),
        }
    }
}
