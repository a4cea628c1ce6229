//! One archive, with the archives and classes within: reading it must end in classes, gaps or an
//! error, twice the same, and within the limits.

#![no_main]

use std::sync::Arc;

use classes::{LoadConfig, load_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let config = LoadConfig {
        max_entry_bytes: 1 << 20,
        max_archive_bytes: 4 << 20,
        max_total_bytes: 16 << 20,
        ..LoadConfig::default()
    };
    let read = || load_bytes("fuzz.jar", Arc::from(data), &config, &());
    if let (Ok(first), Ok(second)) = (read(), read()) {
        assert_eq!(first.gaps, second.gaps);
        let origins = |loaded: &classes::Loaded| {
            loaded.classes.iter().map(|found| found.origin.clone()).collect::<Vec<_>>()
        };
        assert_eq!(origins(&first), origins(&second));
    }
});
