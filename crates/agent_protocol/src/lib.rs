//! What the command line and the agent tell each other: the options that an agent is started with, and the
//! results that it leaves behind.
//!
//! Both ends of the link are built from this crate, so that neither can misunderstand the other. Options
//! travel as one word of a command line or an environment variable; results as one file a process, in
//! a directory that the options name.

mod encoding;
mod finding;
mod options;
mod results;
mod watch_list;

pub use options::{Options, OptionsError};
pub use results::{Ending, ReadError, Recording, Results, read_directory};
pub use watch_list::{WatchListError, read_watch_list, watch_list_line};
