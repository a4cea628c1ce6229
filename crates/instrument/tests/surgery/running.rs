//! Programs do the same with something inserted everywhere as without.

use std::fmt::Write;
use std::path::Path;

use classes::Jdk;

use crate::java::{compile, java};
use crate::jdks::{jdks, this_jdk};
use crate::stress::{Counts, Stress, stress_directory};

/// The program of all shapes of Java 8, with those parts filled in that are too long to write down.
fn torture() -> String {
    let (mut locals, mut sums, mut cases) = (String::new(), String::new(), String::new());
    for number in 0..300 {
        writeln!(locals, "int l{number} = seed * {number} + 1;").unwrap();
        writeln!(sums, "sum += l{number};").unwrap();
        writeln!(cases, "case {number}: return x * {number} + counter % 1;").unwrap();
    }
    include_str!("java_sources/Torture.java")
        .replace("MANY_LOCALS", &locals)
        .replace("SUM_LOCALS", &sums)
        .replace("HUGE_CASES", &cases)
}

/// Compiles a program, and compares its output on all newer JDKs before and after.
fn same_output(compiler: &Jdk, main_class: &str, source: &str, options: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let file = format!("{main_class}.java");
    let hook = ("Hook.java", include_str!("java_sources/Hook.java"));
    compile(compiler, &[(&file, source), hook], directory.path(), options);
    let path = directory.path().to_str().unwrap();
    let run = |jdk: &Jdk, flags: &[&str]| {
        let arguments = [flags, &["-Xverify:all", "-ea", "-cp", path, main_class]].concat();
        let run = java(jdk, &arguments);
        assert!(run.succeeded, "{main_class} {options:?} on {}: {}", jdk.release, run.errors);
        run.output
    };
    let runners: Vec<Jdk> =
        jdks().into_iter().filter(|jdk| jdk.release >= compiler.release).collect();
    let plain: Vec<String> = runners.iter().map(|jdk| run(jdk, &[])).collect();
    assert!(plain[0].lines().count() > 10);
    let mut counts = Counts::default();
    stress_directory(Path::new(path), Stress::Calls, &mut counts);
    println!("{main_class} {options:?}: {counts:?}");
    assert!(counts.methods > 10 && counts.left_alone <= 1, "{counts:?}");
    for (jdk, plain) in runners.iter().zip(&plain) {
        let compiled = format!("-XX:CompileCommand=quiet,compileonly,{main_class}*::*");
        assert_eq!(&run(jdk, &[]), plain, "{main_class} {options:?} on {}", jdk.release);
        if *jdk == runners[0] {
            assert_eq!(&run(jdk, &["-Xcomp", &compiled]), plain, "{main_class} {options:?}");
        }
    }
}

#[test]
fn java_8_code_runs_the_same() {
    for options in [
        &["--release", "8", "-g"][..],
        &["--release", "11", "-g:none"],
        &["--release", "17", "-g", "-parameters", "-XDcrt"],
    ] {
        same_output(&this_jdk(), "Torture", &torture(), options);
    }
}

#[test]
fn java_17_code_runs_the_same() {
    let source = include_str!("java_sources/Torture17.java");
    same_output(&this_jdk(), "Torture17", source, &["--release", "17", "-g"]);
}

#[test]
fn java_21_code_runs_the_same() {
    match jdks().into_iter().find(|jdk| jdk.release >= 21 && jdk.home.join("bin/javac").exists()) {
        Some(jdk) => {
            let source = include_str!("java_sources/Torture21.java");
            same_output(&jdk, "Torture21", source, &["-g"]);
        }
        None => println!("skipped: no compiler for Java 21 was found"),
    }
}
