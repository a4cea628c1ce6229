//! What makes a zip archive a jar: the manifest, and which entries a given Java release sees.

use std::collections::BTreeMap;

use crate::archive::{Archive, ArchiveEntry};

/// The manifest of a jar, as far as it decides which classes there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Whether newer Java releases see other versions of some classes.
    pub(crate) is_multi_release: bool,
    /// Other jars and directories, as URLs relative to the jar.
    pub(crate) class_path: Vec<String>,
}

impl Manifest {
    pub(crate) const ENTRY: &str = "META-INF/MANIFEST.MF";

    /// Reads the main section. Manifests are forgiving: a line that makes no sense is passed over.
    pub(crate) fn parse(bytes: &[u8]) -> Manifest {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
        let mut lines: Vec<String> = Vec::new();
        for line in text.split('\n').take_while(|line| !line.is_empty()) {
            match (line.strip_prefix(' '), lines.last_mut()) {
                (Some(continuation), Some(last)) => last.push_str(continuation),
                _ => lines.push(line.to_owned()),
            }
        }
        let mut manifest = Manifest::default();
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            if name.eq_ignore_ascii_case("Multi-Release") {
                manifest.is_multi_release = value.eq_ignore_ascii_case("true");
            } else if name.eq_ignore_ascii_case("Class-Path") {
                manifest.class_path = value.split_ascii_whitespace().map(str::to_owned).collect();
            }
        }
        manifest
    }
}

/// The entries of an archive that a class path of the given release sees, in order of name.
///
/// A versioned copy stands in for its original where the release is new enough, and takes its place
/// in the order. In an archive that is not multi-release the versioned copies are dead weight.
pub(crate) fn visible_entries<'a>(
    archive: &'a Archive,
    manifest: &Manifest,
    release: u16,
) -> Vec<&'a ArchiveEntry> {
    // The key is the name that the entry stands for; entries that share a name are all kept.
    let mut chosen: BTreeMap<String, (u16, Vec<&ArchiveEntry>)> = BTreeMap::new();
    for entry in archive.entries() {
        let (version, name) = match versioned(&entry.name) {
            None => (0, entry.name.clone()),
            Some((version, name)) if manifest.is_multi_release && version <= release => {
                (version, name)
            }
            Some(_) => continue,
        };
        let (best, entries) = chosen.entry(name).or_insert_with(|| (version, Vec::new()));
        if version > *best {
            *best = version;
            entries.clear();
        }
        if version == *best {
            entries.push(entry);
        }
    }
    chosen.into_values().flat_map(|(_, entries)| entries).collect()
}

/// The version and the plain name of a versioned entry: 11 and `p/A.class` for
/// `META-INF/versions/11/p/A.class`, also below the class directories of wars and Spring Boot jars.
fn versioned(name: &str) -> Option<(u16, String)> {
    let (root, rest) = ["BOOT-INF/classes/", "WEB-INF/classes/"]
        .into_iter()
        .find_map(|root| name.strip_prefix(root).map(|rest| (root, rest)))
        .unwrap_or(("", name));
    let (version, plain) = rest.strip_prefix("META-INF/versions/")?.split_once('/')?;
    // Directories that are not numbers of releases since 9 mean nothing to the JVM: give them a
    // version that no release reaches.
    let version = version.parse().ok().filter(|version| *version >= 9).unwrap_or(u16::MAX);
    Some((version, format!("{root}{plain}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests() {
        let manifest = Manifest::parse(
            b"Manifest-Version: 1.0\r\nClass-Path: lib/a.jar li\r\n b/b.jar\r\n\
              multi-release:  True \r\n\r\nName: p/A.class\r\nMulti-Release: false\r\n",
        );
        assert!(manifest.is_multi_release);
        assert_eq!(manifest.class_path, ["lib/a.jar", "lib/b.jar"]);
        let manifest = Manifest::parse(b"Class-Path: x\n\nMulti-Release: true\n");
        assert!(!manifest.is_multi_release);
        assert_eq!(manifest.class_path, ["x"]);
        assert_eq!(Manifest::parse(b"\xff\xfe : \n :"), Manifest::default());
    }

    #[test]
    fn versions() {
        assert_eq!(versioned("META-INF/versions/11/p/A.class"), Some((11, "p/A.class".into())));
        assert_eq!(
            versioned("BOOT-INF/classes/META-INF/versions/9/A.class"),
            Some((9, "BOOT-INF/classes/A.class".into()))
        );
        assert_eq!(versioned("META-INF/versions/8/A.class"), Some((u16::MAX, "A.class".into())));
        assert_eq!(versioned("META-INF/versions/x/A.class"), Some((u16::MAX, "A.class".into())));
        assert_eq!(versioned("p/A.class"), None);
    }
}
