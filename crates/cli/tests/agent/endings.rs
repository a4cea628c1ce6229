//! What is left of a trace when the program, or the disk, comes to a sudden end.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::Case;
use crate::jvm::{ProcessOutput, Run, torture_classes};
use crate::setup::{Requirement, Setup};

/// How often the JVM is killed.
const MOMENTS: u64 = 20;
/// The latest of these moments.
const LATEST_MILLIS: u64 = 2500;

/// Chooses the moments again that a failed test has printed.
const SEED: &str = "SCISSION_SEED";

pub(crate) fn cases() -> Vec<Case> {
    let trace = Requirement::Subcommand("trace");
    vec![
        Case::new("killed", [trace], kill_at_random_moments),
        Case::new("disk-full/from-the-start", [], |setup: &Setup| {
            // Every write to this file fails as on a full disk.
            let run = program(setup, "record=/dev/full")?;
            let child = run.command()?.spawn()?;
            assert_completes(&run.wait_for(child)?)
        }),
        Case::new("disk-full/on-the-way", [trace], full_on_the_way),
        Case::new("no-such-folder", [], |setup: &Setup| {
            let run = program(setup, "record=no/such/folder/recorded.trace")?;
            let child = run.command()?.spawn()?;
            assert_completes(&run.wait_for(child)?)
        }),
        Case::new("recorded-to/pipe", [], record_to_pipe),
        Case::new("recorded-to/links", [trace], record_to_links),
    ]
}

/// The agent writes to a pipe as it comes, and does not put a file in its place.
fn record_to_pipe(setup: &Setup) -> Result<(), Failed> {
    let run = run(setup, None, &["1000"])?;
    let pipe = run.trace();
    if !Command::new("mkfifo").arg(&pipe).status()?.success() {
        return Err("mkfifo".into());
    }
    let child = run.command()?.spawn()?;
    let bytes = fs::read(&pipe)?;
    let seen = run.wait_for(child)?;
    if seen.code != Some(0) || complete_blocks(&bytes)?.events == 0 {
        return Err(format!("{} bytes came through the pipe: {seen:?}", bytes.len()).into());
    }
    if !fs::symlink_metadata(&pipe)?.file_type().is_fifo() {
        return Err("the pipe was replaced".into());
    }
    Ok(())
}

/// A link stays a link, whether it leads to a file or nowhere yet, and so does a device.
fn record_to_links(setup: &Setup) -> Result<(), Failed> {
    let run = run(setup, None, &["1000"])?;
    let (link, real) = (run.trace(), run.folder.path().join("real.trace"));
    symlink("real.trace", &link)?;
    for _ in 0..2 {
        let seen = run.finish()?;
        if seen.code != Some(0) || !fs::symlink_metadata(&link)?.is_symlink() {
            return Err(format!("the link was replaced: {seen:?}").into());
        }
        assert_opens(&real, &complete_blocks(&fs::read(&real)?)?)?;
    }
    fs::remove_file(&link)?;
    let device = Command::new("mknod").arg(&link).args(["c", "1", "3"]).output()?;
    if !device.status.success() {
        symlink("/dev/null", &link)?;
    }
    let seen = run.finish()?;
    if seen.code != Some(0) || !fs::metadata(&link)?.file_type().is_char_device() {
        return Err(format!("the device was replaced: {seen:?}").into());
    }
    Ok(())
}

fn run(setup: &Setup, options: Option<&str>, rounds: &[&str]) -> Result<Run, Failed> {
    let run = Run::new(setup.jdk_program("java"))?.argument("-XX:-UsePerfData");
    let options = options.map_or_else(|| run.recording(), str::to_string);
    let run = run.watched("", &options).argument("-cp").argument(torture_classes()?);
    Ok(run.argument("torture.Forever").arguments(rounds))
}

/// A run that makes some hundred thousand events and ends by itself.
fn program(setup: &Setup, options: &str) -> Result<Run, Failed> {
    run(setup, Some(options), &["100000"])
}

/// One sentence, and the program does what it does without.
fn assert_completes(process_output: &ProcessOutput) -> Result<(), Failed> {
    if process_output.code != Some(0) || process_output.output != "ready\ndone 300000\n" {
        return Err(format!("the program did not go on: {process_output:?}").into());
    }
    if process_output.error.lines().count() != 1 || !process_output.error.contains("record") {
        return Err(format!(
            "this should be one sentence about the recording: {}",
            process_output.error
        )
        .into());
    }
    Ok(())
}

