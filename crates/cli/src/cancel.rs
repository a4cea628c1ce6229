//! Ctrl-C: the first one stops the analysis, the second one the process.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long work may go on once the user has asked to stop: the command is to end within two seconds, and must report.
const GRACE: Duration = Duration::from_millis(800);

/// Whether the user has pressed Ctrl-C. Long-running work checks it regularly and returns what it
/// has; only the signal handler sets it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Starts listening for Ctrl-C and for requests to terminate.
    pub(crate) fn on_interrupt() -> Cancel {
        let cancel = Cancel::default();
        let requested = cancel.clone();
        let handler = move || {
            if requested.0.swap(true, Ordering::Relaxed) {
                output_file::remove_unfinished();
                std::process::exit(130);
            }
            if io::stderr().is_terminal() {
                eprintln!(
                    "stopping; the findings so far follow (press Ctrl-C again to quit at once)"
                );
            }
        };
        // Where no handler can be installed, Ctrl-C ends the process as it always does, and the
        // work is worth doing all the same.
        let _ = ctrlc::set_handler(handler);
        cancel
    }

    /// Whether the work should stop.
    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// How long work may go on, if it should stop.
    pub(crate) fn grace(&self) -> Option<Duration> {
        self.is_requested().then_some(GRACE)
    }
}
