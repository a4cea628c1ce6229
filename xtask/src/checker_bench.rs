//! `cargo xtask bench checkers`: what the checkers cost for each event, on generated runs. See
//! `bench/README.md`.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use checkers::hybrid::{self, Hybrid};
use checkers::velodrome::{self, Config, Statistics, Velodrome};
use checkers::{Checker, Registration, happens_before};
use events::Event;
use nix::time::{ClockId, clock_gettime};

use crate::generated_run::{GeneratedRun, Shape, Style, Work};
use crate::{agent_bench, progress};

/// Events are made and given to the checkers in turns of this many, so that making them leaves the
/// caches alone most of the time.
const BATCH: usize = 1 << 17;

/// The limits.
const LEAST_VELODROME: f64 = 10e6;
const LEAST_HAPPENS_BEFORE: f64 = 20e6;
/// Transactions that may be alive at a time, and how many more for each thread: most threads of a generated
/// run are in the middle of one.
const MOST_ALIVE: usize = 32;
const MOST_ALIVE_OF_THREAD: usize = 4;
const MOST_GROWTH_MIB: f64 = 16.0;
/// How much more an event may cost on average in a whole run than in the first half of it, in checkers that run by default:
/// none may grow faster than the run.
const MOST_RISE: f64 = 1.2;
/// What the checker `hybrid` may take on a run of 100 million events.
const MOST_MIB_OF_TREES: f64 = 1024.0;

/// How long the runs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// 100 million events each, as the limits mean it.
    Full,
    /// A tenth of that, to see whether something is far off.
    Quick,
}

impl Length {
    pub(crate) fn events(self) -> usize {
        match self {
            Length::Full => 100_000_000,
            Length::Quick => 10_000_000,
        }
    }
}

/// The runs that the limits are for: a name, what the threads do, and how many there are.
const RUNS: [(&str, Work, u32); 16] = [
    ("few-transactions", Work::FewTransactions, 8),
    ("few-transactions", Work::FewTransactions, 64),
    ("many-transactions", Work::ManyTransactions, 8),
    ("many-transactions", Work::ManyTransactions, 64),
    ("tsp", Work::Tsp, 8),
    ("elevator", Work::Elevator, 8),
    ("elevator", Work::Elevator, 64),
    ("sor", Work::Sor, 8),
    ("moldyn", Work::MolDyn, 8),
    ("montecarlo", Work::MonteCarlo, 8),
    ("jbb", Work::Jbb, 8),
    ("jbb", Work::Jbb, 64),
    ("mtrt", Work::Mtrt, 8),
    ("mtrt", Work::Mtrt, 64),
    ("multiset", Work::Multiset, 8),
    ("pool", Work::Pool, 8),
];

const STYLES: [Style; 2] = [Style::Agent, Style::Plain];

/// A table of what the cost of an event depends on: the quantity, and for each value of it what the threads
/// do and how many there are.
struct CostTable {
    quantity: &'static str,
    rows: Vec<(u32, Work, u32)>,
}

fn cost_tables() -> [CostTable; 5] {
    let threads = [2, 4, 8, 16, 32, 64, 128, 256];
    let percent = [0, 1, 10, 100];
    let in_loops = [2, 4, 8, 16, 32, 64];
    let variables = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let open = [1, 2, 4, 8, 16, 32, 64];
    [
        CostTable {
            quantity: "threads",
            rows: threads.map(|value| (value, Work::ManyTransactions, value)).to_vec(),
        },
        CostTable {
            quantity: "variables",
            rows: variables.map(|value| (value, Work::Spread(value), 8)).to_vec(),
        },
        CostTable {
            quantity: "open-blocks",
            rows: open.map(|value| (value, Work::Open(value), 8 + value)).to_vec(),
        },
        CostTable {
            quantity: "percent-split",
            rows: percent.map(|value| (value, Work::Split(value), 8)).to_vec(),
        },
        CostTable {
            quantity: "split-in-loops",
            rows: in_loops.map(|value| (value, Work::SplitInLoops, value)).to_vec(),
        },
    ]
}

