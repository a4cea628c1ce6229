//! A program run to its end, but not longer than it may take.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The output of a program, and its time.
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) wall: Duration,
}

/// Runs a program and collects its standard output. It is killed, and that is an error, when it takes longer
/// than it may.
pub(crate) fn finish(command: &mut Command, most: Duration) -> Result<Finished> {
    let name = command.get_program().to_string_lossy().into_owned();
    let finished = finish_before(command, most)?;
    finished.with_context(|| format!("`{name}` did not end within {} s", most.as_secs()))
}

/// The same for a program that may take longer: it is killed with everything that it has started, and there is nothing to
/// return.
pub(crate) fn finish_within(command: &mut Command, most: Duration) -> Result<Option<Finished>> {
    finish_before(command.process_group(0), most)
}

fn finish_before(command: &mut Command, most: Duration) -> Result<Option<Finished>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{name}` could not be started"))?;
    let mut pipe = child.stdout.take().context("there is no pipe")?;
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map(|_| bytes)
    });
    let status = wait(&mut child, start + most)?;
    let wall = start.elapsed();
    let Some(status) = status else { return Ok(None) };
    let bytes = match reader.join() {
        Ok(bytes) => bytes?,
        Err(_) => bail!("the output of `{name}` could not be read"),
    };
    Ok(Some(Finished { status, output: String::from_utf8_lossy(&bytes).into_owned(), wall }))
}

/// Waits for the end; nothing when the deadline came first.
fn wait(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > deadline {
            // What leads a group of its own is killed with all of it.
            if killpg(Pid::from_raw(i32::try_from(child.id())?), Signal::SIGKILL).is_err() {
                child.kill()?;
            }
            child.wait()?;
            return Ok(None);
        }
        // Short enough to be of no weight in what is measured.
        thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_status_are_kept() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo said; exit 3"]);
        let finished = finish(&mut command, Duration::from_secs(60)).unwrap();
        assert_eq!((finished.output.as_str(), finished.status.code()), ("said\n", Some(3)));
    }

    #[test]
    fn what_takes_too_long_is_killed() {
        let mut command = Command::new("sleep");
        command.arg("600");
        let finished = finish(&mut command, Duration::from_millis(20));
        assert!(finished.is_err());
    }

    #[test]
    fn so_is_what_it_has_started() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & wait"]).stderr(writer);
        assert!(finish_within(&mut command, Duration::from_millis(20)).unwrap().is_none());
        drop(command);
        // The pipe ends when nobody has it any more.
        assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
}
