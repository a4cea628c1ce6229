//! `cargo xtask bench server`: how many requests servers answer while they are watched. See `bench/README.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::agent::Agent;
use crate::agent_bench::Rounds;
use crate::bench::median;
use crate::builds::{self, Profile};
use crate::{debian, jdk, progress, root, run, target_directory, timed_run};

/// A server in `bench/servers/`.
struct Server {
    name: &'static str,
    class: &'static str,
    flags: &'static [&'static str],
    /// What is asked for; the client puts other users and articles there.
    path: &'static str,
    /// What tells the server to end.
    stop: &'static str,
    /// The package that it comes from, if it is not the JDK's.
    package: Option<&'static str>,
    /// Whether the server itself is watched, and not the application alone.
    is_watched_whole: bool,
}

const SERVERS: [Server; 4] = [
    Server {
        name: "jdk",
        class: "servers.JdkServer",
        // Without it an answer waits 40 ms for the next packet.
        flags: &["-Dsun.net.httpserver.nodelay=true"],
        path: "/?USER=ARTICLE",
        stop: "/",
        package: None,
        is_watched_whole: false,
    },
    Server {
        name: "tomcat",
        class: "servers.TomcatServer",
        flags: &[],
        path: "/shop?USER=ARTICLE",
        stop: "/shop",
        package: Some("libtomcat10-java"),
        is_watched_whole: false,
    },
    Server {
        name: "netty",
        class: "servers.NettyServer",
        flags: &[],
        path: "/?USER=ARTICLE",
        stop: "/",
        package: Some("libnetty-java"),
        is_watched_whole: false,
    },
    Server {
        name: "tomcat-file",
        class: "servers.TomcatServer",
        flags: &[],
        path: "/static.txt",
        stop: "/shop",
        package: Some("libtomcat10-java"),
        is_watched_whole: true,
    },
];

/// How a server is run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    /// Classes are rewritten, hooks and filters run, and events are discarded.
    Hooks,
    /// As `scission run` does it unless told otherwise.
    Checkers,
    /// The events are written to the file `trace` in the folder of the servers.
    Recording,
}

const WAYS: [Way; 3] = [Way::Plain, Way::Hooks, Way::Checkers];
const ROUNDS: usize = 3;
/// Until then the JVM compiles.
const WARM_UP_SECONDS: u64 = 20;
const SECONDS: u64 = 10;
/// More than a server needs to start or to stop.
const PATIENCE: Duration = Duration::from_secs(120);

/// The share of its requests that a watched application keeps.
const LEAST_KEPT: f64 = 0.50;
/// The share of what hooks alone keep, where the server is watched whole.
const LEAST_OF_HOOKS: f64 = 0.70;

/// What a client counted.
#[derive(Clone, Copy)]
struct Answered {
    per_second: u64,
    /// The time that 99 of 100 answers take at most.
    p99_micros: u64,
    /// All answers, with those before the time began.
    asked: u64,
}

/// What the report of a watched server says.
#[derive(Clone, Copy)]
struct Reported {
    events: u64,
    findings: u64,
    /// How long its threads waited for the checkers, all together.
    millis_waited: u64,
}

