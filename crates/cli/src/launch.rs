//! How a program is started so that its JVMs are watched.
//!
//! A `java` launcher gets the agent as its first argument, which does not change what the program
//! prints. Other launchers pass their environment to the JVMs that they start, and every JVM reads
//! `JAVA_TOOL_OPTIONS`; it prints one line about it to standard error.

use std::env::{self, consts};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_protocol::Options;

/// Where every JVM looks for further options.
const ENVIRONMENT: &str = "JAVA_TOOL_OPTIONS";

/// Names the agent library where `--agent` does not.
const AGENT_VARIABLE: &str = "SCISSION_AGENT";

/// An agent library that exists.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    /// Absolute, since programs change their directory.
    path: PathBuf,
}

impl Agent {
    /// The library that `--agent` names, else `SCISSION_AGENT`, else the one beside this command. If it
    /// is missing or cannot be used, returns the error message.
    pub(crate) fn find(named: Option<&Path>) -> Result<Agent, String> {
        let variable = env::var_os(AGENT_VARIABLE).filter(|value| !value.is_empty());
        let given = named.map(Path::to_path_buf).or(variable.map(PathBuf::from));
        let path = match &given {
            Some(path) => path.clone(),
            None => beside_this_command().ok_or("the scission command cannot be found")?,
        };
        let path = std::path::absolute(&path).unwrap_or(path);
        if !path.is_file() {
            let name = library_name();
            return Err(match given {
                Some(path) => format!("there is no agent library `{}`", path.display()),
                None => format!(
                    "there is no agent library `{name}` beside the scission command; `--agent FILE` \
                     or {AGENT_VARIABLE} names another"
                ),
            });
        }
        if path.as_os_str().as_encoded_bytes().contains(&b'=') {
            let path = path.display();
            return Err(format!(
                "the JVM takes no agent whose path contains `=`, as `{path}` does"
            ));
        }
        Ok(Agent { path })
    }

    /// Whether a launcher can load it, as far as the two files tell; else the sentence that says why
    /// not. A JVM that cannot load an agent does not start.
    pub(crate) fn is_for_this_machine(&self, words: &[OsString]) -> Result<(), String> {
        let launcher = words.first().filter(|command| is_java_launcher(command));
        let Some(launcher) = launcher.and_then(|command| resolved(command)) else { return Ok(()) };
        match (machine_of(&launcher), machine_of(&self.path)) {
            (Some(one), Some(other)) if one != other => Err(format!(
                "the agent library is made for another kind of machine than `{}`",
                launcher.display()
            )),
            _ => Ok(()),
        }
    }

    /// The version that its file names; nothing if it names none.
    pub(crate) fn version(&self) -> Option<String> {
        agent_protocol::agent_version(&fs::read(&self.path).ok()?)
    }

