//! The identity of a finding across runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Finding;

/// Identity of a finding across runs: rule, blamed method, the methods and roles of the steps, and
/// the subjects. Lines, bytecode offsets and call chains do not count, so that moving code or
/// recompiling it keeps the fingerprint. The ordinal tells apart findings that are otherwise equal
/// (the same lock reacquired at two places of one method), in the order of their offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint of a finding, as the `ordinal`-th (from 0) of those that look the same.
    #[must_use]
    pub fn of(finding: &Finding, ordinal: u32) -> Fingerprint {
        let mut hash = Fnv::new();
        hash.text(finding.rule);
        hash.text(&finding.blame.class);
        hash.text(&finding.blame.method);
        hash.text(&finding.blame.descriptor);
        for (key, value) in &finding.subjects {
            hash.text(key);
            hash.text(value);
        }
        if let Some(witness) = finding.witnesses.first() {
            for step in &witness.steps {
                hash.text(step.role);
                hash.text(&step.site.class);
                hash.text(&step.site.method);
                hash.text(&step.site.descriptor);
            }
        }
        hash.text(&ordinal.to_string());
        Fingerprint(hash.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> String {
        fingerprint.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Fingerprint, Self::Error> {
        u64::from_str_radix(&text, 16).map(Fingerprint)
    }
}

/// FNV-1a: it must give the same number on every machine and in every release, which the hashers
/// of the standard library do not promise.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn text(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
