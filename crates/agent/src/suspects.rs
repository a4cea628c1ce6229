//! Where threads are held back from the start: what an earlier run predicted, or `check` found.

use std::collections::HashSet;
use std::path::Path;

use agent_protocol::{SuspectPlace, read_suspect_list};
use findings::Site;
use instrument::SiteTarget;

/// The places of a list.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    places: HashSet<SuspectPlace>,
}

impl Suspects {
    pub(crate) fn read(path: &Path) -> Result<Suspects, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("the list of suspicious places cannot be read: {error}"))?;
        Ok(Suspects::of(&text))
    }

    fn of(text: &str) -> Suspects {
        Suspects { places: read_suspect_list(text).into_iter().collect() }
    }

    /// Whether a site is one of the places.
    pub(crate) fn contains(&self, site: &Site, target: &SiteTarget) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let is_suspect = |place: SuspectPlace| self.places.contains(&place);
        let calls = || match target {
            SiteTarget::Call { name, .. } => SuspectPlace::calls_at(site, name),
            SiteTarget::None
            | SiteTarget::Field { .. }
            | SiteTarget::Array
            | SiteTarget::Block { .. }
            | SiteTarget::Lock { .. }
            | SiteTarget::Reference { .. } => None,
        };
        is_suspect(SuspectPlace::at(site)) || calls().is_some_and(is_suspect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_instructions_methods_and_calls_on_a_line() {
        let suspects = Suspects::of("p.A m ()V 4\np.A s ()V -\np.A m ()V 9:s\n");
        let site = |method: &str, offset, line| Site {
            class: "p.A".into(),
            method: method.into(),
            descriptor: "()V".into(),
            offset,
            file: None,
            line,
        };
        let call = |name: &str| SiteTarget::Call {
            owner: "p/A".into(),
            name: name.into(),
            descriptor: "()V".into(),
            relation: None,
            begins_block: false,
        };
        assert!(suspects.contains(&site("m", Some(4), Some(8)), &SiteTarget::None));
        assert!(!suspects.contains(&site("m", Some(5), Some(9)), &SiteTarget::None));
        assert!(suspects.contains(&site("m", Some(5), Some(9)), &call("s")));
        assert!(!suspects.contains(&site("m", Some(5), Some(9)), &call("t")));
        let lock = SiteTarget::Lock { begins_block: false };
        assert!(suspects.contains(&site("s", None, Some(20)), &lock));
        assert!(!Suspects::default().contains(&site("m", Some(4), None), &SiteTarget::None));
    }
}
