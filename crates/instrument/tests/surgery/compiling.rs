//! Methods are compiled by C1 and C2 as they were, with calls inserted everywhere.

use classes::{ClassFile, Jdk};

use crate::java::{compile, java};
use crate::jdks::{jdks, this_jdk};
use crate::stress::{Counts, Stress, stress_directory};

/// The methods whose compilation is observed.
const SHAPES: [&str; 10] = [
    "shapeReturn",
    "shapeThrow",
    "shapeNested",
    "shapeFinally",
    "shapeFinallyInside",
    "shapeLoop",
    "shapeMethod",
    "shapeStaticMethod",
    "shapeWide",
    "shapeStored",
];

/// What the program prints, once all its methods were compiled at one tier.
fn run_compiled(jdk: &Jdk, class_path: &str, tier: &str) -> String {
    let run = java(
        jdk,
        &[
            "-Xcomp",
            tier,
            "-XX:+PrintCompilation",
            "-Xlog:monitormismatch=info",
            "-XX:CompileCommand=quiet",
            "-XX:CompileCommand=compileonly,Jit::shape*",
            // A call that is inlined down to nothing cannot throw, and would prove nothing.
            "-XX:CompileCommand=dontinline,Hook::*",
            "-cp",
            class_path,
            "Jit",
            "200",
        ],
    );
    assert!(run.succeeded, "{}", run.errors);
    let (mut result, mut compiled) = (String::new(), Vec::new());
    for line in run.output.lines() {
        let refused = ["COMPILE SKIPPED", "bailout", "mismatch", "not compilable", "covers itself"];
        let context = format!("JDK {} {tier}: {line}", jdk.release);
        assert!(!refused.iter().any(|words| line.contains(words)), "{context}");
        match line.split_once("Jit::") {
            Some((_, method)) => compiled.push(method.split([' ', '(']).next().unwrap().to_owned()),
            None if line.contains("true") || line.contains("false") => result = line.to_owned(),
            None => {}
        }
    }
    for shape in SHAPES {
        let found = compiled.iter().any(|method| method == shape);
        assert!(found, "JDK {} {tier}: {shape} was not compiled: {}", jdk.release, run.output);
    }
    result
}

/// Makes the exception tables that javac writes for `synchronized` blocks look like those of Kotlin: a
/// range ends before the `aload` and `monitorexit` of the block, and the handler covers only its first
/// store.
fn as_kotlin_would(bytes: &[u8]) -> (Vec<u8>, u32) {
    let class = ClassFile::parse(bytes.into()).unwrap();
    let mut changed = bytes.to_vec();
    let mut changes = 0;
    for code in class.methods.iter().filter_map(|method| method.code.as_ref()) {
        let instructions = class.code_bytes(code);
        for (number, row) in code.handlers.iter().enumerate() {
            let end = row.end as usize;
            let new_end = match instructions[..end] {
                [.., 0xc3] if row.start == row.target => match instructions[row.start as usize] {
                    0x3a => row.start as usize + 2,
                    _ => row.start as usize + 1,
                },
                [.., 0x2a..=0x2d, 0xc3] => end - 2,
                [.., 0x19, _, 0xc3] => end - 3,
                _ => continue,
            };
            if new_end > row.start as usize {
                let place = code.range.end + 2 + number * 8 + 2;
                changed[place..place + 2].copy_from_slice(&(new_end as u16).to_be_bytes());
                changes += 1;
            }
        }
    }
    (changed, changes)
}

/// Compiles the program, lets `change` have its class, and compares its runs with and without calls
/// inserted everywhere.
fn same_when_compiled(change: impl Fn(&[u8]) -> Vec<u8>) {
    let directory = tempfile::tempdir().unwrap();
    let sources = [
        ("Jit.java", include_str!("java_sources/Jit.java")),
        ("Hook.java", include_str!("java_sources/Hook.java")),
    ];
    compile(&this_jdk(), &sources, directory.path(), &[]);
    let class = directory.path().join("Jit.class");
    std::fs::write(&class, change(&std::fs::read(&class).unwrap())).unwrap();
    let class_path = directory.path().to_str().unwrap();
    let tiers = ["-XX:TieredStopAtLevel=1", "-XX:TieredStopAtLevel=3", "-XX:-TieredCompilation"];
    let runs = || -> Vec<String> {
        let jdks = jdks();
        let pairs = jdks.iter().flat_map(|jdk| tiers.map(|tier| (jdk, tier)));
        pairs.map(|(jdk, tier)| run_compiled(jdk, class_path, tier)).collect()
    };
    let plain = runs();
    assert!(plain[0].ends_with(" falsefalsefalse"), "{plain:?}");
    stress_directory(directory.path(), Stress::Calls, &mut Counts::default());
    assert_eq!(runs(), plain);
}

#[test]
fn locking_methods_are_compiled_by_both_compilers() {
    same_when_compiled(<[u8]>::to_vec);
}

#[test]
fn locking_methods_of_kotlin_are_compiled_by_both_compilers() {
    same_when_compiled(|bytes| {
        let (changed, changes) = as_kotlin_would(bytes);
        assert!(changes > 10, "{changes}");
        changed
    });
}
