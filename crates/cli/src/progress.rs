//! Progress on a terminal; silence everywhere else.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

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

    /// Begins a phase, `reading classes` for example; with a total where it is known.
    pub(crate) fn phase(&self, name: &str, total: Option<u64>) {
        let template = match total {
            Some(_) => "{spinner} {msg} {bar:30} {pos}/{len}",
            None => "{spinner} {msg}",
        };
        let style = ProgressStyle::with_template(template).expect("the templates above are valid");
        self.bar.set_style(style);
        self.bar.set_position(0);
        self.bar.set_length(total.unwrap_or(0));
        self.bar.set_message(name.to_string());
    }

    /// Says that `steps` more of the phase's total are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// Clears the line, so that the report does not share it.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
