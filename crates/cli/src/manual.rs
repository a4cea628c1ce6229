//! `scission man` and `scission completions`: the table of flags in the forms that manuals and shells
//! want.

use anyhow::anyhow;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::Outcome;
use crate::flags::{CompletionsFlags, Flags, ManFlags};
use crate::output;

pub(crate) fn print_page(flags: &ManFlags) -> anyhow::Result<Outcome> {
    let mut command = Flags::command();
    // Gives the commands their full names: the page of `check` is `scission-check`.
    command.build();
    let command = match &flags.command {
        None => command,
        Some(name) => {
            let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
            let unknown =
                || anyhow!("there is no command `{name}`; known are `{}`", names.join("`, `"));
            command.find_subcommand(name).ok_or_else(unknown)?.clone()
        }
    };
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    output::print(&String::from_utf8(page)?)?;
    Ok(Outcome::NothingFound)
}

pub(crate) fn print_completions(flags: &CompletionsFlags) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut Flags::command(), "scission", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(Outcome::NothingFound)
}