/// Measures the servers of these names, or all, in one round or in several; over a limit is a failure.
pub(crate) fn measure(rounds: Rounds, names: &[&str]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| SERVERS.iter().all(|it| it.name != **name)) {
        let known: Vec<&str> = SERVERS.iter().map(|server| server.name).collect();
        bail!("there is no server {unknown}, only {}", known.join(", "));
    }
    let is_chosen = |server: &&Server| names.is_empty() || names.contains(&server.name);
    let servers: Vec<&Server> = SERVERS.iter().filter(is_chosen).collect();
    let directory = ServerDirectory::set_up(&servers)?;
    let rounds = match rounds {
        Rounds::Full => ROUNDS,
        Rounds::Quick => 1,
    };
    let mut measured: BTreeMap<(usize, usize), Vec<Answered>> = BTreeMap::new();
    let mut reported: BTreeMap<usize, (Answered, Reported)> = BTreeMap::new();
    for round in 1..=rounds {
        for (row, server) in servers.iter().enumerate() {
            for (column, way) in WAYS.into_iter().enumerate() {
                progress(&format!("round {round} of {rounds}: {}, {}", server.name, way.name()));
                let answered = directory
                    .run(server, way)
                    .with_context(|| format!("{}, {}", server.name, way.name()))?;
                measured.entry((row, column)).or_default().push(answered);
                if way == Way::Checkers {
                    reported.insert(row, (answered, directory.reported()?));
                }
            }
        }
    }
    println!(
        "server         plain /s  p99 ms   hooks %  p99 ms  checkers %  p99 ms  events each  waited ms  findings"
    );
    let mut problems = Vec::new();
    for (row, server) in servers.iter().enumerate() {
        let of = |column: usize| Summary::of(&measured[&(row, column)]);
        let [plain, hooks, checkers] = [of(0), of(1), of(2)];
        let (answered, last) = &reported[&row];
        let share = |one: &Summary, of: &Summary| one.per_second / of.per_second.max(1.0);
        println!(
            "{:<14} {:>8.0} {:>7.1} {:>9.0} {:>7.1} {:>11.0} {:>7.1} {:>12.0} {:>10} {:>9}",
            server.name,
            plain.per_second,
            plain.p99_millis,
            share(&hooks, &plain) * 100.0,
            hooks.p99_millis,
            share(&checkers, &plain) * 100.0,
            checkers.p99_millis,
            last.events as f64 / answered.asked.max(1) as f64,
            last.millis_waited,
            last.findings,
        );
        let (kept, least, of) = if server.is_watched_whole {
            (share(&checkers, &hooks), LEAST_OF_HOOKS, "what hooks alone keep")
        } else {
            (share(&checkers, &plain), LEAST_KEPT, "its requests")
        };
        if kept < least {
            let (kept, least) = (kept * 100.0, least * 100.0);
            problems.push(format!("{} keeps {kept:.0} % of {of}, under {least:.0} %", server.name));
        }
    }
    println!(
        "(the last three are of the last round: events a request, the time that all threads waited for the checkers)"
    );
    if !problems.is_empty() {
        bail!("{}", problems.join("; "));
    }
    Ok(())
}

/// Records a server while it is asked, and returns where the trace is.
pub(crate) fn record(name: &str) -> Result<PathBuf> {
    let server = SERVERS.iter().find(|server| server.name == name);
    let server = server.with_context(|| format!("there is no server {name}"))?;
    let directory = ServerDirectory::set_up(&[server])?;
    progress(&format!("{name}, recording"));
    directory.run(server, Way::Recording).with_context(|| format!("{name}, recording"))?;
    Ok(directory.folder.join("trace"))
}

/// The medians of the rounds.
struct Summary {
    per_second: f64,
    p99_millis: f64,
}

impl Summary {
    fn of(rounds: &[Answered]) -> Summary {
        Summary {
            per_second: median(rounds.iter().map(|round| round.per_second)) as f64,
            p99_millis: median(rounds.iter().map(|round| round.p99_micros)) as f64 / 1e3,
        }
    }
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Plain => "plain",
            Way::Hooks => "hooks only",
            Way::Checkers => "checkers",
            Way::Recording => "recording",
        }
    }
}

/// Where servers are compiled to and run.
struct ServerDirectory {
    scission: PathBuf,
    agent: Agent,
    java: PathBuf,
    folder: PathBuf,
    class_path: OsString,
}

