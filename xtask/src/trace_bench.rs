//! `cargo xtask bench trace`: what `scission trace` costs from the file to the report, on generated and on recorded
//! runs. See `bench/README.md`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use checkers::{happens_before, velodrome};
use events::binary::{Header, Reader, Writer};
use events::{Event, Sink, SiteEntry, Tables, ThreadEntry};
use nix::sys::resource::{UsageWho, getrusage};

use crate::checker_bench::Length;
use crate::generated_run::{GeneratedRun, Shape, Style, Work};
use crate::{agent_bench, builds, progress, server_bench, target_directory};

/// The limits, in events a second of processor time.
const LEAST_HAPPENS_BEFORE: f64 = 50e6;
const LEAST_VELODROME: f64 = 25e6;
/// How much more an event may cost on average in a whole run than in the first half of it.
const MOST_GROWTH: f64 = 1.2;
/// What start and report take is not to be taken for a rise.
const LEAST_SECONDS_TO_JUDGE: f64 = 0.2;

const CHECKERS: [(&str, f64); 2] = [
    (happens_before::CHECKER.name, LEAST_HAPPENS_BEFORE),
    (velodrome::CHECKER.name, LEAST_VELODROME),
];

/// Generated runs: a name, what the threads do, and how many there are.
const RUNS: [(&str, Work, u32); 13] = [
    ("few-transactions", Work::FewTransactions, 8),
    ("many-transactions", Work::ManyTransactions, 8),
    ("many-transactions", Work::ManyTransactions, 64),
    ("tsp", Work::Tsp, 8),
    ("sor", Work::Sor, 8),
    ("jbb", Work::Jbb, 64),
    ("multiset", Work::Multiset, 8),
    ("pool", Work::Pool, 8),
    ("split-1", Work::Split(1), 8),
    ("split-100", Work::Split(100), 8),
    ("split-100", Work::Split(100), 64),
    ("split-in-loops", Work::SplitInLoops, 8),
    ("split-in-loops", Work::SplitInLoops, 64),
];

/// Servers of `bench server` that are recorded.
const SERVERS: [&str; 2] = ["jdk", "tomcat-file"];

/// How many sites the table of a generated run has.
const SITES: u32 = 2048;

/// Measures the runs of these names, or all; under a limit is a failure.
pub(crate) fn measure(length: Length, names: &[&str]) -> Result<()> {
    let known: Vec<&str> = RUNS.iter().map(|(name, ..)| *name).chain(SERVERS).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        bail!("there is no {name}, only {}", known.join(", "));
    }
    let is_chosen = |name: &str| names.is_empty() || names.contains(&name);
    let scission = builds::command(builds::Profile::Release)?;
    let folder = target_directory()?.join("bench").join("trace");
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    println!(
        "millions of events a second of processor time, from the file to the report, and MiB at most"
    );
    println!("{:20}{:>8}{:>14}{:>8}  rates and memory", "run", "threads", "events", "MB");
    let mut rows = Vec::new();
    for (name, work, threads) in RUNS.into_iter().filter(|(name, ..)| is_chosen(name)) {
        let file = folder.join("trace");
        progress(&format!("{name}, {threads} threads"));
        let shape = Shape { work, threads, style: Style::Agent };
        generate(shape, length.events() / 2, &file)?;
        rows.push(Row::measure(&scission, name, threads, &file)?);
    }
    for name in SERVERS.into_iter().filter(|name| is_chosen(name)) {
        let file = server_bench::record(name)?;
        rows.push(Row::measure(&scission, name, 0, &file)?);
    }
    judge(&rows)
}

/// Writes a generated run to a file.
fn generate(shape: Shape, length: usize, file: &Path) -> Result<()> {
    let site = |number: u32| {
        let mut entry = SiteEntry::unknown();
        if number > 0 {
            entry.site.class = format!("Generated{}", number / 64);
            entry.site.method = format!("method{}", number / 16);
            entry.site.line = Some(number);
        }
        entry
    };
    let thread = |number| ThreadEntry { name: format!("thread-{number}"), is_virtual: false };
    let tables = Tables {
        sites: (0..SITES).map(site).collect(),
        threads: (0..shape.threads).map(thread).collect(),
        ..Tables::default()
    };
    let output = File::create(file).with_context(|| file.display().to_string())?;
    let mut writer = Writer::new(output, &Header::default())?;
    let mut generated = GeneratedRun::new(shape);
    let mut batch: Vec<Event> = Vec::new();
    let mut events = 0;
    while events < length {
        batch.clear();
        generated.fill(&mut batch, 1 << 16);
        events += batch.len();
        writer.events(&batch, &tables)?;
    }
    writer.finish(&tables)?;
    Ok(())
}

