//! Progress on a terminal; silence everywhere else.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::ProgressBar;

/// One line on standard error that says which phase of the work is under way. It can be shared
/// between threads.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Progress that is shown if it is wanted and standard error is a terminal.
    pub(crate) fn new(wanted: bool) -> Progress {
        let shown = wanted && io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if shown {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Progress { bar }
    }

    /// Says what is being done now, `reading classes` for example.
    pub(crate) fn phase(&self, name: &str) {
        self.bar.set_message(name.to_string());
    }

    /// Clears the line, so that the report does not share it.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
