//! A file of models: reading it must end in facts or in problems with their lines, never in a panic; and what was read is
//! printed and read again as the same.
//!
//! Good seeds are the files of `crates/models/data`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use model_format::{ModelFile, parse, print_statements, statements};

fuzz_target!(|text: &str| {
    let lines = text.lines().count().max(1);
    match parse("fuzz", text, true) {
        Ok(file) => {
            let printed = print(&file);
            let again = parse("fuzz", &printed, true).expect("what is printed can be read");
            assert_eq!(print(&again), printed);
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(problem.line as usize <= lines, "{problem}");
            }
        }
    }
});

fn print(file: &ModelFile) -> String {
    print_statements(&statements(file), |_| None)
}