    /// Whether it belongs to this command; else the sentence that says why not.
    pub(crate) fn is_of_this_release(&self) -> Result<(), String> {
        let own = env!("CARGO_PKG_VERSION");
        match self.version() {
            Some(version) if version != own => Err(format!(
                "the agent library `{}` is of scission {version}, and this command is scission {own}: both must be of \
                 the same release",
                self.path.display()
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// `-agentpath:PATH=OPTIONS`.
    fn argument(&self, options: &Options) -> OsString {
        let mut argument = OsString::from("-agentpath:");
        argument.push(&self.path);
        argument.push(format!("={options}"));
        argument
    }
}

/// What `--version` prints after the name: the version of this command, and that of the agent library that `run` would use.
pub(crate) fn long_version() -> String {
    let own = env!("CARGO_PKG_VERSION");
    // A library is read only for somebody who asks.
    if !env::args_os().skip(1).any(|word| word == "--version") {
        return own.to_string();
    }
    let agent = match Agent::find(None) {
        Err(why) => format!("no agent: {why}"),
        Ok(agent) => match agent.version() {
            Some(version) if version == own => format!("agent {version}"),
            Some(version) => {
                format!("agent {version}, which must be of the same release: `run` does not use it")
            }
            None => "agent of an unknown version".to_string(),
        },
    };
    format!("{own}\n{agent}")
}

/// The command that runs a program watched, or as it is.
pub(crate) fn command(words: &[OsString], watched: Option<(&Agent, &Options)>) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    if let Some((agent, options)) = watched {
        let argument = agent.argument(options);
        if is_java_launcher(program) {
            command.arg(argument);
        } else {
            command.env(ENVIRONMENT, appended(env::var_os(ENVIRONMENT), &argument));
        }
    }
    command.args(arguments);
    Some(command)
}

/// The line that does the same by hand: `JAVA_TOOL_OPTIONS=-agentpath:…`.
pub(crate) fn line_by_hand(agent: &Agent, options: &Options) -> String {
    let value = appended(None, &agent.argument(options));
    format!("{ENVIRONMENT}={}", for_shell(&value.to_string_lossy()))
}

fn library_name() -> String {
    format!("{}scission_agent{}", consts::DLL_PREFIX, consts::DLL_SUFFIX)
}

fn beside_this_command() -> Option<PathBuf> {
    let this = env::current_exe().ok()?;
    let this = fs::canonicalize(&this).unwrap_or(this);
    Some(this.parent()?.join(library_name()))
}

/// Whether a command is `java`, or a link to it.
fn is_java_launcher(command: &OsStr) -> bool {
    let is_java = |path: &Path| path.file_stem() == Some(OsStr::new("java"));
    is_java(Path::new(command))
        || resolved(command)
            .and_then(|path| fs::canonicalize(path).ok())
            .is_some_and(|path| is_java(&path))
}

/// The directory of the JDK that a `java` command belongs to; none for other commands.
pub(crate) fn java_home(command: &OsStr) -> Option<PathBuf> {
    if !is_java_launcher(command) {
        return None;
    }
    let launcher = fs::canonicalize(resolved(command)?).ok()?;
    Some(launcher.parent()?.parent()?.to_path_buf())
}

/// The executable file of a command, searched for on the path.
fn resolved(command: &OsStr) -> Option<PathBuf> {
    let path = Path::new(command);
    if path.components().count() > 1 {
        return Some(path.to_path_buf());
    }
    let directories = env::var_os("PATH")?;
    env::split_paths(&directories).map(|directory| directory.join(path)).find(|file| file.is_file())
}

/// The word size and the processor that a file in ELF format is made for.
fn machine_of(path: &Path) -> Option<(u8, [u8; 2])> {
    let mut header = [0; 20];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    header.starts_with(b"\x7fELF").then_some((header[4], [header[18], header[19]]))
}

/// What is in the variable already, with one more word.
fn appended(before: Option<OsString>, word: &OsStr) -> OsString {
    let mut value = before.unwrap_or_default();
    if !value.is_empty() {
        value.push(" ");
    }
    value.push(for_environment(word));
    value
}

/// A word as the JVM reads it from `JAVA_TOOL_OPTIONS`: white space parts words, unless it stands in
/// single or double quotes, which know no escapes.
fn for_environment(word: &OsStr) -> OsString {
    let is_plain = |byte: &u8| !byte.is_ascii_whitespace() && !b"'\"".contains(byte);
    match word.to_str() {
        Some(text) if !text.bytes().all(|byte| is_plain(&byte)) => {
            format!("\"{}\"", text.replace('"', "\"'\"'\"")).into()
        }
        _ => word.to_os_string(),
    }
}

/// A text as a shell reads it in an assignment.
fn for_shell(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:+@*%,=".contains(&byte);
    if text.bytes().all(is_plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(path: &str) -> Agent {
        Agent { path: path.into() }
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn started(line: &str) -> Command {
        let options = Options { arrays: true, ..Options::default() };
        command(&words(line), Some((&agent("/opt/agent.so"), &options))).unwrap()
    }

    #[test]
    fn java_gets_an_argument_before_its_own() {
        let command = started("/opt/jdk/bin/java -jar app.jar");
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["-agentpath:/opt/agent.so=arrays=true", "-jar", "app.jar"]);
        assert_eq!(command.get_envs().count(), 0);
    }

    #[test]
    fn other_launchers_get_a_variable() {
        let command = started("/opt/maven/bin/mvn test");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["test"]);
        let (name, value) = command.get_envs().next().unwrap();
        assert_eq!(name, ENVIRONMENT);
        assert!(value.unwrap().to_string_lossy().ends_with("-agentpath:/opt/agent.so=arrays=true"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_java_is_java() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().join("bin-java");
        fs::create_dir(&real).unwrap();
        fs::write(real.join("java"), "").unwrap();
        let link = directory.path().join("java17");
        std::os::unix::fs::symlink(real.join("java"), &link).unwrap();
        assert!(is_java_launcher(link.as_os_str()));
        assert!(!is_java_launcher(directory.path().join("javac").as_os_str()));
    }

    #[test]
    fn a_variable_keeps_what_it_has() {
        let value = appended(Some("-Xmx1g".into()), OsStr::new("-agentpath:a=b"));
        assert_eq!(value, "-Xmx1g -agentpath:a=b");
        assert_eq!(appended(Some("".into()), OsStr::new("x")), "x");
    }

    #[test]
    fn odd_paths_are_quoted_for_the_jvm_and_for_the_shell() {
        let line = |path: &str| line_by_hand(&agent(path), &Options::default());
        assert_eq!(line("/opt/a.so"), "JAVA_TOOL_OPTIONS=-agentpath:/opt/a.so=");
        assert_eq!(line("/my opt/a.so"), "JAVA_TOOL_OPTIONS='\"-agentpath:/my opt/a.so=\"'");
        assert_eq!(for_environment(OsStr::new("a\"b")), "\"a\"'\"'\"b\"");
        assert_eq!(for_shell("it's"), "'it'\\''s'");
    }
}
