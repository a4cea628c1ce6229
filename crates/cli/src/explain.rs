//! `scission explain`: the user pages of the rules, the keys of the configuration, and the format of models.

use findings::rules;

use crate::Outcome;
use crate::config;
use crate::flags::ExplainFlags;
use crate::output;

pub(crate) fn run(flags: &ExplainFlags) -> anyhow::Result<Outcome> {
    match flags.rule {
        Some(rule) => output::print(&rule.page_text())?,
        None if flags.configuration => output::print(&config::reference())?,
        None if flags.models => output::print(&models::reference())?,
        None => output::print(&list())?,
    }
    Ok(Outcome::NothingFound)
}

fn list() -> String {
    let width = rules::ALL.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    let mut list = String::new();
    for rule in rules::ALL {
        let off = if rule.on_by_default { "" } else { " (off unless asked for with --rule)" };
        list.push_str(&format!("{:width$}  {}{off}\n", rule.name, rule.summary));
    }
    list
}
