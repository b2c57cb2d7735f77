//! A network namespace with the lifetime of its thread.
//!
//! It has no name and no file: when the process ends, the kernel removes the namespace with its
//! devices, addresses, routes and rules.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use rustix::thread::gettid;

use crate::syscalls::unshare_network;

type Job = Box<dyn FnOnce() + Send>;

/// A network namespace with its own thread, which runs jobs in it.
#[derive(Debug)]
pub struct Namespace {
    /// Dropped first, so that the thread ends.
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    thread_id: i32,
}

impl Namespace {
    /// Creates a namespace with only a loopback device, which is down. Errors: EPERM without
    /// CAP_SYS_ADMIN.
    pub fn create(name: &str) -> io::Result<Namespace> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (ready, is_ready) = mpsc::channel();
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let made = unshare_network().map(|()| gettid().as_raw_nonzero().get());
                let failed = made.is_err();
                if ready.send(made).is_err() || failed {
                    return;
                }
                for job in queue {
                    job();
                }
            })?;
        let thread_id = is_ready
            .recv()
            .expect("the namespace's thread says whether it is ready")?;
        Ok(Namespace {
            jobs: Some(jobs),
            thread: Some(thread),
            thread_id,
        })
    }

    /// Runs a job in the namespace and waits for it; propagates a panic of the job.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, result) = mpsc::channel();
        let job = move || {
            let _ = done.send(catch_unwind(AssertUnwindSafe(job)));
        };
        let jobs = self.jobs.as_ref().expect("there until it is dropped");
        jobs.send(Box::new(job)).expect("the thread runs");
        match result.recv().expect("the thread does every job") {
            Ok(value) => value,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Starts another thread in the namespace.
    pub fn spawn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        self.run(|| thread::spawn(job))
    }

    /// Number of the namespace for `ip link ... netns NUMBER`.
    pub fn thread_id(&self) -> i32 {
        self.thread_id
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
