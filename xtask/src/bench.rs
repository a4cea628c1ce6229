//! `cargo xtask bench static`: what `scission check` costs, and how the cost grows from a quarter to a half to all of a
//! program. The analyses that look at one method at a time, and along calls, are measured on every class of
//! java.base; the whole-program analysis on a database. See `bench/README.md`.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::builds::{self, Profile};
use crate::program_run::{self, Measured};
use crate::{debian, jdk, progress, target_directory};

/// The parts of a program, by the argument that chooses them.
const FRACTIONS: [&str; 3] = ["1/4", "1/2", "1/1"];
/// Every part is measured this often, in turns, and the median counts: a machine that is slower for
/// a while then slows all parts down alike.
const ROUNDS: usize = 3;
/// What all of a program may cost.
struct Limits {
    seconds: f64,
    kib: u64,
    /// How much faster than the number of classes the time may grow. What is followed across calls grows with
    /// the edges of the call graph, and those are three times as many for twice the classes.
    growth: f64,
}
const JAVA_BASE: Limits = Limits { seconds: 8.0, kib: 1536 * 1024, growth: 1.40 };
/// Contexts grow with the ways that calls take, and not with the classes.
const APPLICATION: Limits = Limits { seconds: 20.0, kib: 3 * 1024 * 1024, growth: 4.0 };
/// The rules whose analyses need no threads.
const BY_METHOD: [&str; 2] = ["reacquired-lock", "stale-value"];
/// The Debian packages that the whole-program analysis is measured on, with their names.
const PROGRAMS: [(&str, &str); 2] = [("derby", "libderby-java"), ("tomcat", "libtomcat10-java")];
/// What one rule alone costs is measured with this one.
const LEAST_RULE: &str = "reacquired-lock";
/// How much longer than that rule alone all rules together may take.
const MOST_MORE_SECONDS: f64 = 4.0;
/// How much more memory than that rule alone all rules together may take.
const MOST_MORE_MEMORY: f64 = 1.20;

pub(crate) fn measure_static() -> Result<()> {
    let mut problems: Vec<String> = Vec::new();
    problems.extend(measure_java_base().err().map(|error| error.to_string()));
    for (name, package) in PROGRAMS {
        let judged = measure_whole_program(name, package);
        problems.extend(judged.err().map(|error| format!("{name}: {error}")));
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}

/// All rules, on all jars of a package.
fn measure_whole_program(name: &str, package: &str) -> Result<()> {
    let home = jdk::ensure()?.display().to_string();
    debian::ensure(&[package])?;
    let jars: Vec<String> =
        debian::jars_of(package)?.iter().map(|jar| jar.display().to_string()).collect();
    let mut arguments: Vec<&str> = jars.iter().map(String::as_str).collect();
    arguments.extend(["--jdk", &home]);
    let parts = measure("whole-program.json", &in_parts(&arguments))?;
    print_table(&format!("part of {name}"), &parts);
    judge(&parts, &APPLICATION)
}

/// The rules that need no threads, and one of them alone.
fn measure_java_base() -> Result<()> {
    let home = jdk::ensure()?.display().to_string();
    let java_base = ["jrt:java.base", "--jdk", &home];
    let mut arguments = java_base.to_vec();
    arguments.extend(BY_METHOD.iter().flat_map(|rule| ["--rule", rule]));
    let mut runs = in_parts(&arguments);
    let alone = [&java_base[..], &["--rule", LEAST_RULE]].concat();
    runs.push(Run { fraction: "1/1", arguments: alone });
    let parts = measure("static.json", &runs)?;
    let Some((alone, parts)) = parts.split_last() else { bail!("nothing was measured") };
    print_table("part of java.base", parts);
    let judged = judge(parts, &JAVA_BASE);
    match (judged, parts.last().map_or(Ok(()), |all| compare(all, alone))) {
        (Err(one), Err(other)) => bail!("{one}; {other}"),
        (one, other) => one.and(other),
    }
}

/// A run of `scission check`.
struct Run<'a> {
    /// The part of the program that it looks at.
    fraction: &'static str,
    arguments: Vec<&'a str>,
}

