//! `cargo xtask bench soak`: very many threads, virtual threads and events, and the memory of the agent meanwhile.
//! See `bench/README.md`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::agent::Agent;
use crate::agent_bench::compile_programs;
use crate::{jdk, jvms, progress, target_directory, timed_run};

/// One kind of load.
struct Load {
    name: &'static str,
    /// The release of Java whose JVM is used; the JDK's own where there is none.
    release: Option<u32>,
    kind: &'static str,
    amount: u64,
    /// How many events must have been recorded, or it was not the load that it should be.
    least_events: u64,
}

/// What a normal program reports once the filters have done their work, in an hour: a hundred thousand events a
/// second.
const EVENTS_OF_AN_HOUR: u64 = 360_000_000;
/// Acquire, release, and the accesses to what another thread had before: a round makes at least this many.
const EVENTS_OF_A_ROUND: u64 = 4;

const LOADS: [Load; 4] = [
    Load {
        name: "10,000 threads",
        release: None,
        kind: "threads",
        amount: 10_000,
        least_events: 40_000,
    },
    Load {
        name: "1,000,000 virtual threads, Java 21",
        release: Some(21),
        kind: "virtual-threads",
        amount: 1_000_000,
        least_events: 4_000_000,
    },
    Load {
        name: "1,000,000 virtual threads, Java 25",
        release: Some(25),
        kind: "virtual-threads",
        amount: 1_000_000,
        least_events: 4_000_000,
    },
    Load {
        name: "the events of an hour",
        release: None,
        kind: "rounds",
        amount: EVENTS_OF_AN_HOUR / EVENTS_OF_A_ROUND,
        least_events: EVENTS_OF_AN_HOUR,
    },
];

const MOST_TIME: Duration = Duration::from_secs(1800);
/// Fewer samples than this are not significant.
const LEAST_SAMPLES: usize = 16;
/// The heap has one size from the first moment on, and all of it is touched, so what grows is something else.
const JVM_FLAGS: [&str; 4] = ["-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC"];
/// How much the resident set may grow from the second quarter of the work to the last: what compiled code and
/// the classes of the JVM itself come to.
const MOST_GROWTH_KIB: u64 = 16 * 1024;

