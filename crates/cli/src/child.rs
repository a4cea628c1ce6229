//! A program that runs in our place: it has our input and output, and the signals that were meant for it.

use std::io;
use std::process::{Command, ExitStatus};

/// Runs a program to its end. Signals that ask to end are left to it, or passed on where only this
/// process got them, so that it decides, and what it has done can still be reported.
pub(crate) fn run(command: &mut Command) -> io::Result<Ended> {
    let signals = signals::CaughtSignals::begin()?;
    let mut child = command.spawn()?;
    let _passing = signals.forward_to(child.id());
    let status = child.wait();
    Ok(Ended { process: child.id(), code: exit_code(status?) })
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) process: u32,
    /// Its exit code; 128 and the number of the signal that killed it, as shells say it.
    pub(crate) code: u8,
}

/// Exit codes are bytes where signals exist; elsewhere what does not fit is a failure all the same.
fn exit_code(status: ExitStatus) -> u8 {
    match status.code() {
        Some(code) => u8::try_from(code).unwrap_or(u8::MAX),
        None => signals::killed_by(status).map_or(u8::MAX, |signal| 128 + signal),
    }
}

#[cfg(unix)]
mod signals {
    use std::fs::{self, File};
    use std::io;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;
    use std::thread;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::{Pid, getpgrp, tcgetpgrp};
    use signal_hook::iterator::{Handle, Signals};

    /// The signals that ask a program to end.
    const TERMINATION_SIGNALS: [Signal; 4] =
        [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM];

    /// Signals that are heard, and end this process no longer.
    pub(super) struct CaughtSignals(Signals);

    impl CaughtSignals {
        /// Begins to hear signals. One that this process was started to ignore stays ignored, for the
        /// child too: that is what `nohup` is for.
        pub(super) fn begin() -> io::Result<CaughtSignals> {
            let ignored = ignored_signals();
            let caught = TERMINATION_SIGNALS.iter().map(|signal| *signal as i32);
            Signals::new(caught.filter(|signal| ignored & (1 << (signal - 1)) == 0))
                .map(CaughtSignals)
        }

        /// Passes them on to a process.
        pub(super) fn forward_to(self, process: u32) -> SignalForwarding {
            let CaughtSignals(mut signals) = self;
            let handle = signals.handle();
            thread::spawn(move || {
                for signal in signals.forever() {
                    let process = i32::try_from(process).map(Pid::from_raw);
                    let (Ok(process), Ok(signal)) = (process, Signal::try_from(signal)) else {
                        continue;
                    };
                    if !was_sent_to_process_group(signal) {
                        // A program that has ended needs no signal.
                        let _ = kill(process, signal);
                    }
                }
            });
            SignalForwarding(handle)
        }
    }

    /// Signals are passed on for as long as this lives.
    pub(super) struct SignalForwarding(Handle);

    impl Drop for SignalForwarding {
        fn drop(&mut self) {
            self.0.close();
        }
    }

    /// What is typed at a terminal goes to every process in the foreground, and so has reached the child.
    fn was_sent_to_process_group(signal: Signal) -> bool {
        matches!(signal, Signal::SIGINT | Signal::SIGQUIT)
            && File::open("/dev/tty").is_ok_and(|tty| tcgetpgrp(&tty) == Ok(getpgrp()))
    }

    /// A bit for each signal that is ignored; none where the system does not tell.
    fn ignored_signals() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }

    pub(super) fn killed_by(status: ExitStatus) -> Option<u8> {
        status.signal().and_then(|signal| u8::try_from(signal).ok())
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;
    use std::process::ExitStatus;

    /// Nothing is passed on: a console tells every process in it.
    pub(super) struct CaughtSignals;

    impl CaughtSignals {
        pub(super) fn begin() -> io::Result<CaughtSignals> {
            // Where no handler can be installed, Ctrl-C ends this process as it always does.
            let _ = ctrlc::set_handler(|| {});
            Ok(CaughtSignals)
        }

        pub(super) fn forward_to(self, _process: u32) -> CaughtSignals {
            self
        }
    }

    pub(super) fn killed_by(_status: ExitStatus) -> Option<u8> {
        None
    }
}
