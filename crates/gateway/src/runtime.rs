//! The tokio runtime that verbs run in, and the signals that end them.

use tokio::signal::unix::{SignalKind, signal};

use crate::Failure;

/// Runs a verb's future to its end, and all tasks that it starts on one thread.
///
/// One core encrypts more than links carry; on several, tasks of one association wake each other
/// across threads, which cost a third more time for each byte.
///
/// # Errors
/// The system gives no threads.
pub(crate) fn block_on<F: Future>(future: F) -> Result<F::Output, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::run(format!("no runtime: {error}")))?;
    let output = runtime.block_on(future);
    // What still waits, such as for a name, is not waited for.
    runtime.shutdown_background();
    Ok(output)
}

/// Waits for SIGTERM or SIGINT.
///
/// # Errors
/// The system takes no handlers.
pub(crate) async fn until_signal() -> Result<(), Failure> {
    let handler = |kind| signal(kind).map_err(|error| Failure::run(format!("no signals: {error}")));
    let mut terminate = handler(SignalKind::terminate())?;
    let mut interrupt = handler(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