/// The same run for each part of the program.
fn in_parts<'a>(arguments: &[&'a str]) -> Vec<Run<'a>> {
    let part = |fraction| {
        let arguments = [arguments, &["--bench-fraction", fraction]].concat();
        Run { fraction, arguments }
    };
    FRACTIONS.into_iter().map(part).collect()
}

/// Measures some runs in turns; the parts are in their order.
fn measure(report: &str, runs: &[Run<'_>]) -> Result<Vec<Part>> {
    let binary = builds::command(Profile::Release)?;
    let report = target_directory()?.join("bench").join(report);
    let mut measured: Vec<Vec<Measured>> = runs.iter().map(|_| Vec::new()).collect();
    for round in 1..=ROUNDS {
        progress(&format!("round {round} of {ROUNDS}"));
        for (measured, run) in measured.iter_mut().zip(runs) {
            measured.push(program_run::check(&binary, &run.arguments, &report)?);
        }
    }
    measured.iter().zip(runs).map(|(measured, run)| Part::of(measured, run.fraction)).collect()
}

/// Compares the rules together with one alone.
fn compare(all: &Part, alone: &Part) -> Result<()> {
    let seconds = all.wall.as_secs_f64() - alone.wall.as_secs_f64();
    let memory = all.peak_kib as f64 / alone.peak_kib.max(1) as f64;
    println!(
        "`{LEAST_RULE}` alone: {:.2} s, {} MiB; all rules: {seconds:.2} s more, {memory:.2} times the memory",
        alone.wall.as_secs_f64(),
        alone.peak_kib / 1024,
    );
    let mut problems = Vec::new();
    if seconds > MOST_MORE_SECONDS {
        problems.push(format!("{seconds:.2} s more are over {MOST_MORE_SECONDS} s"));
    }
    if memory > MOST_MORE_MEMORY {
        problems.push(format!("{memory:.2} times the memory is over {MOST_MORE_MEMORY}"));
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}

/// The medians of one part of a program.
struct Part {
    fraction: &'static str,
    wall: Duration,
    peak_kib: u64,
    classes: u64,
    /// Every counter of the report, in the report's order.
    stats: Vec<(String, u64)>,
}

impl Part {
    fn of(runs: &[Measured], fraction: &'static str) -> Result<Part> {
        let Some(first) = runs.first() else { bail!("nothing was measured") };
        let names = first.report["stats"].as_object().cloned().unwrap_or_default();
        let stats: Vec<(String, u64)> = names
            .keys()
            .map(|name| (name.clone(), median(runs.iter().filter_map(|run| run.stat(name)))))
            .collect();
        let classes = first.stat("classes").unwrap_or(0);
        if classes == 0 {
            bail!("the report of {fraction} counts no classes");
        }
        Ok(Part {
            fraction,
            wall: median(runs.iter().map(|run| run.wall)),
            peak_kib: runs.iter().map(|run| run.peak_kib).max().unwrap_or(0),
            classes,
            stats,
        })
    }

    fn classes_per_second(&self) -> f64 {
        self.classes as f64 / self.wall.as_secs_f64()
    }
}

/// The middle one; of an even number the lower of the two.
pub(crate) fn median<T: Ord + Default>(values: impl Iterator<Item = T>) -> T {
    let mut values: Vec<T> = values.collect();
    values.sort();
    let middle = values.len().saturating_sub(1) / 2;
    values.into_iter().nth(middle).unwrap_or_default()
}

fn print_table(title: &str, parts: &[Part]) {
    let row = |name: &str, cells: Vec<String>| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>10}")).collect();
        println!("{name:24}{}", cells.join(""));
    };
    row(title, parts.iter().map(|part| part.fraction.to_string()).collect());
    let names = parts.last().map(|all| all.stats.clone()).unwrap_or_default();
    for (name, _) in names {
        let value = |part: &Part| {
            part.stats.iter().find(|(key, _)| *key == name).map_or(0, |(_, value)| *value)
        };
        row(&name, parts.iter().map(|part| value(part).to_string()).collect());
    }
    let seconds = |part: &Part| format!("{:.2}", part.wall.as_secs_f64());
    row("wall seconds", parts.iter().map(seconds).collect());
    row("peak MiB", parts.iter().map(|part| (part.peak_kib / 1024).to_string()).collect());
    let rate = |part: &Part| format!("{:.0}", part.classes_per_second());
    row("classes per second", parts.iter().map(rate).collect());
    let growths: Vec<String> =
        parts.windows(2).map(|pair| format!("{:.2}", growth(pair))).collect();
    row("time over classes", std::iter::once(String::new()).chain(growths).collect());
}

