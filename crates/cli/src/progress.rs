//! Progress on a terminal; silence everywhere else.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::ProgressBar;

/// One line on standard error that says which phase of the work is under way. It can be shared
/// between threads.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    phase: Arc<Mutex<&'static str>>,
}

impl Progress {
    /// Progress that is shown if it is wanted and standard error is a terminal.
    pub(crate) fn new(wanted: bool) -> Progress {
        let shown = wanted && io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if shown {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Progress { bar, phase: Arc::default() }
    }

    /// Says what is being done now, `reading classes` for example.
    pub(crate) fn phase(&self, name: &'static str) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = name;
        self.bar.set_message(name);
    }

    /// Says how far it has come.
    pub(crate) fn count(&self, text: String) {
        self.bar.set_message(text);
    }

    /// What is being done now.
    pub(crate) fn current(&self) -> &'static str {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the line, so that the report does not share it.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
