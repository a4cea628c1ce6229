//! What a JVM leaves for the command, and the lists that the command leaves for JVMs: reading them must end in a value or an
//! error, never in a panic.

#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use agent_protocol::{Results, read_shared_fields, read_suspect_list, read_watch_list};
use libfuzzer_sys::fuzz_target;

/// Results are files.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    std::env::temp_dir().join(format!("scission-fuzz-{}.json", std::process::id()))
});

fuzz_target!(|data: &[u8]| {
    fs::write(&*FILE, data).expect("there is room for a file");
    let _ = Results::read(&FILE);
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = read_watch_list(text);
        let _ = read_shared_fields(text);
        let _ = read_suspect_list(text);
    }
});
