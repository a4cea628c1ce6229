//! `cargo xtask bench transactions`: Table 1 of the Velodrome paper for the programs of this tree. See
//! `bench/README.md`.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result};
use checkers::Checker;
use checkers::velodrome::{Config, Velodrome};
use events::TraceReader;

use crate::agent_bench::BenchDirectory;
use crate::progress;

/// Sizes for which a program runs a second or less; the others do their usual work.
const SIZES: [(&str, u32); 12] = [
    ("Crypt", 2),
    ("LuFact", 500),
    ("MolDyn", 6),
    ("MonteCarlo", 5_000),
    ("RayTracer", 200),
    ("Series", 2_000),
    ("Sor", 300),
    ("SparseMatMult", 3_000),
    ("Elevator", 50_000),
    ("Tsp", 14),
    ("Philosophers", 50_000),
    ("Database", 1_000),
];
const THREADS: u32 = 4;

/// Records each program once and prints what Velodrome makes of it.
pub(crate) fn count() -> Result<()> {
    let directory = BenchDirectory::set_up()?;
    println!("{:15}{:>12}{:>26}{:>26}", "", "", "transactions made", "most alive at a time");
    println!(
        "{:15}{:>12}{:>13}{:>13}{:>13}{:>13}{:>12}",
        "program", "events", "no merging", "merging", "no merging", "merging", "violations"
    );
    for mut program in directory.programs() {
        progress(program.class);
        if let Some((_, size)) = SIZES.iter().find(|(class, _)| *class == program.class) {
            program.arguments = vec![size.to_string(), THREADS.to_string()];
        }
        let trace = directory.record(&program)?;
        let row = Row::of(&trace).with_context(|| program.class.to_string())?;
        fs::remove_file(&trace)?;
        row.print(program.class);
    }
    Ok(())
}

/// Velodrome on one trace, without and with merging.
struct Row {
    events: u64,
    unmerged: Velodrome,
    merged: Velodrome,
}

impl Row {
    fn of(trace: &Path) -> Result<Row> {
        let mut reader = TraceReader::new(BufReader::new(File::open(trace)?))?;
        let checker = |merge| Velodrome::new(Config { merge, ..Config::default() });
        let mut row = Row { events: 0, unmerged: checker(false), merged: checker(true) };
        while let Some(event) = reader.next_event()? {
            row.events += 1;
            row.unmerged.event(&event);
            row.merged.event(&event);
        }
        Ok(row)
    }

    fn print(&self, program: &str) {
        let (unmerged, merged) = (self.unmerged.statistics(), self.merged.statistics());
        println!(
            "{program:15}{:>12}{:>13}{:>13}{:>13}{:>13}{:>12}",
            self.events,
            unmerged.allocated,
            merged.allocated,
            unmerged.most_alive,
            merged.most_alive,
            self.merged.violations()
        );
    }
}
