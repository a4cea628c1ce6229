//! The file of `--shared-fields`: which fields threads share, written by one run and read by the next.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use agent_protocol::{SharedField, read_shared_fields, shared_fields_text};
use anyhow::anyhow;

use crate::config::why_unreadable;
use crate::output;

/// What a run does with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SharedFieldsFile {
    /// It watches nothing but so many fields.
    Read {
        /// The file.
        path: PathBuf,
        /// How many fields it lists.
        fields: usize,
    },
    /// It writes those that threads share; there was no such file.
    Write(PathBuf),
}

impl SharedFieldsFile {
    /// Decides what is to be done, before the program runs.
    pub(crate) fn prepare(path: &Path) -> anyhow::Result<SharedFieldsFile> {
        let refused =
            |why: String| anyhow!("cannot use the shared fields in `{}`: {why}", path.display());
        // Devices and pipes are written to; reading them may never end.
        let is_read = output_file::is_regular_or_new(path);
        match is_read.then(|| fs::read_to_string(path)).transpose() {
            Ok(Some(text)) => {
                let fields =
                    read_shared_fields(&text).map_err(|error| refused(error.to_string()))?;
                Ok(SharedFieldsFile::Read { path: path.to_path_buf(), fields: fields.len() })
            }
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(refused(why_unreadable(&error)))
            }
            Ok(None) | Err(_) => {
                let unwritable = |error| {
                    let why = output_file::reason(&error, path);
                    anyhow!("cannot write the shared fields to `{}`: {why}", path.display())
                };
                output_file::check(path).map_err(unwritable)?;
                Ok(SharedFieldsFile::Write(path.to_path_buf()))
            }
        }
    }

    /// What the user should know of a run that was restricted.
    pub(crate) fn remark(&self) -> Option<String> {
        match self {
            SharedFieldsFile::Read { path, fields } => {
                // Reports do not say where files are.
                let path = path.file_name().unwrap_or_default().to_string_lossy();
                let count = number_of(*fields);
                Some(format!("only the {count} that `{path}` lists were watched"))
            }
            SharedFieldsFile::Write(_) => None,
        }
    }
}

/// Writes the fields; returns what to say about it.
pub(crate) fn write(path: &Path, fields: &BTreeSet<SharedField>) -> anyhow::Result<String> {
    let text = shared_fields_text(fields);
    output::write_file(path, |writer| writer.write_all(text.as_bytes()))?;
    let (path, count) = (path.display(), number_of(fields.len()));
    Ok(format!("{count} written to `{path}`: runs with it watch no others"))
}

fn number_of(fields: usize) -> String {
    match fields {
        1 => "1 field".to_string(),
        more => format!("{more} fields"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_written_once_and_then_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields");
        let file = SharedFieldsFile::prepare(&path).unwrap();
        assert_eq!(file, SharedFieldsFile::Write(path.clone()));
        assert_eq!(file.remark(), None);
        let field = |name: &str| SharedField { class: "p.A".into(), name: name.into() };
        let told = write(&path, &BTreeSet::from([field("x"), field("y")])).unwrap();
        assert!(told.starts_with("2 fields written to `"), "{told}");
        let file = SharedFieldsFile::prepare(&path).unwrap();
        assert_eq!(file, SharedFieldsFile::Read { path, fields: 2 });
        assert_eq!(file.remark().unwrap(), "only the 2 fields that `fields` lists were watched");
    }

    #[test]
    fn what_cannot_be_used_is_refused_before_the_program_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fields");
        fs::write(&path, "paths = []").unwrap();
        for (path, said) in [
            (&path, "line 1 is not `CLASS.FIELD`: `paths = []`"),
            (&folder.path().to_path_buf(), "it is a directory"),
            (&folder.path().join("missing/fields"), "does not exist, create it first"),
        ] {
            let error = SharedFieldsFile::prepare(path).unwrap_err().to_string();
            assert!(error.contains(said), "{error} does not say {said}");
        }
    }
}
