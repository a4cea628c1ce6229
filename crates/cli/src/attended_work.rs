//! Work that ends in time. It is done on a thread of its own, which is left behind if it does not stop soon after it was
//! asked to: code that asks whether to stop does so often, but not everywhere.

use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is asked whether the work should stop.
const POLL: Duration = Duration::from_millis(20);

/// As much as main threads usually have; others get a quarter of it.
const STACK: usize = 8 << 20;

/// Does the work and returns its result, or nothing if it was left behind. `asked_to_stop` says how long work may go on
/// from the moment at which it is asked to stop.
///
/// # Panics
/// When the work does, and when there is no thread for it.
pub(crate) fn attend<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    asked_to_stop: impl Fn() -> Option<Duration>,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().stack_size(STACK).spawn(move || {
        // Nobody listens any more to work that was left behind.
        let _ = sender.send(work());
    });
    let worker = worker.expect("there is a thread for the work");
    let mut deadline = None;
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(payload) => panic::resume_unwind(payload),
                Ok(()) => return None,
            },
        }
        let now = Instant::now();
        deadline = deadline.or_else(|| asked_to_stop().map(|grace| now + grace));
        if deadline.is_some_and(|deadline| now >= deadline) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_does_not_stop_is_left_behind() {
        assert_eq!(attend(|| 1, || None), Some(1));
        // Asked to stop, and done all the same.
        assert_eq!(attend(|| 2, || Some(Duration::from_secs(600))), Some(2));
        let (_kept, never) = mpsc::channel::<()>();
        assert_eq!(attend(move || never.recv().is_ok(), || Some(Duration::ZERO)), None);
    }

    #[test]
    #[should_panic(expected = "a defect of ours")]
    fn work_that_fails_fails_here() {
        attend(|| panic!("a defect of ours"), || None::<Duration>);
    }
}
