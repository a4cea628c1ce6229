//! `cargo xtask bench agent --against LIBRARY`: the agent of this tree beside another one, for instance that of an older
//! commit. See `bench/README.md`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};

use crate::agent::{Agent, Mode};
use crate::agent_bench::{BenchDirectory, KERNELS, geometric_mean};
use crate::bench::median;
use crate::progress;

const ROUNDS: usize = 3;

/// The ways that are compared. Only what every library of the last releases can be asked for.
const MODES: [Mode; 3] = [Mode::HooksOnly, Mode::Velodrome, Mode::Checkers];

/// How many times as long as with the other library a program may take, and the kernels on average: beyond that it is not the
/// machine any more.
const MOST_OF_A_PROGRAM: f64 = 1.15;
const MOST_OF_ALL: f64 = 1.05;

/// Runs each program plain, and in each mode with both libraries in turns, so that a temporary slowdown of the machine
/// affects both. More than is allowed is a failure.
pub(crate) fn compare(library: &Path, names: &[&str]) -> Result<()> {
    let other = Agent::of_library(library)?;
    let directory = BenchDirectory::set_up()?;
    let mut programs = directory.programs();
    for name in names {
        if !programs.iter().any(|program| program.class == *name) {
            bail!("there is no program {name}");
        }
    }
    programs.retain(|program| names.is_empty() || names.contains(&program.class));
    let mut rows: Vec<Row> = programs.iter().map(|_| Row::default()).collect();
    for round in 1..=ROUNDS {
        for (program, row) in programs.iter().zip(&mut rows) {
            progress(&format!("round {round} of {ROUNDS}: {}", program.class));
            row.plain.push(directory.micros(program, Mode::Plain, &other)?);
            for mode in MODES {
                let times = row.both.entry(mode.name()).or_default();
                times.other.push(directory.micros(program, mode, &other)?);
                times.this.push(directory.micros(program, mode, directory.agent())?);
            }
        }
    }
    let mut ratios = Vec::new();
    let names = programs.iter().map(|program| program.class);
    for (name, row) in names.zip(&rows) {
        ratios.push((name, MOST_OF_A_PROGRAM, MODES.map(|mode| row.slowdowns(mode))));
    }
    let kernels: Vec<&Row> = programs
        .iter()
        .zip(&rows)
        .filter(|(program, _)| KERNELS.contains(&program.class))
        .map(|(_, row)| row)
        .collect();
    let mean = MODES.map(|mode| {
        let others = kernels.iter().map(|row| row.slowdowns(mode).0);
        let these = kernels.iter().map(|row| row.slowdowns(mode).1);
        (geometric_mean(others), geometric_mean(these))
    });
    ratios.push(("geometric mean", MOST_OF_ALL, mean));
    print(&ratios);
    let problems = judge(&ratios);
    if !problems.is_empty() {
        bail!("{}", problems.join("; "));
    }
    Ok(())
}

/// A line of the table: a name, the limit of its ratios, and in each mode how many times as long as plain it takes with the
/// other library, and with that of this tree.
type Line<'a> = (&'a str, f64, [(f64, f64); MODES.len()]);

/// What takes longer than with the other library. Of programs that ran with one of the libraries only nothing is known.
fn judge(lines: &[Line<'_>]) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, most, slowdowns) in lines {
        for (mode, (other, this)) in MODES.iter().zip(slowdowns) {
            let ratio = this / other;
            if ratio > *most {
                let mode = mode.name();
                problems.push(format!(
                    "{name} takes {ratio:.2} times as long in {mode}, over {most:.2}"
                ));
            }
        }
    }
    problems
}

/// All runs of one program, in microseconds.
#[derive(Default)]
struct Row {
    plain: Vec<u64>,
    both: BTreeMap<&'static str, Times>,
}

/// The runs of one mode with each of the libraries.
#[derive(Default)]
struct Times {
    other: Vec<u64>,
    this: Vec<u64>,
}

impl Row {
    /// How many times as long as plain it takes with the other library, and with that of this tree.
    fn slowdowns(&self, mode: Mode) -> (f64, f64) {
        let plain = middle(&self.plain).max(1.0);
        self.both.get(mode.name()).map_or((f64::NAN, f64::NAN), |times| {
            (middle(&times.other) / plain, middle(&times.this) / plain)
        })
    }
}

fn middle(times: &[u64]) -> f64 {
    median(times.iter().copied()) as f64
}

fn print(lines: &[Line<'_>]) {
    let mut heading = format!("{:15}", "program");
    for mode in MODES {
        heading.push_str(&format!(
            "{:>16}{:>8}{:>8}",
            format!("{} x", mode.name()),
            "this x",
            "ratio"
        ));
    }
    println!("{heading}");
    for (name, _, slowdowns) in lines {
        print_line(name, *slowdowns);
    }
    println!("(x of plain, with the other library first; the mean is of the kernels)");
}

fn print_line(name: &str, slowdowns: [(f64, f64); MODES.len()]) {
    let mut line = format!("{name:15}");
    for (other, this) in slowdowns {
        line.push_str(&format!("{other:>16.2}{this:>8.2}{:>8.2}", this / other));
    }
    println!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_longer_than_before_is_a_problem() {
        let lines = [
            ("faster", 1.15, [(2.0, 1.0), (2.0, 1.9), (2.0, 2.2)]),
            ("slower", 1.15, [(2.0, 2.0), (2.0, 2.4), (2.0, 2.0)]),
            ("unknown", 1.15, [(f64::NAN, 1.0), (f64::NAN, f64::NAN), (1.0, f64::NAN)]),
            ("mean", 1.05, [(2.0, 2.0), (2.0, 2.0), (2.0, 2.2)]),
        ];
        let slower = format!("slower takes 1.20 times as long in {}, over 1.15", MODES[1].name());
        let mean = format!("mean takes 1.10 times as long in {}, over 1.05", MODES[2].name());
        assert_eq!(judge(&lines), [slower, mean]);
    }
}