/// Measures every checker on the runs and in the tables of these names, or in all, and prints the results;
/// under a limit is a failure.
pub(crate) fn measure(length: Length, names: &[&str]) -> Result<()> {
    let tables = cost_tables();
    let mut known: Vec<&str> = RUNS.iter().map(|(name, ..)| *name).collect();
    known.extend(tables.iter().map(|table| table.quantity));
    known.push(hybrid::CHECKER.name);
    known.dedup();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        bail!("there is no {name}, only {}", known.join(", "));
    }
    let is_chosen = |name: &str| names.is_empty() || names.contains(&name);
    println!(
        "millions of events a second on one core (processor time inside the checker; making the events \
         is not counted), {} million events a run",
        length.events() / 1_000_000
    );
    let mut rows = Vec::new();
    for style in STYLES {
        for (name, work, threads) in RUNS.into_iter().filter(|(name, ..)| is_chosen(name)) {
            if rows.is_empty() {
                print_head();
            }
            let shape = Shape { work, threads, style };
            progress(&format!("{name}, {threads} threads, {}", style_name(style)));
            let row = Row { name, shape, measured: run(shape, length.events())? };
            row.print();
            rows.push(row);
        }
    }
    let mut problems = Vec::new();
    for table in tables.iter().filter(|table| is_chosen(table.quantity)) {
        problems.extend(table.print(length)?);
    }
    if is_chosen(hybrid::CHECKER.name) {
        measure_trees(length)?;
    }
    problems.extend(judge(&rows));
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}

/// The runs on which it is measured how much memory hybrid trees take.
const TREE_RUNS: [(&str, Work, u32); 5] = [
    ("tsp", Work::Tsp, 8),
    ("jbb", Work::Jbb, 64),
    ("pool", Work::Pool, 8),
    ("spread", Work::Spread(1_000_000), 8),
    ("sides", Work::Sides(1_000_000), 8),
];

/// How many hybrid trees are alive in long runs of which every event is reported, and how much memory the checker takes; over
/// the limit is a failure.
fn measure_trees(length: Length) -> Result<()> {
    println!("\nhybrid trees, {} million events a run", length.events() / 1_000_000);
    println!(
        "{:20}{:>8}{:>12}{:>12}{:>12}{:>12}",
        "run", "threads", "trees", "most", "MiB", "seconds"
    );
    let mut problems = Vec::new();
    for (name, work, threads) in TREE_RUNS {
        progress(&format!("hybrid trees: {name}"));
        let before = resident_mib()?;
        let mut checker = Hybrid::new(hybrid::Config::default());
        let shape = Shape { work, threads, style: Style::Plain };
        let mut group: Vec<(&'static str, &mut dyn Checker)> =
            vec![(hybrid::CHECKER.name, &mut checker)];
        let passed = pass(shape, length.events(), &mut group)?;
        let mib = resident_mib()? - before;
        let (trees, most) = checker.live_trees();
        let seconds: f64 = passed.costs.iter().map(|cost| cost.time.as_secs_f64()).sum();
        println!("{name:20}{threads:>8}{trees:>12}{most:>12}{mib:>12.1}{seconds:>12.1}");
        if mib > MOST_MIB_OF_TREES {
            problems.push(format!("{name}: {mib:.0} MiB, over {MOST_MIB_OF_TREES:.0}"));
        }
    }
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("; ")) }
}

fn style_name(style: Style) -> &'static str {
    match style {
        Style::Plain => "plain",
        Style::Agent => "agent",
    }
}

/// The cost of one checker.
#[derive(Clone, Debug)]
struct Cost {
    checker: &'static str,
    time: Duration,
    /// The events of about the first half of the run, and the time that they took.
    first_half: (usize, Duration),
}

impl Cost {
    fn none(checker: &'static str) -> Cost {
        Cost { checker, time: Duration::ZERO, first_half: (0, Duration::ZERO) }
    }

    /// How much more an event costs on average in the whole run than in the first half.
    fn rise(&self, events: usize) -> f64 {
        let (first_events, first_time) = self.first_half;
        let average = |time: Duration, events: usize| time.as_secs_f64() / events as f64;
        average(self.time, events) / average(first_time, first_events)
    }
}

