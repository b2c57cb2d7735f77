//! Standard error and standard output, either of which may be a full disk, a pipe that nobody reads, or
//! closed. Output never stops or delays a gateway.
//!
//! A thread writes lines for standard error from a bounded queue. Lines that find the queue full or cannot be
//! written are dropped and counted; the count is reported once writing succeeds again.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use tracing_subscriber::fmt::MakeWriter;

use crate::Failure;

const MAX_LINES: usize = 1024;
/// Longer lines are truncated, so that the queue's memory is bounded.
const MAX_BYTES: usize = 4096;
/// Time that an ending process waits for its lines to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

enum Message {
    Line(Vec<u8>),
    Written(Sender<()>),
    Call(Box<dyn FnOnce() + Send>),
}

static QUEUE: OnceLock<Option<SyncSender<Message>>> = OnceLock::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Standard error, as a writer that never waits and never fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandardError;

impl Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut line = bytes[..bytes.len().min(MAX_BYTES)].to_vec();
        if line.len() < bytes.len() {
            line.push(b'\n');
        }
        if queue().is_none_or(|queue| queue.try_send(Message::Line(line)).is_err()) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for StandardError {
    type Writer = StandardError;

    fn make_writer(&self) -> StandardError {
        StandardError
    }
}

/// Prints a text on standard error, after earlier log lines.
pub(crate) fn say(text: impl Display) {
    let _ = StandardError.write(text.to_string().as_bytes());
}

/// Calls a function in the writing thread, if there is one. Returns whether it was called in time.
pub(crate) fn call_in_thread(act: impl FnOnce() + Send + 'static) -> bool {
    let Some(Some(queue)) = QUEUE.get() else {
        return true;
    };
    let (called, is_called) = channel();
    let act = move || {
        act();
        let _ = called.send(());
    };
    let sent = queue.try_send(Message::Call(Box::new(act))).is_ok();
    sent && is_called.recv_timeout(FLUSH_TIMEOUT).is_ok()
}

/// Waits until everything has been written, but not for a pipe that nobody reads.
pub(crate) fn settle() {
    let Some(Some(queue)) = QUEUE.get() else {
        return;
    };
    let deadline = Instant::now() + FLUSH_TIMEOUT;
    let (written, is_written) = channel();
    while let Err(TrySendError::Full(_)) = queue.try_send(Message::Written(written.clone())) {
        if Instant::now() >= deadline {
            return;
        }
        thread::sleep(FLUSH_TIMEOUT / 100);
    }
    let _ = is_written.recv_timeout(deadline.saturating_duration_since(Instant::now()));
}

/// Prints a text on standard output; a closed reader is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    printed(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Converts the result of writing to standard output; a closed reader is not an error.
pub(crate) fn printed(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::run(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Returns the thread's queue; without a thread, all output is dropped.
fn queue() -> Option<&'static SyncSender<Message>> {
    let begin = || {
        let (queue, lines) = sync_channel(MAX_LINES);
        let thread = thread::Builder::new().name("log".to_owned());
        thread
            .spawn(move || write_lines(&lines))
            .ok()
            .map(|_| queue)
    };
    QUEUE.get_or_init(begin).as_ref()
}

fn write_lines(lines: &Receiver<Message>) {
    while let Ok(message) = lines.recv() {
        match message {
            Message::Line(line) => {
                let dropped = DROPPED.swap(0, Ordering::Relaxed);
                let count = match dropped {
                    0 => Ok(()),
                    _ => write_patiently(format!("({dropped} lines were lost here)\n").as_bytes()),
                };
                if count.and_then(|()| write_patiently(&line)).is_err() {
                    DROPPED.fetch_add(dropped + 1, Ordering::Relaxed);
                }
            }
            Message::Call(act) => act(),
            Message::Written(written) => {
                let _ = written.send(());
            }
        }
    }
}

/// Writes everything; waits if another process has made the shared descriptor non-blocking.
fn write_patiently(mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let mut error = io::stderr();
        match error.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(len) => bytes = &bytes[len..],
            Err(failure) if failure.kind() == io::ErrorKind::Interrupted => {}
            Err(failure) if failure.kind() == io::ErrorKind::WouldBlock => {
                let mut polled = [PollFd::new(&error, PollFlags::OUT)];
                poll(&mut polled, None)?;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}
