//! Percent-encoding: any bytes as a part of a word that needs no quotes anywhere.
//!
//! The word passes through shells, through `JAVA_TOOL_OPTIONS`, which the JVM splits at white space, and
//! through the argument of `-agentpath`, which it splits at the first `=`. What is left unencoded means
//! nothing to any of them, nor to the list of options itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

/// The characters that are encoded, besides all that are not ASCII.
const ENCODED: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'/')
    .remove(b':')
    .remove(b'+')
    .remove(b'@')
    .remove(b'*');

/// Why a text is not percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Encodes any bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    percent_encode(bytes, &ENCODED).to_string()
}

/// Takes back what [`encode`] did. Characters that it would have encoded stand for themselves, which is
/// kind to whoever writes options by hand.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, Malformed> {
    // URLs keep half an escape as it is; in an option it is a mistake.
    let begins_with_digits = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(begins_with_digits) {
        return Err(Malformed);
    }
    Ok(percent_decode_str(text).collect())
}

/// Encodes a path, whatever bytes it has.
pub(crate) fn encode_path(path: &Path) -> String {
    encode(path.as_os_str().as_encoded_bytes())
}

/// Takes back what [`encode_path`] did.
#[cfg(unix)]
pub(crate) fn decode_path(text: &str) -> Result<PathBuf, Malformed> {
    use std::os::unix::ffi::OsStringExt;
    Ok(OsString::from_vec(decode(text)?).into())
}

/// Takes back what [`encode_path`] did, for paths that are Unicode.
#[cfg(not(unix))]
pub(crate) fn decode_path(text: &str) -> Result<PathBuf, Malformed> {
    let text = String::from_utf8(decode(text)?).map_err(|_| Malformed)?;
    Ok(OsString::from(text).into())
}

/// The path of the file or directory that a location of classes names, as `file:/opt/my%20app.jar` does; nothing for
/// locations that are no files.
#[must_use]
pub fn path_of_location(location: &str) -> Option<PathBuf> {
    let path = location.strip_prefix("file:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    let text: Vec<u8> = percent_decode_str(path).collect();
    String::from_utf8(text).ok().map(PathBuf::from)
}

/// Paths in JSON, which knows only Unicode.
pub(crate) mod path {
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(path: &Path, writer: S) -> Result<S::Ok, S::Error> {
        writer.serialize_str(&super::encode_path(path))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(reader: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(reader)?;
        super::decode_path(&text).map_err(|_| de::Error::custom("a path is not percent-encoded"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_elsewhere_is_encoded() {
        assert_eq!(encode(b"com.acme.*"), "com.acme.*");
        assert_eq!(encode(b"a b,c=d%p'\"$\n"), "a%20b%2Cc%3Dd%25p%27%22%24%0A");
    }

    #[test]
    fn half_an_escape_is_refused() {
        for text in ["%", "%2", "%2x", "%x2", "%%41"] {
            assert_eq!(decode(text), Err(Malformed), "{text}");
        }
        assert_eq!(decode("%2f%2F$"), Ok(b"//$".to_vec()));
    }
}
