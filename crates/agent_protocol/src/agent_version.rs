//! The version of an agent library, which can be read from its file.

/// What stands before the version in the file of an agent library; a line ends after it.
const MARK: &[u8] = b"scission-agent-version:";
/// No version is longer.
const LONGEST: usize = 64;

/// The version of the agent library with these bytes; nothing if they are something else.
#[must_use]
pub fn agent_version(library: &[u8]) -> Option<String> {
    let mut rest = library;
    loop {
        let at = rest.windows(MARK.len()).position(|window| window == MARK)?;
        rest = &rest[at + MARK.len()..];
        let end = rest.iter().take(LONGEST).position(|byte| *byte == b'\n');
        let version = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
        // Whoever looks for the mark contains it too.
        if let Some(version) =
            version.filter(|it| it.starts_with(|first: char| first.is_ascii_digit()))
        {
            return Some(version.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_counts() {
        let library = b"\x7fELF scission-agent-version:\0 scission-agent-version:1.2.3\nrest";
        assert_eq!(agent_version(library).as_deref(), Some("1.2.3"));
        assert_eq!(agent_version(b"scission-agent-version:"), None);
        assert_eq!(agent_version(b""), None);
        assert_eq!(
            agent_version(&[b"scission-agent-version:1".as_slice(), &[b'1'; 99]].concat()),
            None
        );
    }
}
