//! The identity of a finding across runs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Finding, GRADE, Site, observed_defect};

/// Identity of a finding across runs: rule, blamed method, the methods and roles of the steps, and
/// the subjects. Lines, bytecode offsets and call chains do not count, nor what local variables and
/// parameters are called, nor the numbers that compilers give to lambdas and anonymous classes: moving
/// code, renaming locals or recompiling keeps the fingerprint. The ordinal distinguishes findings that are
/// otherwise equal (the same lock reacquired at two places of one method), in the order of their
/// offsets.
///
/// What a run observes is identified by less, since which of many interleavings a run shows is chance: a race by its
/// rule and variable alone, and a block that was split by its rule and method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint of a finding, as the `ordinal`-th (from 0) of those that look the same.
    #[must_use]
    pub fn of(finding: &Finding, ordinal: u32) -> Fingerprint {
        let mut hash = Fnv::new();
        hash.text(finding.rule);
        if let Some(variable) = observed_defect::identity(finding) {
            if variable.is_empty() {
                hash.method(&finding.blame);
            } else {
                hash.uncounted(&variable);
            }
            hash.text(&ordinal.to_string());
            return Fingerprint(hash.0);
        }
        hash.method(&finding.blame);
        for (key, name) in finding.subjects.iter().filter(|(key, _)| **key != GRADE) {
            hash.text(key);
            hash.text(finding.stable_subjects.get(key).unwrap_or(name));
        }
        if let Some(witness) = finding.witnesses.first() {
            for step in &witness.steps {
                hash.text(step.role);
                hash.method(&step.site);
            }
        }
        hash.text(&ordinal.to_string());
        Fingerprint(hash.0)
    }

    /// The fingerprint of a finding that stands under a race, as far as it is about the variable that races.
    pub(crate) fn of_use(finding: &Finding, variable: &str) -> Fingerprint {
        let mut hash = Fnv::new();
        hash.text(finding.rule);
        hash.method(&finding.blame);
        hash.uncounted(variable.rsplit_once('.').map_or(variable, |(_, name)| name));
        Fingerprint(hash.0)
    }

    /// The fingerprint of a finding of a rule whose findings are one for each variable.
    pub(crate) fn of_variable(rule: &str, variable: &str) -> Fingerprint {
        let mut hash = Fnv::new();
        hash.text(rule);
        hash.uncounted(variable);
        hash.text("0");
        Fingerprint(hash.0)
    }

    /// Every fingerprint by which a baseline may know a finding, its own first.
    #[must_use]
    pub fn all_of(finding: &Finding) -> Vec<Fingerprint> {
        let own = finding.fingerprint.unwrap_or_else(|| Fingerprint::of(finding, 0));
        let mut all = vec![own];
        all.extend(observed_defect::other_fingerprints(finding));
        all
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
        text.bytes().for_each(|byte| self.byte(byte));
        self.byte(0);
    }

    fn method(&mut self, site: &Site) {
        for name in [&site.class, &site.method, &site.descriptor] {
            self.uncounted(name);
        }
    }

    /// A name without the digits that follow a `$`. Compilers number lambdas (`lambda$sell$0`) and
    /// anonymous and local classes (`Shop$1`) in the order of the source, so that a new one above
    /// would change the name of all others.
    fn uncounted(&mut self, name: &str) {
        let mut after_dollar = false;
        for byte in name.bytes() {
            after_dollar = byte == b'$' || (after_dollar && byte.is_ascii_digit());
            if byte == b'$' || !after_dollar {
                self.byte(byte);
            }
        }
        self.byte(0);
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}
