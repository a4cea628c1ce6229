//! One run of the release binary, measured.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The cost and the report of one run.
pub(crate) struct Measured {
    /// The JSON report.
    pub(crate) report: Value,
    pub(crate) wall: Duration,
    /// The largest resident set; 0 if the system does not report it.
    pub(crate) peak_kib: u64,
}

impl Measured {
    /// A counter of the report's `stats`.
    pub(crate) fn stat(&self, name: &str) -> Option<u64> {
        self.report["stats"][name].as_u64()
    }

    /// How many entries a list of the report has.
    pub(crate) fn count(&self, list: &str) -> usize {
        self.report[list].as_array().map_or(0, Vec::len)
    }
}

/// Runs `scission check ARGUMENTS --format json`, keeping the report in a file. No configuration counts:
/// what is measured is the same wherever it is run.
pub(crate) fn check(binary: &Path, arguments: &[&str], report: &Path) -> Result<Measured> {
    if let Some(directory) = report.parent() {
        fs::create_dir_all(directory)
            .with_context(|| format!("{} cannot be made", directory.display()))?;
    }
    let output =
        File::create(report).with_context(|| format!("{} cannot be written", report.display()))?;
    let mut command = Command::new(binary);
    command.arg("check").args(arguments);
    command.args(["--no-config", "--format", "json", "--no-progress"]);
    command.stdout(output);
    let start = Instant::now();
    let (status, peak_kib) = run_watching_memory(&mut command)?;
    let wall = start.elapsed();
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("`scission check {}` ended with {status}", arguments.join(" "));
    }
    let text = fs::read_to_string(report)?;
    let report =
        serde_json::from_str(&text).with_context(|| format!("{} is no JSON", report.display()))?;
    Ok(Measured { report, wall, peak_kib })
}

/// The system keeps the peak for us while the process lives, so it is enough to look often; the
/// last look misses at most the final milliseconds, when nothing grows any more.
fn run_watching_memory(command: &mut Command) -> Result<(ExitStatus, u64)> {
    let mut child = command.spawn().context("scission could not be started")?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0;
    loop {
        if let Some(peak) = peak_in(&fs::read_to_string(&status_file).unwrap_or_default()) {
            peak_kib = peak_kib.max(peak);
        }
        if let Some(status) = child.try_wait()? {
            return Ok((status, peak_kib));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::peak_in;

    #[test]
    fn the_peak_is_read_from_the_status_file() {
        assert_eq!(peak_in("VmPeak:\t 9 kB\nVmHWM:\t    5124 kB\nVmRSS:\t 4 kB\n"), Some(5124));
        assert_eq!(peak_in("Name:\tscission\n"), None);
    }
}
