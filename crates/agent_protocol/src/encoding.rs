//! Percent-encoding: any bytes as a part of a word that needs no quotes anywhere.
//!
//! The word passes through shells, through `JAVA_TOOL_OPTIONS`, which the JVM splits at white space, and
//! through the argument of `-agentpath`, which it splits at the first `=`. What is left unencoded means
//! nothing to any of them, nor to the list of options itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Why a text is not percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Encodes any bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut encoded = String::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._/:+@*".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Takes back what [`encode`] did. Characters that it would have encoded stand for themselves, which is
/// kind to whoever writes options by hand.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, Malformed> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
            decoded.push(high << 4 | low);
        } else {
            decoded.push(byte);
        }
    }
    Ok(decoded)
}

fn digit(byte: Option<u8>) -> Result<u8, Malformed> {
    let value = byte.and_then(|byte| char::from(byte).to_digit(16)).ok_or(Malformed)?;
    u8::try_from(value).map_err(|_| Malformed)
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
