//! Known patterns that must be found in the JDK's `java.base`.

use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

/// The report on `java.base`, made once for all tests of this file.
fn report() -> &'static Value {
    static REPORT: OnceLock<Value> = OnceLock::new();
    REPORT.get_or_init(|| {
        let output = Command::new(env!("CARGO_BIN_EXE_scission"))
            .args(["check", "jrt:java.base", "--format", "json"])
            .output()
            .expect("the binary runs");
        assert_eq!(
            output.status.code(),
            Some(1),
            "java.base has findings: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).expect("the report is JSON")
    })
}

fn is_reported(class: &str, method: &str, witness: &str) -> bool {
    report()["findings"].as_array().into_iter().flatten().any(|finding| {
        finding["blame"]["class"] == class
            && finding["blame"]["method"] == method
            && finding["subjects"]["witness"].as_str().is_some_and(|name| name.starts_with(witness))
    })
}

#[test]
fn a_string_buffer_that_is_appended_is_locked_twice() {
    assert!(is_reported("java.lang.StringBuffer", "append", "asb (a java.lang.StringBuffer)"));
}

#[test]
fn collections_given_to_a_vector_are_locked_twice() {
    assert!(is_reported("java.util.Vector", "containsAll", "c (a java.util.Vector)"));
    assert!(is_reported("java.util.Vector", "equals", "o (a java.util.Vector)"));
    // `removeAll` and `retainAll` hand a lambda that captured the collection to `bulkRemove`.
    assert!(is_reported("java.util.Vector", "bulkRemove", "c"));
}

#[test]
fn a_map_that_a_hashtable_is_compared_with_is_locked_twice() {
    assert!(is_reported("java.util.Hashtable", "equals", "o (a java.util.Hashtable)"));
}

/// In this release `addAll` takes one snapshot with `toArray`, and `putAll` iterates without
/// locking its argument: neither shows the pattern, and neither is reported.
#[test]
fn what_takes_a_snapshot_is_silent() {
    assert!(!is_reported("java.util.Vector", "addAll", ""));
    assert!(!is_reported("java.util.Hashtable", "putAll", ""));
}

#[test]
fn every_method_of_java_base_has_a_body_or_a_reason() {
    let gaps = report()["gaps"].as_array().expect("gaps are a list");
    let broken: Vec<&Value> = gaps
        .iter()
        .filter(|gap| {
            let kind = gap["kind"].as_str().unwrap_or_default();
            ["unreadable-method", "malformed-class", "unknown-version"].contains(&kind)
        })
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(report()["stats"]["methods"].as_u64().unwrap_or(0) > 50_000);
}
