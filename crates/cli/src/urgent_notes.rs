//! Says that a program has deadlocked or hangs while it does: it may never end, and so its report may never come.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use agent_protocol::read_urgent;

use crate::terminal_text::say;

/// How often JVMs are asked.
const INTERVAL: Duration = Duration::from_millis(500);

/// A thread that looks at what JVMs have left for users.
pub(crate) struct UrgentNotes(Option<(Sender<()>, JoinHandle<()>)>);

impl UrgentNotes {
    /// Looks at a directory of results, unless nobody wants to know.
    pub(crate) fn begin(directory: &Path, is_quiet: bool) -> UrgentNotes {
        if is_quiet {
            return UrgentNotes(None);
        }
        let (end, ended) = mpsc::channel::<()>();
        let directory = directory.to_path_buf();
        let thread = thread::spawn(move || {
            // A kept directory may have some of an earlier run.
            let mut said: BTreeSet<String> = read_urgent(&directory).into_iter().collect();
            while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                for sentence in read_urgent(&directory) {
                    if said.insert(sentence.clone()) {
                        say(format_args!(
                            "scission: {sentence}; the report follows when the program has ended"
                        ));
                    }
                }
            }
        });
        UrgentNotes(Some((end, thread)))
    }

    /// The program has ended, and the report says it all.
    pub(crate) fn end(self) {
        if let Some((end, thread)) = self.0 {
            drop(end);
            // It has said what it could.
            let _ = thread.join();
        }
    }
}
