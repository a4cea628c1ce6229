//! Reading files of users about library code.

use std::fs;
use std::path::PathBuf;

use anyhow::bail;
use models::{Models, parse};

/// What comes with Scission, and over it these files. Every problem in them is said at once, with its
/// file and line.
pub(crate) fn read(paths: &[PathBuf]) -> anyhow::Result<Models> {
    let mut files = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => {
                problems.push(format!("cannot read the models in `{name}`: {error}"));
                continue;
            }
        };
        match parse(&name, &text, true) {
            Ok(file) => files.push(file),
            Err(found) => problems.extend(found.iter().map(ToString::to_string)),
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("\nerror: "));
    }
    Ok(Models::with(&files))
}
