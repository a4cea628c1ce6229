//! The whole-program rules against all interleavings of small random programs.

#![allow(missing_docs, reason = "a test")]

mod by_hand;
mod explore;
mod generate;
mod history;
mod java;
#[path = "../java_program/mod.rs"]
mod java_program;
mod machine;
#[path = "../random/mod.rs"]
mod random;

use std::collections::BTreeSet;

use program::{MethodId, Program};
use rayon::prelude::*;

use explore::{Deadlock, Verdict, explore};
use java_program::Compiled;
use random::number_from;

/// States of a program, at most.
const MOST_STATES: usize = 40_000;

fn main_method(program: &Program) -> MethodId {
    let mut methods = program.methods_with_bodies();
    methods.find(|method| &*program.methods[*method].name == "main").expect("a program has a main")
}

fn class_name(number: usize) -> String {
    format!("P{number}")
}

#[test]
fn the_oracle_judges_programs_written_by_hand_as_known() {
    let sources: Vec<(String, String)> = by_hand::CASES
        .iter()
        .enumerate()
        .map(|(number, case)| {
            let class = class_name(number);
            let text = format!("class {class} {{\n{}}}\n", case.members);
            (class, text)
        })
        .collect();
    let compiled = Compiled::each(&sources);
    for ((case, compiled), (class, _)) in by_hand::CASES.iter().zip(&compiled).zip(&sources) {
        let main = main_method(&compiled.program);
        let verdict = explore(&compiled.program, main, MOST_STATES).expect("few states");
        println!("{}: {} states", case.title, verdict.states);
        let races: BTreeSet<&str> =
            verdict.races.iter().map(|race| race.variable.as_str()).collect();
        assert_eq!(races, BTreeSet::from_iter(case.races.iter().copied()), "{}", case.title);
        let deadlocks: BTreeSet<String> = verdict
            .deadlocks
            .iter()
            .map(|deadlock| match deadlock {
                Deadlock::Locks { locks, .. } => {
                    let names: Vec<String> =
                        locks.iter().map(|lock| lock.replace(&format!("{class}$"), "P.")).collect();
                    names.join(" ")
                }
                Deadlock::Join { .. } => "join".to_string(),
                Deadlock::Asleep { .. } => "asleep".to_string(),
            })
            .collect();
        let known = case.deadlocks.iter().map(|deadlock| (*deadlock).to_string());
        assert_eq!(deadlocks, known.collect(), "{}", case.title);
        let methods: BTreeSet<&str> =
            verdict.not_atomic.iter().map(|found| found.method.as_str()).collect();
        assert_eq!(methods, BTreeSet::from_iter(case.not_atomic.iter().copied()), "{}", case.title);
    }
}

#[test]
fn random_programs_are_explored() {
    let count = number_from("SCISSION_ORACLE_PROGRAMS", 100);
    let first = number_from("SCISSION_ORACLE_SEED", 1);
    let programs: Vec<java::Program> =
        (first..first + count).into_par_iter().map(generate::program).collect();
    let sources: Vec<(String, String)> = programs
        .iter()
        .enumerate()
        .map(|(number, program)| (class_name(number), program.write(&class_name(number))))
        .collect();
    let started = std::time::Instant::now();
    let compiled = Compiled::each(&sources);
    println!("compiled in {:?}", started.elapsed());
    let started = std::time::Instant::now();
    let verdicts: Vec<Option<Verdict>> = compiled
        .par_iter()
        .map(|it| explore(&it.program, main_method(&it.program), MOST_STATES).ok())
        .collect();
    println!("explored in {:?}", started.elapsed());
    let found: Vec<&Verdict> = verdicts.iter().flatten().collect();
    let with = |what: &dyn Fn(&Verdict) -> bool| found.iter().filter(|it| what(it)).count();
    println!(
        "{} explored, races {}, deadlocks {}, not atomic {}, silent {}, states {}, largest {}",
        found.len(),
        with(&|it| !it.races.is_empty()),
        with(&|it| !it.deadlocks.is_empty()),
        with(&|it| !it.not_atomic.is_empty()),
        with(&|it| it.races.is_empty() && it.deadlocks.is_empty() && it.not_atomic.is_empty()),
        found.iter().map(|it| it.states).sum::<usize>(),
        found.iter().map(|it| it.states).max().unwrap_or_default(),
    );
    if std::env::var("SHOW").is_ok() {
        for (source, verdict) in sources.iter().zip(&verdicts) {
            println!("{}\n{verdict:#?}", source.1);
        }
    }
}