pub(crate) fn soak() -> Result<()> {
    let home = jdk::ensure()?;
    jvms::ensure_all()?;
    let agent = Agent::build()?;
    let folder = target_directory()?.join("bench").join("soak");
    let classes = folder.join("classes");
    compile_programs(&home, &classes)?;
    let mut problems = Vec::new();
    println!(
        "{:36}{:>10}{:>14}{:>12}{:>12}{:>12}",
        "load", "seconds", "events", "plain MiB", "MiB", "growth MiB"
    );
    for load in &LOADS {
        progress(load.name);
        let java = match load.release {
            Some(release) => jvms::home(release)?.join("bin/java"),
            None => home.join("bin/java"),
        };
        let plain = run(&java, &classes, load, &[])?;
        let results = folder.join("results");
        if results.exists() {
            fs::remove_dir_all(&results)?;
        }
        fs::create_dir_all(&results)?;
        let arguments = agent.arguments_with(&format!(
            "record=/dev/null,results={}",
            results.canonicalize()?.display()
        ));
        let watched = run(&java, &classes, load, &arguments)?;
        if plain.checksum != watched.checksum {
            bail!("{}: the checksum is not the same with the agent", load.name);
        }
        let memory = Memory::of(&watched.samples).with_context(|| load.name.to_string())?;
        let plain_memory = Memory::of(&plain.samples).map_or(0, |memory| memory.late_kib);
        let events = events_in(&results)?;
        println!(
            "{:36}{:>10.1}{events:>14}{:>12}{:>12}{:>12}",
            load.name,
            watched.wall.as_secs_f64(),
            plain_memory / 1024,
            memory.late_kib / 1024,
            memory.growth_kib() / 1024
        );
        problems.extend(judge(load, &memory, events));
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}

/// One run, with the resident set in KiB at points that are evenly spread over its work.
struct SoakResult {
    samples: Vec<u64>,
    wall: Duration,
    checksum: String,
}

fn run(
    java: &Path,
    classes: &Path,
    load: &Load,
    agent: &[std::ffi::OsString],
) -> Result<SoakResult> {
    let mut command = Command::new(java);
    command
        .args(JVM_FLAGS)
        .args(agent)
        .arg("-cp")
        .arg(classes)
        .args(["programs.Soak", load.kind])
        .arg(load.amount.to_string());
    let finished =
        timed_run::finish(&mut command, MOST_TIME).with_context(|| load.name.to_string())?;
    if !finished.status.success() {
        bail!("{}: ended with {}", load.name, finished.status);
    }
    let samples = finished
        .output
        .lines()
        .filter_map(|line| line.strip_prefix("resident ")?.parse().ok())
        .collect();
    let checksum = finished.output.lines().find(|line| line.starts_with("checksum "));
    let Some(checksum) = checksum else { bail!("{}: there is no checksum", load.name) };
    Ok(SoakResult { samples, wall: finished.wall, checksum: checksum.to_string() })
}

/// The resident set when the run had settled, and at its end.
#[derive(Debug, PartialEq, Eq)]
struct Memory {
    settled_kib: u64,
    late_kib: u64,
}

impl Memory {
    /// From the means of the second and of the last quarter of the samples.
    fn of(samples: &[u64]) -> Result<Memory> {
        if samples.len() < LEAST_SAMPLES {
            bail!("{} samples of the memory are too few", samples.len());
        }
        let quarter = samples.len() / 4;
        let mean = |part: &[u64]| part.iter().sum::<u64>() / part.len().max(1) as u64;
        Ok(Memory {
            settled_kib: mean(&samples[quarter..2 * quarter]),
            late_kib: mean(&samples[samples.len() - quarter..]),
        })
    }

    fn growth_kib(&self) -> u64 {
        self.late_kib.saturating_sub(self.settled_kib)
    }
}

/// How many events the agents report, over all result files.
fn events_in(results: &Path) -> Result<u64> {
    let mut events = 0;
    let mut files: Vec<PathBuf> =
        fs::read_dir(results)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    for file in files {
        let text = fs::read_to_string(&file)?;
        let results: Value = serde_json::from_str(&text)
            .with_context(|| format!("{} is no JSON", file.display()))?;
        events += results["events"].as_u64().unwrap_or(0);
    }
    Ok(events)
}

fn judge(load: &Load, memory: &Memory, events: u64) -> Vec<String> {
    let mut problems = Vec::new();
    if events < load.least_events {
        let least = load.least_events;
        problems.push(format!("{}: {events} events are fewer than {least}", load.name));
    }
    if memory.growth_kib() > MOST_GROWTH_KIB {
        let (growth, most) = (memory.growth_kib() / 1024, MOST_GROWTH_KIB / 1024);
        problems.push(format!("{}: the memory grows by {growth} MiB, over {most} MiB", load.name));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_memory_passes_and_growing_memory_does_not() {
        let load = &LOADS[0];
        let flat: Vec<u64> = (0..100).map(|i| if i < 20 { i * 10_000 } else { 200_000 }).collect();
        let memory = Memory::of(&flat).unwrap();
        assert_eq!(memory, Memory { settled_kib: 200_000, late_kib: 200_000 });
        assert!(judge(load, &memory, load.least_events).is_empty());
        let growing: Vec<u64> = (0..100).map(|i| 200_000 + i * 1000).collect();
        let problems = judge(load, &Memory::of(&growing).unwrap(), load.least_events);
        assert!(problems[0].contains("grows by 48 MiB"), "{problems:?}");
        assert!(Memory::of(&[1, 2, 3]).is_err());
    }

    #[test]
    fn too_few_events_are_a_failure() {
        let memory = Memory { settled_kib: 1, late_kib: 1 };
        assert!(judge(&LOADS[0], &memory, 10)[0].contains("10 events are fewer than 40000"));
    }
}
