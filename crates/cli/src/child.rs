//! Runs the user's program as a child process: it inherits input and output, and signals are forwarded to it.

use std::io;
use std::process::{Command, ExitStatus};

pub(crate) use signals::CaughtSignals;

/// Runs a program to its end. Termination signals are left to it, or forwarded if only this process
/// received them, so that the program decides, and its findings can still be reported. Whoever presses Ctrl-C three times at
/// once has the program killed.
pub(crate) fn run(command: &mut Command, signals: CaughtSignals) -> io::Result<Ended> {
    let mut child = command.spawn()?;
    let _passing = signals.forward_to(child.id());
    let status = child.wait();
    Ok(Ended { process: child.id(), code: exit_code(status?) })
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) process: u32,
    /// Its exit code, or 128 plus the number of the signal that killed it, as in shells.
    pub(crate) code: u8,
}

/// Exit codes are bytes on Unix; on other systems, values that do not fit become 255.
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
    use std::time::{Duration, Instant};

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::{Pid, getpgrp, tcgetpgrp};
    use signal_hook::iterator::{Handle, Signals};

    /// The signals that terminate a program by default.
    const TERMINATION_SIGNALS: [Signal; 4] =
        [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM];

    /// So many requests to stop within this time are a request to kill. A program may answer each of them in its own way, as
    /// shells do, and nobody makes three so soon of one that answers.
    const REQUESTS_TO_KILL: usize = 3;
    const SOON: Duration = Duration::from_secs(2);

    /// Signals that this process catches, so that they do not terminate it.
    pub(crate) struct CaughtSignals(Signals);

    impl CaughtSignals {
        /// Starts to catch signals. A signal that this process was started to ignore stays ignored, also
        /// for the child: `nohup` relies on that.
        pub(crate) fn begin() -> io::Result<CaughtSignals> {
            let ignored = ignored_signals();
            let caught = TERMINATION_SIGNALS.iter().map(|signal| *signal as i32);
            Signals::new(caught.filter(|signal| ignored & (1 << (signal - 1)) == 0))
                .map(CaughtSignals)
        }

        /// Whether one was received and not asked for yet.
        pub(crate) fn any_received(&mut self) -> bool {
            self.0.pending().next().is_some()
        }

        /// Forwards them to a process.
        pub(super) fn forward_to(self, process: u32) -> SignalForwarding {
            let CaughtSignals(mut signals) = self;
            let handle = signals.handle();
            thread::spawn(move || {
                let mut requests: Vec<Instant> = Vec::new();
                for signal in signals.forever() {
                    let process = i32::try_from(process).map(Pid::from_raw);
                    let (Ok(process), Ok(signal)) = (process, Signal::try_from(signal)) else {
                        continue;
                    };
                    if signal == Signal::SIGINT {
                        requests.retain(|request| request.elapsed() < SOON);
                        requests.push(Instant::now());
                    }
                    if requests.len() >= REQUESTS_TO_KILL {
                        let _ = kill(process, Signal::SIGKILL);
                    } else if !was_sent_to_process_group(signal) {
                        // A program that has ended needs no signal.
                        let _ = kill(process, signal);
                    }
                }
            });
            SignalForwarding(handle)
        }
    }

    /// Signals are forwarded until this is dropped.
    pub(super) struct SignalForwarding(Handle);

    impl Drop for SignalForwarding {
        fn drop(&mut self) {
            self.0.close();
        }
    }

    /// Ctrl-C at a terminal goes to the whole foreground process group, and so has reached the child.
    fn was_sent_to_process_group(signal: Signal) -> bool {
        matches!(signal, Signal::SIGINT | Signal::SIGQUIT)
            && File::open("/dev/tty").is_ok_and(|tty| tcgetpgrp(&tty) == Ok(getpgrp()))
    }

    /// A bit for each ignored signal; none if the system does not say.
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

    /// Nothing is forwarded: a console notifies all its processes.
    pub(crate) struct CaughtSignals;

    impl CaughtSignals {
        pub(crate) fn begin() -> io::Result<CaughtSignals> {
            // Where no handler can be installed, Ctrl-C ends this process as it always does.
            let _ = ctrlc::set_handler(|| {});
            Ok(CaughtSignals)
        }

        pub(crate) fn any_received(&mut self) -> bool {
            false
        }

        pub(super) fn forward_to(self, _process: u32) -> CaughtSignals {
            self
        }
    }

    pub(super) fn killed_by(_status: ExitStatus) -> Option<u8> {
        None
    }
}