/// The cost of a run.
#[derive(Clone, Debug)]
struct Measured {
    events: usize,
    costs: Vec<Cost>,
    statistics: Statistics,
    /// How many reports Velodrome would have made.
    violations: u64,
    /// How much the resident set grew from the first tenth of the run to its end, with the checkers that run
    /// by default, and with the others.
    growth_mib: f64,
    growth_of_others_mib: f64,
}

impl Measured {
    fn rate(&self, checker: &str) -> f64 {
        let cost = self.costs.iter().find(|cost| cost.checker == checker);
        cost.map_or(f64::NAN, |cost| self.events as f64 / cost.time.as_secs_f64())
    }

    /// In which checkers that run by default the cost grows faster than the run.
    fn rises(&self, run: &str) -> Vec<String> {
        let is_default =
            |name: &str| checkers::named(name).is_some_and(|checker| checker.on_by_default);
        let costs = self.costs.iter().filter(|cost| is_default(cost.checker));
        let risen = costs.map(|cost| (cost, cost.rise(self.events)));
        risen
            .filter(|(_, rise)| *rise > MOST_RISE)
            .map(|(cost, rise)| {
                let checker = cost.checker;
                format!("{run}: an event costs {checker} {rise:.2} times as much in the whole run as in the first half")
            })
            .collect()
    }
}