/// How the time grows from one part to the next, divided by how the number of classes grows: 1 is
/// linear, less is better.
fn growth(pair: &[Part]) -> f64 {
    let time = pair[1].wall.as_secs_f64() / pair[0].wall.as_secs_f64();
    let classes = pair[1].classes as f64 / pair[0].classes as f64;
    time / classes
}

fn judge(parts: &[Part], limits: &Limits) -> Result<()> {
    let mut problems = Vec::new();
    if let Some(all) = parts.last() {
        let seconds = all.wall.as_secs_f64();
        if seconds > limits.seconds {
            problems.push(format!("{seconds:.2} s are more than {} s", limits.seconds));
        }
        if all.peak_kib > limits.kib {
            let (peak, most) = (all.peak_kib / 1024, limits.kib / 1024);
            problems.push(format!("{peak} MiB are more than {most} MiB"));
        }
    }
    for pair in parts.windows(2) {
        let growth = growth(pair);
        if growth > limits.growth {
            problems.push(format!(
                "from {} to {} the time grows {growth:.2} times as fast as the classes",
                pair[0].fraction, pair[1].fraction
            ));
        }
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_differ_in_the_fraction_only() {
        let runs = in_parts(&["a.jar", "--jdk", "home"]);
        assert_eq!(runs.iter().map(|run| run.fraction).collect::<Vec<_>>(), FRACTIONS);
        assert_eq!(runs[1].arguments, ["a.jar", "--jdk", "home", "--bench-fraction", "1/2"]);
    }

    fn part(fraction: &'static str, millis: u64, classes: u64) -> Part {
        Part { fraction, wall: Duration::from_millis(millis), peak_kib: 1, classes, stats: vec![] }
    }

    #[test]
    fn linear_growth_passes_and_quadratic_growth_does_not() {
        assert!(judge(&[part("1/2", 1000, 100), part("1/1", 2100, 200)], &JAVA_BASE).is_ok());
        let error =
            judge(&[part("1/2", 1000, 100), part("1/1", 4000, 200)], &JAVA_BASE).unwrap_err();
        assert!(error.to_string().contains("2.00 times as fast"), "{error}");
    }

    #[test]
    fn slow_and_large_runs_fail() {
        assert!(
            judge(&[part("1/1", 8001, 100)], &JAVA_BASE)
                .unwrap_err()
                .to_string()
                .contains("8.00 s")
        );
        let large = Part { peak_kib: JAVA_BASE.kib + 1024, ..part("1/1", 1, 1) };
        assert!(judge(&[large], &JAVA_BASE).unwrap_err().to_string().contains("1537 MiB"));
    }

    #[test]
    fn rules_that_cost_too_much_fail() {
        let alone = part("1/1", 2000, 100);
        assert!(compare(&part("1/1", 5000, 100), &alone).is_ok());
        let error = compare(&part("1/1", 6500, 100), &alone).unwrap_err();
        assert!(error.to_string().contains("4.50 s more"), "{error}");
        let large = Part { peak_kib: 2, ..part("1/1", 2000, 100) };
        assert!(compare(&large, &alone).unwrap_err().to_string().contains("2.00 times"));
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median([9, 1, 5].into_iter()), 5);
        assert_eq!(median([2, 1].into_iter()), 1);
        assert_eq!(median(std::iter::empty::<u64>()), 0);
    }
}
