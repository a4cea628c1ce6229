//! What tells the bytes of a class from others with the same name.

use std::fmt;
use std::str::FromStr;

/// A digest of the bytes of a class, the same on every machine and in every release: FNV-1a with 128 bits. It tells
/// versions of a class apart; it does not protect from somebody who makes two with the same digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassDigest(u128);

/// The offset basis and the prime of FNV-1a with 128 bits.
const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

impl ClassDigest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> ClassDigest {
        ClassDigest(BASIS).with(bytes)
    }

    /// The digest of what this is the digest of, followed by these bytes.
    #[must_use]
    pub fn with(self, bytes: &[u8]) -> ClassDigest {
        let next = |digest: u128, byte: &u8| (digest ^ u128::from(*byte)).wrapping_mul(PRIME);
        ClassDigest(bytes.iter().fold(self.0, next))
    }
}

impl fmt::Display for ClassDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for ClassDigest {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<ClassDigest, Self::Err> {
        u128::from_str_radix(text, 16).map(ClassDigest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_definition() {
        assert_eq!(ClassDigest::of(b"").to_string(), "6c62272e07bb014262b821756295c58d");
        assert_eq!(ClassDigest::of(b"foobar").to_string(), "343e1662793c64bf6f0d3597ba446f18");
        assert_eq!(ClassDigest::of(b"foo").with(b"bar"), ClassDigest::of(b"foobar"));
        let digest = ClassDigest::of(b"a class");
        assert_eq!(digest.to_string().parse(), Ok(digest));
    }
}
