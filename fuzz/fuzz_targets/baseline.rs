//! A baseline, and a report of findings: reading them must end in a value or an error, never in a panic; and what was
//! read of a baseline is written and read again as the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use report::{Baseline, read_findings, read_results};

fuzz_target!(|text: &str| {
    let _ = read_findings(text);
    let _ = read_results(text);
    let Ok(baseline) = Baseline::read(text) else { return };
    let write = |baseline: &Baseline| {
        let mut written = Vec::new();
        baseline.write(&mut written).expect("memory takes all");
        String::from_utf8(written).expect("it is text")
    };
    let written = write(&baseline);
    let again = Baseline::read(&written).expect("what is written can be read");
    assert_eq!(write(&again), written);
});
