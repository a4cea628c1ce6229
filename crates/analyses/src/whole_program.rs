//! The whole-program analysis: one heap shape graph and one symbolic execution, and the clients that listen to it.
//! A further client is one file and one line in [`CLIENTS`].

use crate::execution::Client;
use crate::{Analysis, Context, Outcome};

/// Every client, in the order in which their findings are made.
pub static CLIENTS: &[Client] = &[];

/// The analysis.
pub const ANALYSIS: Analysis =
    Analysis { name: "whole-program", time_counter: "whole_program_ms", rules: &[], run };

fn run(_context: &Context<'_>) -> Outcome {
    Outcome::default()
}