impl ServerDirectory {
    fn set_up(servers: &[&Server]) -> Result<ServerDirectory> {
        let home = jdk::ensure()?;
        let scission = builds::command(Profile::Release)?;
        let agent = Agent::build()?;
        let folder = target_directory()?.join("bench").join("server");
        let classes = folder.join("classes");
        fs::create_dir_all(&classes).with_context(|| classes.display().to_string())?;
        let mut class_path = vec![classes.clone()];
        let mut sources = vec!["Application".to_string(), "Load".to_string()];
        for server in servers {
            if let Some(package) = server.package {
                debian::ensure(&[package])?;
                class_path.extend(debian::jars_of(package)?);
            }
            sources.extend(server.class.strip_prefix("servers.").map(str::to_string));
        }
        sources.sort();
        sources.dedup();
        // Two servers may come from one package.
        let mut known = BTreeSet::new();
        class_path.retain(|jar| known.insert(jar.clone()));
        let class_path = std::env::join_paths(class_path)?;
        progress("compile bench/servers/");
        let files = sources.iter().map(|name| root().join(format!("bench/servers/{name}.java")));
        let mut compile = jdk::javac(&home);
        compile.args(["-g", "-nowarn", "-Xlint:-deprecation", "--release", "11", "-d"]);
        run(compile.arg(&classes).arg("-cp").arg(&class_path).args(files))?;
        Ok(ServerDirectory { scission, agent, java: home.join("bin/java"), folder, class_path })
    }

    fn command(&self, server: &Server, way: Way) -> Command {
        let mut command = match way {
            Way::Plain | Way::Hooks => Command::new(&self.java),
            Way::Checkers | Way::Recording => {
                let mut command = Command::new(&self.scission);
                command.args(["run", "--no-config", "--require-agent", "--fail-on", "never"]);
                if way == Way::Recording {
                    command.args(["--monitor", "none"]);
                    command.arg("--record").arg(self.folder.join("trace"));
                }
                if server.is_watched_whole {
                    command.args(["--libraries", "full"]);
                }
                command.args(["--format", "json", "--output"]).arg(self.report());
                command.arg("--").arg(&self.java);
                command
            }
        };
        if way == Way::Hooks {
            let whole = if server.is_watched_whole { ",whole-libraries=true" } else { "" };
            command.args(self.agent.arguments_with(&format!("hooks-only=true{whole}")));
        }
        command.args(server.flags).arg("-cp").arg(&self.class_path);
        command.arg(server.class).arg(self.folder.join("files"));
        command
    }

    /// Starts a server, asks it for a while, and has it stop.
    fn run(&self, server: &Server, way: Way) -> Result<Answered> {
        let mut child = self
            .command(server, way)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("the server could not be started")?;
        let answered = self.ask(server, &mut child);
        let ended = wait(&mut child);
        let answered = answered?;
        if !ended? {
            bail!("the server did not end by itself");
        }
        Ok(answered)
    }

    fn ask(&self, server: &Server, child: &mut Child) -> Result<Answered> {
        let output = child.stdout.take().context("there is no pipe")?;
        let port = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("port ")?.parse::<u16>().ok())
            .context("the server ended before it said which port it has")?;
        let mut load = Command::new(&self.java);
        load.arg("-cp").arg(self.folder.join("classes")).arg("servers.Load");
        load.args([port.to_string(), server.path.to_string()]);
        load.args([WARM_UP_SECONDS.to_string(), SECONDS.to_string(), server.stop.to_string()]);
        let most = Duration::from_secs(WARM_UP_SECONDS + SECONDS) + PATIENCE;
        let finished = timed_run::finish(&mut load, most)?;
        let value = |key: &str| -> Result<u64> {
            let mut lines = finished.output.lines();
            let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            Ok(value.with_context(|| format!("the client does not say `{key}`"))?.parse()?)
        };
        Ok(Answered {
            per_second: value("requests")? / SECONDS,
            p99_micros: value("p99")?,
            asked: value("asked")?,
        })
    }

    fn report(&self) -> PathBuf {
        self.folder.join("report.json")
    }

    /// What the report of the last watched server says.
    fn reported(&self) -> Result<Reported> {
        let report: serde_json::Value = serde_json::from_slice(&fs::read(self.report())?)?;
        let stat = |name: &str| report["stats"][name].as_u64().unwrap_or_default();
        Ok(Reported {
            events: stat("events"),
            findings: report["findings"].as_array().map_or(0, Vec::len) as u64,
            millis_waited: stat("milliseconds_waited"),
        })
    }
}

/// Waits for the end of a server; kills it if it takes too long, and says whether it ended by itself.
fn wait(child: &mut Child) -> Result<bool> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill()?;
    child.wait()?;
    Ok(false)
}
