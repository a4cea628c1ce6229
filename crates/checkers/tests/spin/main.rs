//! The model of the protocol of `object-consistency` (section 7.2.4 of von Praun's dissertation), checked by SPIN: what it
//! asserts holds in all interleavings, and in each mutant it does not.
//!
//! Where `spin` or a compiler of C is missing, this says so and passes, unless `SCISSION_TEST_ALL` is set.

use std::path::Path;
use std::process::Command;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/spin/object_consistency.pml");

/// What SPIN says of the model with these macros; none if it is not there.
fn verdict(macros: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let run = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).current_dir(&folder).output().ok()
    };
    let generate = run("spin", &[macros, &["-a", MODEL]].concat());
    let compile =
        generate.and_then(|_| run("cc", &["-O1", "-DSAFETY", "-w", "-o", "pan", "pan.c"]));
    let Some(compile) = compile else {
        assert!(std::env::var_os("SCISSION_TEST_ALL").is_none(), "there is no spin, or no cc");
        eprintln!("ignored: there is no spin, or no cc");
        return None;
    };
    assert!(compile.status.success(), "{}", String::from_utf8_lossy(&compile.stderr));
    let pan = folder.path().join("pan");
    let output = Command::new(&pan).arg("-m100000").current_dir(&folder).output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn a_lost_update_is_an_overlap_or_a_race_in_every_interleaving() {
    assert!(Path::new(MODEL).is_file());
    let Some(said) = verdict(&[]) else { return };
    assert!(said.contains("errors: 0") && said.contains("states, stored"), "{said}");
    assert!(!said.contains("max search depth too small"), "{said}");
}

#[test]
fn each_mutant_of_the_model_fails() {
    for mutant in ["-DREPORTS_OUTSIDE", "-DENDS_AT_LOCKS", "-DIGNORES_RACES"] {
        let Some(said) = verdict(&[mutant]) else { return };
        assert!(said.contains("assertion violated"), "{mutant}: {said}");
    }
}
