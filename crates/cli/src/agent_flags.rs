//! The flags of `run` that only pass a value on to the agent, one for each row of the table of its options that
//! names a flag.

use std::path::PathBuf;

use agent_protocol::{FlagForm, OptionRow, OptionValue, Options, RunFlag, ValueKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use crate::flags::pattern_text;

/// The options of the agent that the command line gives, each with its value.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentFlags {
    given: Vec<(&'static OptionRow, OptionValue)>,
}

impl AgentFlags {
    /// Whether the command line gives the option of this name.
    pub(crate) fn give(&self, option: &str) -> bool {
        self.given.iter().any(|(row, _)| row.name == option)
    }

    /// Puts what the command line gives over what stands in the options.
    pub(crate) fn put_over(&self, options: &mut Options) {
        for (row, value) in &self.given {
            let fits = row.set_by_flag(options, value.clone());
            fits.expect("the parser of a flag makes values of the kind that its row names");
        }
    }
}

fn rows() -> impl Iterator<Item = (&'static OptionRow, &'static RunFlag)> {
    Options::ALL.iter().filter_map(|row| Some((row, row.flag.as_ref()?)))
}

/// The argument that a row describes.
fn argument(row: &'static OptionRow, flag: &'static RunFlag) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name).help(flag.help).hide(flag.is_hidden);
    let action = match flag.form {
        FlagForm::TurnsOn | FlagForm::TurnsOff => return argument.action(ArgAction::SetTrue),
        FlagForm::Value => ArgAction::Set,
        FlagForm::ReplacesList | FlagForm::AddsToList => ArgAction::Append,
    };
    let argument = argument.value_name(flag.value_name).action(action);
    match &row.kind {
        ValueKind::Number(range) => argument.value_parser(value_parser!(u64).range(range.clone())),
        ValueKind::Path => argument.value_parser(value_parser!(PathBuf)),
        ValueKind::Patterns => argument.value_parser(pattern_text),
        ValueKind::Switch | ValueKind::Text | ValueKind::Texts => {
            argument.value_parser(value_parser!(String))
        }
    }
}

/// The value that the command line has for a row.
fn value(
    row: &'static OptionRow,
    flag: &'static RunFlag,
    matches: &mut ArgMatches,
) -> Option<OptionValue> {
    match flag.form {
        FlagForm::TurnsOn => matches.get_flag(flag.name).then_some(OptionValue::Switch(true)),
        FlagForm::TurnsOff => matches.get_flag(flag.name).then_some(OptionValue::Switch(false)),
        FlagForm::Value | FlagForm::ReplacesList | FlagForm::AddsToList => match &row.kind {
            ValueKind::Number(_) => matches.remove_one(flag.name).map(OptionValue::Number),
            ValueKind::Path => matches.remove_one(flag.name).map(OptionValue::Path),
            ValueKind::Text | ValueKind::Switch => {
                matches.remove_one(flag.name).map(OptionValue::Text)
            }
            ValueKind::Texts | ValueKind::Patterns => {
                matches.remove_many(flag.name).map(|texts| OptionValue::Texts(texts.collect()))
            }
        },
    }
}

impl Args for AgentFlags {
    fn augment_args(command: Command) -> Command {
        rows().fold(command, |command, (row, flag)| command.arg(argument(row, flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        AgentFlags::augment_args(command)
    }
}

impl FromArgMatches for AgentFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<AgentFlags, clap::Error> {
        AgentFlags::from_arg_matches_mut(&mut matches.clone())
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<AgentFlags, clap::Error> {
        let given = rows().filter_map(|(row, flag)| Some((row, value(row, flag, matches)?)));
        Ok(AgentFlags { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = AgentFlags::from_arg_matches(matches)?;
        Ok(())
    }
}
