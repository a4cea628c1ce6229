//! Threads that are suspended in the middle of a report, for longer than the consumer waits for it.
//!
//! The consumer is no thread of the JVM: what suspends all others lets it run. So some tickets are skipped, and their
//! threads go on later. What they report then must not be taken for something else, and what is lost is counted.

use std::collections::BTreeMap;
use std::fs::{self, File};

use agent_protocol::Ending;
use events::{Action, ThreadId, TraceReader};
use libtest_mimic::Failed;

use crate::Case;
use crate::jvm::{Run, torture_classes};
use crate::setup::{Requirement, Setup};

/// The last release in which a thread can suspend another, of those that are tried.
const RELEASE: u32 = 17;

pub(crate) fn cases() -> Vec<Case> {
    vec![Case::new("suspended", [Requirement::Jvm(RELEASE)], nothing_is_lost_unseen)]
}

fn nothing_is_lost_unseen(setup: &Setup) -> Result<(), Failed> {
    let run = Run::new(setup.jvm(RELEASE).join("bin/java"))?;
    let results = run.folder.path().join("results");
    fs::create_dir(&results)?;
    // Compiled code is suspended between two hooks, interpreted code anywhere.
    let options = format!("{},results={}", run.recording(), results.display());
    let run = run.argument("-Xint").watched("", &options).argument("-cp");
    let run = run.argument(torture_classes()?).argument("torture.Suspended");
    let seen = run.finish()?;
    let rounds: u64 = seen.output.trim().parse().map_err(|_| format!("it failed: {seen:?}"))?;

    let (all, errors) = agent_protocol::read_directory(&results)?;
    let [jvm] = all.as_slice() else { return Err(format!("{all:?}, {errors:?}").into()) };
    if jvm.ending != Ending::Complete {
        return Err(format!("the agent did not come to its end: {jvm:?}").into());
    }
    let (taken, out_of_turn) = turns(&run)?;
    println!(
        "{rounds} rounds, {taken} events, {out_of_turn} out of turn, {} lost",
        jvm.lost_events
    );
    let missing = (2 * rounds).abs_diff(taken);
    if missing > jvm.lost_events || out_of_turn > jvm.lost_events {
        return Err(format!(
            "{rounds} rounds gave {taken} events, of which {out_of_turn} are out of turn, and {} are said to be lost",
            jvm.lost_events
        )
        .into());
    }
    Ok(())
}

/// How often the workers took and gave back their locks, and how often they did the same twice in a row.
fn turns(run: &Run) -> Result<(u64, u64), Failed> {
    let mut reader = TraceReader::new(File::open(run.trace())?)?;
    let mut holds: BTreeMap<ThreadId, bool> = BTreeMap::new();
    let (mut taken, mut out_of_turn) = (0, 0);
    while let Some(event) = reader.next_event()? {
        let is_worker = reader
            .tables()
            .threads
            .get(event.thread.0 as usize)
            .is_some_and(|thread| thread.name.starts_with("worker-"));
        let acquires = match event.action {
            Action::Acquire(_) => true,
            Action::Release(_) => false,
            _ => continue,
        };
        if is_worker {
            taken += 1;
            if holds.insert(event.thread, acquires).unwrap_or(false) == acquires {
                out_of_turn += 1;
            }
        }
    }
    Ok((taken, out_of_turn))
}