/// The limit on the size of files stops the recording in the middle, and needs no rights to set up.
fn full_on_the_way(setup: &Setup) -> Result<(), Failed> {
    let run = run(setup, None, &["100000"])?;
    // In blocks of 512 bytes, or of 1024 in some shells.
    let child = run.command_after("ulimit -f 1000")?.spawn()?;
    assert_completes(&run.wait_for(child)?)?;
    let blocks = complete_blocks(&fs::read(run.trace())?)?;
    if blocks.events == 0 {
        return Err("nothing was recorded before the limit".into());
    }
    assert_opens(&run.trace(), &blocks)
}

fn kill_at_random_moments(setup: &Setup) -> Result<(), Failed> {
    let seed = match std::env::var(SEED) {
        Ok(text) => text.parse()?,
        Err(_) => u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis())?,
    };
    println!("killed: {SEED}={seed}");
    let mut state = seed;
    let mut recorded = 0;
    for _ in 0..MOMENTS {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Duration::from_millis((state >> 33) % LATEST_MILLIS);
        let told = |failed: Failed| {
            let why = failed.message().unwrap_or("it failed");
            Failed::from(format!("{SEED}={seed}, killed after {moment:?}: {why}"))
        };
        recorded += kill_after(setup, moment).map_err(told)?;
    }
    // Some moments are before the first block is complete, but hardly all.
    if recorded == 0 {
        return Err(format!("{SEED}={seed}: no trace had an event").into());
    }
    Ok(())
}

/// Kills after a while, and returns how many events the complete blocks hold at least.
fn kill_after(setup: &Setup, moment: Duration) -> Result<u64, Failed> {
    let run = run(setup, None, &[])?;
    let mut child = run.command()?.spawn()?;
    thread::sleep(moment);
    let ended_before = child.try_wait()?;
    // This is signal 9.
    child.kill()?;
    child.wait()?;
    if let Some(status) = ended_before {
        return Err(format!("the program ended by itself: {status}").into());
    }
    if !run.trace().exists() {
        // It was killed before the agent was loaded.
        return Ok(0);
    }
    let blocks = complete_blocks(&fs::read(run.trace())?)?;
    assert_opens(&run.trace(), &blocks)?;
    Ok(blocks.events)
}

/// What the complete blocks of a trace hold.
#[derive(Debug, PartialEq, Eq)]
struct Blocks {
    /// At least this many events: all but those of the last block of events.
    events: u64,
}

/// Walks over the blocks of a trace knowing nothing but their frame: marker, kind, length, number, events before, two
/// checksums. After the last complete block there may be the beginning of one more, and nothing else.
fn complete_blocks(bytes: &[u8]) -> Result<Blocks, Failed> {
    const PREAMBLE: usize = 12;
    const HEADER: usize = 32;
    const MARKER: &[u8] = b"\xf5SB\n";
    let mut blocks = Blocks { events: 0 };
    let mut at = PREAMBLE;
    let mut number = 0;
    while let Some(header) = bytes.get(at..at + HEADER) {
        let word = |from: usize| -> Result<u32, Failed> {
            Ok(u32::from_le_bytes(header[from..from + 4].try_into()?))
        };
        if &header[..4] != MARKER || word(12)? != number {
            return Err(format!("there is no block {number} at offset {at}").into());
        }
        let end = at + HEADER + usize::try_from(word(8)?)?;
        if end > bytes.len() {
            break;
        }
        blocks.events = u64::from(word(16)?) | u64::from(word(20)?) << 32;
        at = end;
        number += 1;
    }
    Ok(blocks)
}

/// The trace opens, nothing in it is damaged, and all events of its complete blocks are counted.
fn assert_opens(trace: &Path, blocks: &Blocks) -> Result<(), Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_scission"))
        .arg("trace")
        .arg(trace)
        .args(["--stats", "--format", "json"])
        .output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    if output.status.code() != Some(0) {
        return Err(format!("the trace does not open: {error}").into());
    }
    if error.contains("damaged") {
        return Err(format!("the trace is damaged: {error}").into());
    }
    let stats: Value = serde_json::from_slice(&output.stdout)?;
    let counted = stats["events"].as_u64().ok_or("the counts have no `events`")?;
    if counted < blocks.events {
        return Err(format!("of {} events {counted} are left", blocks.events).into());
    }
    Ok(())
}