/// What a checker costs on a file.
#[derive(Clone, Copy, Debug)]
struct Cost {
    events: u64,
    seconds: f64,
    mib: f64,
}

impl Cost {
    fn rate(&self) -> f64 {
        self.events as f64 / self.seconds
    }
}

/// A run, and what each checker costs on the first half of its file and on all of it.
struct Row {
    name: &'static str,
    costs: Vec<[Cost; 2]>,
}

impl Row {
    fn measure(scission: &Path, name: &'static str, threads: u32, file: &Path) -> Result<Row> {
        let half = file.with_extension("half");
        let bytes = fs::metadata(file).with_context(|| file.display().to_string())?.len();
        let mut first = File::open(file)?.take(bytes / 2);
        io::copy(
            &mut first,
            &mut File::create(&half).with_context(|| half.display().to_string())?,
        )?;
        let events = [count(&half)?, count(file)?];
        let threads = if threads == 0 { String::new() } else { threads.to_string() };
        print!("{name:20}{threads:>8}{:>14}{:>8.0}", events[1], bytes as f64 / 1e6);
        let mut costs = Vec::new();
        for (checker, _) in CHECKERS {
            let first = run(scission, checker, &half, events[0])?;
            let whole = run(scission, checker, file, events[1])?;
            print!("  {checker} {:.1} ({:.1} MiB)", whole.rate() / 1e6, whole.mib);
            costs.push([first, whole]);
        }
        println!();
        fs::remove_file(&half)?;
        fs::remove_file(file)?;
        Ok(Row { name, costs })
    }
}

/// How many events a trace has.
fn count(file: &Path) -> Result<u64> {
    let mut reader = Reader::new(File::open(file)?)?;
    let mut events = 0;
    loop {
        match reader.next_events()?.len() {
            0 => return Ok(events),
            more => events += more as u64,
        }
    }
}

/// Runs a checker on a file.
fn run(scission: &Path, checker: &str, file: &Path, events: u64) -> Result<Cost> {
    let before = processor_time()?;
    let mut child = Command::new(scission)
        .args(["trace", "--no-config", "--no-progress", "--quiet", "--format", "json"])
        .args(["--fail-on", "never", "--monitor", checker])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("`scission trace` could not be started")?;
    let mut mib: f64 = 0.0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        mib = mib.max(most_memory(child.id()).unwrap_or_default());
        thread::sleep(Duration::from_millis(5));
    };
    if !status.success() {
        bail!("`scission trace --monitor {checker}` failed: {status}");
    }
    let seconds = (processor_time()? - before).as_secs_f64();
    Ok(Cost { events, seconds, mib })
}

/// How many MiB a program has taken at most so far; nothing if it has ended.
fn most_memory(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = peak.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib / 1024.0)
}

/// The processor time of all programs that were started and have ended.
fn processor_time() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let duration = |time: nix::sys::time::TimeVal| {
        let micros = u64::try_from(time.tv_usec()).unwrap_or_default();
        Duration::from_secs(u64::try_from(time.tv_sec()).unwrap_or_default())
            + Duration::from_micros(micros)
    };
    Ok(duration(usage.user_time()) + duration(usage.system_time()))
}

/// Compares the runs with the limits.
fn judge(rows: &[Row]) -> Result<()> {
    let mut problems = Vec::new();
    for (at, (checker, least)) in CHECKERS.into_iter().enumerate() {
        let rate = |row: &Row| row.costs[at][1].rate();
        let mean = agent_bench::geometric_mean(rows.iter().map(rate));
        if let Some(worst) = rows.iter().min_by(|a, b| rate(a).total_cmp(&rate(b))) {
            println!(
                "{checker}: {:.1} million events a second in the geometric mean; worst {:.1} ({})",
                mean / 1e6,
                rate(worst) / 1e6,
                worst.name
            );
        }
        for row in rows {
            let [half, whole] = row.costs[at];
            if rate(row) < least {
                problems.push(format!(
                    "{checker} takes {:.1} million events a second of {}, under {:.0}",
                    rate(row) / 1e6,
                    row.name,
                    least / 1e6
                ));
            }
            let growth = half.rate() / whole.rate();
            if whole.seconds > LEAST_SECONDS_TO_JUDGE && growth > MOST_GROWTH {
                problems.push(format!(
                    "{checker}: an event of {} costs {growth:.2} times as much in the whole run as in \
                     the first half",
                    row.name
                ));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}