/// Runs the checkers that run by default, and then the others on the same events: what a checker keeps in
/// memory is only seen where no other does the same.
fn run(shape: Shape, length: usize) -> Result<Measured> {
    let mut velodrome = Velodrome::new(Config::default());
    let others = checkers::ALL.iter().filter(|other| other.name != velodrome::CHECKER.name);
    let (defaults, others): (Vec<_>, Vec<_>) = others.partition(|other| other.on_by_default);
    let start = |registration: &&'static Registration| {
        (registration.name, (registration.start)(checkers::Settings::default()))
    };
    let mut defaults: Vec<_> = defaults.iter().map(start).collect();
    let mut group: Vec<(&'static str, &mut dyn Checker)> =
        vec![(velodrome::CHECKER.name, &mut velodrome)];
    group.extend(defaults.iter_mut().map(|(name, checker)| (*name, &mut **checker as _)));
    let PassResult { events, mut costs, growth_mib } = pass(shape, length, &mut group)?;
    drop(defaults);
    let (statistics, violations) = (velodrome.statistics(), velodrome.violations());
    drop(velodrome);
    let mut others: Vec<_> = others.iter().map(start).collect();
    let mut group: Vec<(&'static str, &mut dyn Checker)> =
        others.iter_mut().map(|(name, checker)| (*name, &mut **checker as _)).collect();
    let passed = pass(shape, length, &mut group)?;
    costs.extend(passed.costs);
    let growth_of_others_mib = passed.growth_mib;
    Ok(Measured { events, costs, statistics, violations, growth_mib, growth_of_others_mib })
}

/// The cost of some checkers for a run.
struct PassResult {
    events: usize,
    costs: Vec<Cost>,
    growth_mib: f64,
}

fn pass(
    shape: Shape,
    length: usize,
    checkers: &mut [(&'static str, &mut dyn Checker)],
) -> Result<PassResult> {
    let mut generated = GeneratedRun::new(shape);
    let mut costs: Vec<Cost> = checkers.iter().map(|(checker, _)| Cost::none(checker)).collect();
    let mut batch: Vec<Event> = Vec::with_capacity(BATCH + BATCH / 8);
    let mut events = 0;
    let mut early_mib = None;
    while events < length {
        batch.clear();
        generated.fill(&mut batch, BATCH);
        events += batch.len();
        for ((_, checker), cost) in checkers.iter_mut().zip(&mut costs) {
            cost.time += time(&mut **checker, &batch)?;
            if events <= length / 2 {
                cost.first_half = (events, cost.time);
            }
        }
        if early_mib.is_none() && events >= length / 10 {
            early_mib = Some(resident_mib()?);
        }
    }
    let growth_mib = resident_mib()? - early_mib.unwrap_or_default();
    Ok(PassResult { events, costs, growth_mib })
}

/// How long a checker takes for these events. Time in which others have the processor is not its own.
fn time(checker: &mut dyn Checker, events: &[Event]) -> Result<Duration> {
    let clock = ClockId::CLOCK_THREAD_CPUTIME_ID;
    let before = Duration::from(clock_gettime(clock)?);
    checker.events(events);
    Ok(Duration::from(clock_gettime(clock)?) - before)
}

fn resident_mib() -> Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kib: f64 = kib.context("the resident set is not known")?.trim().parse()?;
    Ok(kib / 1024.0)
}

struct Row {
    name: &'static str,
    shape: Shape,
    measured: Measured,
}

fn print_head() {
    print!("{:20}{:>8}{:>7}", "run", "threads", "style");
    for checker in checkers::ALL {
        print!("{:>16}", checker.name);
    }
    println!(
        "{:>13}{:>7}{:>12}{:>12}{:>12}",
        "nodes", "alive", "violations", "growth MiB", "of others"
    );
}

impl Row {
    fn print(&self) {
        let style = style_name(self.shape.style);
        print!("{:20}{:>8}{:>7}", self.name, self.shape.threads, style);
        for checker in checkers::ALL {
            print!("{:>16.1}", self.measured.rate(checker.name) / 1e6);
        }
        let Statistics { allocated, most_alive, .. } = self.measured.statistics;
        let Measured { violations, growth_mib, growth_of_others_mib, .. } = self.measured;
        println!(
            "{allocated:>13}{most_alive:>7}{violations:>12}{growth_mib:>12.1}{growth_of_others_mib:>12.1}"
        );
    }
}

impl CostTable {
    /// Returns what is wrong with a row.
    fn print(&self, length: Length) -> Result<Vec<String>> {
        println!("\nnanoseconds an event, all reported");
        print!("{:>20}", self.quantity);
        for checker in checkers::ALL {
            print!("{:>16}", checker.name);
        }
        println!("{:>7}{:>12}", "alive", "violations");
        let mut problems = Vec::new();
        for (value, work, threads) in &self.rows {
            progress(&format!("{}: {value}", self.quantity));
            let shape = Shape { work: *work, threads: *threads, style: Style::Plain };
            let measured = run(shape, length.events() / 10)?;
            print!("{value:>20}");
            for checker in checkers::ALL {
                print!("{:>16.1}", 1e9 / measured.rate(checker.name));
            }
            println!("{:>7}{:>12}", measured.statistics.most_alive, measured.violations);
            problems.extend(measured.rises(&format!("{} {value}", self.quantity)));
        }
        Ok(problems)
    }
}

/// Compares the runs with the limits. Somebody may want to see nothing but a table.
fn judge(rows: &[Row]) -> Vec<String> {
    let mut problems = Vec::new();
    if rows.is_empty() {
        return problems;
    }
    println!();
    for (checker, least) in [
        (velodrome::CHECKER.name, LEAST_VELODROME),
        (happens_before::CHECKER.name, LEAST_HAPPENS_BEFORE),
    ] {
        let rates = rows.iter().map(|row| row.measured.rate(checker));
        let mean = agent_bench::geometric_mean(rates);
        let worst = rows
            .iter()
            .min_by(|a, b| a.measured.rate(checker).total_cmp(&b.measured.rate(checker)));
        if let Some(worst) = worst {
            println!(
                "{checker}: {:.1} million events a second in the geometric mean; worst {:.1} ({}, {} \
                 threads, {})",
                mean / 1e6,
                worst.measured.rate(checker) / 1e6,
                worst.name,
                worst.shape.threads,
                style_name(worst.shape.style)
            );
        }
        if !mean.is_finite() || mean < least {
            problems.push(format!(
                "{checker} takes {:.1} million events a second, under {:.0}",
                mean / 1e6,
                least / 1e6
            ));
        }
    }
    for row in rows {
        let what = || format!("{}, {} threads", row.name, row.shape.threads);
        let Measured { statistics, growth_mib, .. } = row.measured;
        let most_alive = MOST_ALIVE + MOST_ALIVE_OF_THREAD * row.shape.threads as usize;
        if statistics.most_alive > most_alive {
            problems.push(format!("{}: {} transactions alive", what(), statistics.most_alive));
        }
        problems.extend(row.measured.rises(&what()));
        if growth_mib > MOST_GROWTH_MIB {
            problems.push(format!("{}: memory grows by {growth_mib:.0} MiB", what()));
        }
    }
    problems
}
