//! The commands for developers and for the build machine: `cargo xtask NAME`. A new machine needs Rust
//! only; if a JDK is missing, it is installed, or the command says what to install.

mod agent;
mod agent_bench;
mod agent_comparison;
mod bench;
mod builds;
mod checker_bench;
mod clean_roots;
mod debian;
mod demo;
mod dist;
mod fuzz;
mod generated_run;
mod hybrid_bench;
mod jdk;
mod judged_methods;
mod jvms;
mod languages;
mod mutants;
mod order_bench;
mod packages;
mod plugins;
mod program_run;
mod real_programs;
mod reference_pages;
mod rule_pages;
mod server_bench;
mod sizes;
mod soak;
mod suite;
mod test_programs;
mod tidy;
mod timed_run;
mod trace_bench;
mod transactions;
mod warnings;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

use agent_bench::Rounds;
use builds::Profile;
use checker_bench::Length;
use order_bench::Jvms;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo           build, and run `scission check` on the small program in demo/
  test [--all]   everything the build machine runs; with `--all` also what takes long: builds with Gradle, building what
                 users get, and installing and using each package
  tidy           check what ARCHITECTURE.md promises of the text of this tree; the first part of `test`
  prepare        download the JVMs and the programs that the tests of the agent need, and build the plugins
  languages      compile the programs in fixtures/languages once more, with the compilers of their languages
  dist [--try [--clean-roots]]
                 build what users get, with the debug symbols in files of their own: a tarball, a Debian package and a
                 Python wheel; with `--try` from what tests use, which is faster, and install and use each;
                 with `--clean-roots` as well, on roots that debootstrap makes
  fuzz SECONDS [TARGET]...
                 run the fuzz targets, each for this long; needs a nightly compiler and cargo-fuzz
  docs           write the rule pages in docs/rules/ and the references in docs/configuration.md, docs/models.md and
                 docs/trace-format.md
  bench static   time and memory of `scission check` on java.base, and how they grow
  bench agent [--quick] [PROGRAM]...
                 the cost of the agent in time and heap, in three rounds or in one
  bench agent --against LIBRARY [PROGRAM]...
                 the cost of the agent beside that of another one, such as an older commit's, in turns
  bench checkers [--quick] [RUN]...
                 events per second of each checker, on generated runs of 100 or 10 million events
  bench hybrid [--quick] [PROGRAM]...
                 what the checker hybrid finds and costs, with and without sides that were not taken, in three rounds or in one
  bench mutants [PROGRAM]...
                 the share of removed locks that a single run detects
  bench order [--all-jvms] [tuned | blind | PROGRAM]...
                 correct programs in which no race may be found, and their twins in which one must be
  bench order --hybrid [tuned | blind | PROGRAM]...
                 what the checker hybrid predicts in the correct programs, by severity
  bench transactions
                 how many transactions Velodrome creates and keeps, on the programs of bench agent
  bench warnings [PROGRAM]...
                 which warnings of Atomizer and Velodrome are true, on programs whose methods were judged
  bench server [--quick] [SERVER]...
                 how many requests servers answer while they are watched, in three rounds or in one
  bench reports  findings and defects of programs with a known number of defects, in ten runs of each
  bench trace [--quick] [RUN]...
                 events per second of `scission trace`, from the file to the report, on generated and recorded runs
  bench soak     the memory of the agent under very many threads and events
  real-programs  run `scission check` on programs from Debian and on the JDK";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["demo"] => demo::demonstrate(),
        ["test"] => suite::test_everything(),
        ["test", "--all"] => suite::test_everything().and_then(|()| {
            suite::test_slowly()?;
            let packages = dist::dist(Profile::Dist)?;
            dist::try_out(&packages)?;
            clean_roots::try_out(&packages)
        }),
        ["prepare"] => test_programs::prepare(),
        ["languages"] => languages::compile(),
        ["tidy"] => tidy::tidy(),
        ["dist"] => dist::dist(Profile::Dist).map(drop),
        ["dist", "--try"] => {
            dist::dist(Profile::Checked).and_then(|packages| dist::try_out(&packages))
        }
        ["dist", "--try", "--clean-roots"] => {
            dist::dist(Profile::Checked).and_then(|packages| clean_roots::try_out(&packages))
        }
        ["docs"] => builds::command(Profile::Checked).and_then(|binary| {
            rule_pages::write(&binary)?;
            reference_pages::write(&binary)
        }),
        ["bench", "static"] => bench::measure_static(),
        ["bench", "agent", "--quick", names @ ..] => agent_bench::measure(Rounds::Quick, names),
        ["bench", "agent", "--against", library, names @ ..] => {
            agent_comparison::compare(Path::new(library), names)
        }
        ["bench", "agent", names @ ..] => agent_bench::measure(Rounds::Full, names),
        ["bench", "checkers", "--quick", names @ ..] => {
            checker_bench::measure(Length::Quick, names)
        }
        ["bench", "checkers", names @ ..] => checker_bench::measure(Length::Full, names),
        ["bench", "hybrid", "--quick", names @ ..] => hybrid_bench::measure(Rounds::Quick, names),
        ["bench", "hybrid", names @ ..] => hybrid_bench::measure(Rounds::Full, names),
        ["bench", "mutants", names @ ..] => mutants::measure(names),
        ["bench", "order", "--all-jvms", names @ ..] => order_bench::measure(Jvms::All, names),
        ["bench", "order", "--hybrid", names @ ..] => order_bench::predict(names),
        ["bench", "order", names @ ..] => order_bench::measure(Jvms::Own, names),
        ["bench", "transactions"] => transactions::count(),
        ["bench", "warnings", names @ ..] => warnings::count(names),
        ["bench", "server", "--quick", names @ ..] => server_bench::measure(Rounds::Quick, names),
        ["bench", "server", names @ ..] => server_bench::measure(Rounds::Full, names),
        ["bench", "reports"] => suite::judge_reports(),
        ["bench", "trace", "--quick", names @ ..] => trace_bench::measure(Length::Quick, names),
        ["bench", "trace", names @ ..] => trace_bench::measure(Length::Full, names),
        ["bench", "soak"] => soak::soak(),
        ["fuzz", seconds, names @ ..] if seconds.parse::<u32>().is_ok() => {
            fuzz::fuzz(seconds.parse().unwrap_or_default(), names)
        }
        ["real-programs"] => real_programs::check_all(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The top of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap_or_else(|_| ".".into())
}

/// Says what is being done, in one short line; on standard error, so that it never mixes with results.
fn progress(what: &str) {
    eprintln!("xtask: {what}");
}

/// Runs a command and shows its output.
fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("`{name}` could not be started"))?;
    if !status.success() {
        let arguments: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        bail!("`{name} {}` failed: {status}", arguments.join(" "));
    }
    Ok(())
}

/// The same cargo that runs this program.
fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The target directory of cargo, found from the path of this program.
fn target_directory() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program does not know where it is")?;
    let target = own.parent().and_then(Path::parent).context("this program lies at the root")?;
    Ok(target.to_path_buf())
}

/// Where a program is that can be called by its name.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
