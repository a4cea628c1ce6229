//! The rules: one file each, and one list.
//!
//! A rule's file is its user page. The doc comment on the rule says what it finds, why it matters,
//! shows an example and the fix; `scission explain RULE` and `docs/rules/` print that very comment.

mod atomic_get_then_set;
mod blocking_under_lock;
mod breakable_block;
mod callback_under_lock;
mod collection_check_then_act;
mod critical_wait;
mod data_race;
mod deadlock;
mod double_checked_locking;
mod hang;
mod happens_before_race;
mod inconsistent_method;
mod inconsistent_synchronization;
mod indefinite_wait;
mod irreducible_block;
mod lock_not_released;
mod lock_on_changing_field;
mod lock_on_get_class;
mod lock_on_shared_value;
mod lock_on_wrong_object;
mod lock_order_cycle;
mod lockset_race;
mod map_check_then_act;
mod not_serializable;
mod notify_without_change;
mod object_inconsistency;
mod object_race;
mod reacquired_lock;
mod reacquired_lock_pair;
mod shared_formatter;
mod stale_value;
mod thread_in_constructor;
mod thread_local_leak;
mod unlock_without_lock;
mod unsafe_publication;
mod volatile_increment;
mod wait_outside_loop;

use crate::Severity;

/// Every rule, in the order in which they are listed to users.
pub static ALL: &[&Rule] = &[
    &reacquired_lock::RULE,
    &reacquired_lock_pair::RULE,
    &stale_value::RULE,
    &data_race::RULE,
    &unsafe_publication::RULE,
    &inconsistent_method::RULE,
    &lock_order_cycle::RULE,
    &critical_wait::RULE,
    &indefinite_wait::RULE,
    &volatile_increment::RULE,
    &atomic_get_then_set::RULE,
    &map_check_then_act::RULE,
    &collection_check_then_act::RULE,
    &lock_not_released::RULE,
    &unlock_without_lock::RULE,
    &wait_outside_loop::RULE,
    &notify_without_change::RULE,
    &blocking_under_lock::RULE,
    &callback_under_lock::RULE,
    &lock_on_changing_field::RULE,
    &lock_on_shared_value::RULE,
    &lock_on_get_class::RULE,
    &lock_on_wrong_object::RULE,
    &thread_local_leak::RULE,
    &double_checked_locking::RULE,
    &thread_in_constructor::RULE,
    &shared_formatter::RULE,
    &inconsistent_synchronization::RULE,
    &not_serializable::RULE,
    &happens_before_race::RULE,
    &lockset_race::RULE,
    &object_race::RULE,
    &object_inconsistency::RULE,
    &irreducible_block::RULE,
    &breakable_block::RULE,
    &deadlock::RULE,
    &hang::RULE,
];

/// Whether a rule is the one about accesses that race in a run.
pub(crate) fn is_about_races(rule: &str) -> bool {
    rule == happens_before_race::RULE.name
}

/// A kind of problem.
#[derive(Debug)]
pub struct Rule {
    /// The name users type: `reacquired-lock`.
    pub name: &'static str,
    /// Reported unless the user chose rules by hand.
    pub on_by_default: bool,
    /// Findings of lower severity are not shown unless asked for.
    pub default_level: Severity,
    /// One line for lists.
    pub summary: &'static str,
    /// The sentence that heads a finding; `{name}` stands for a subject of the finding, `{blame}`
    /// for the blamed method.
    pub message: &'static str,
    /// The roles of a witness's steps in their order, each with the sentence that labels its line. In it `{thread}`,
    /// `{verb}` and `{subject}` stand for what the step itself knows of a run.
    pub roles: &'static [(&'static str, &'static str)],
    /// What to do about it, in one sentence with the same placeholders.
    pub advice: &'static str,
    /// The user page, line by line, as Markdown.
    pub page: &'static [&'static str],
}

impl Rule {
    /// The label of a role's line; the role's own name where the rule gives none.
    #[must_use]
    pub fn label_of(&self, role: &'static str) -> &'static str {
        self.roles.iter().find(|(name, _)| *name == role).map_or(role, |(_, label)| label)
    }

    /// The user page as one Markdown text. The lines come from a doc comment, each with the space
    /// that follows its slashes.
    #[must_use]
    pub fn page_text(&self) -> String {
        let lines = self.page.iter().map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.flat_map(|line| [line, "\n"]).collect()
    }
}

/// The rule with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Rule> {
    ALL.iter().copied().find(|rule| rule.name == name)
}

/// Declares a rule: the doc comment becomes both the item's documentation and the user page.
macro_rules! rule {
    (
        $(#[doc = $page:literal])+
        static $ident:ident = { $($field:ident: $value:expr),+ $(,)? }
    ) => {
        $(#[doc = $page])+
        pub(super) static $ident: super::Rule = super::Rule { page: &[$($page),+], $($field: $value),+ };
    };
}
use rule;

#[cfg(test)]
mod tests {
    #[test]
    fn every_placeholder_of_a_label_is_well_formed() {
        for rule in super::ALL {
            let texts = rule.roles.iter().map(|(_, label)| *label);
            for text in texts.chain([rule.message, rule.advice]) {
                assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
            }
            assert!(rule.page.len() > 10, "{} has no page worth reading", rule.name);
        }
    }
}
