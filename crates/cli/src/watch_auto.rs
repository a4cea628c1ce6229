//! `run --watch auto`: before a program starts, its class path is analysed, and only accesses that could not be proven
//! safe are watched.
//!
//! The analysis is `scission check --watch-list` in a process of its own, which can be ended when its time is over, and
//! whose failure costs nothing but the list. Without a list everything is watched, and one sentence says why. Lists are
//! kept, by a key that covers everything they depend on: the bytes on the class path, the JDK, models, options and this
//! build of Scission. A list names the classes that were analysed with a digest of their bytes, so that whatever a JVM
//! loads instead is watched whole.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, str};

use agent_protocol::{ClassDigest, ListedAccesses, read_watch_list};
use classes::Jdk;
use models::Pattern;

use crate::flags::WatchListFor;
use crate::java_command::{LauncherEnvironment, class_path};
use crate::launch;

/// What is analysed, and for whom.
pub(crate) struct Request<'a> {
    /// The command that starts the program.
    pub(crate) command: &'a [OsString],
    /// The checkers that watch it.
    pub(crate) reader: WatchListFor,
    /// What users say of code.
    pub(crate) models: &'a [PathBuf],
    /// Methods that several threads may call.
    pub(crate) entry_points: &'a [Pattern],
    /// How long it may take.
    pub(crate) budget: Duration,
}

/// What came of it.
pub(crate) struct Prepared {
    /// The list; everything is watched without one.
    pub(crate) list: Option<PathBuf>,
    /// What the user should know, in one sentence.
    pub(crate) remark: String,
}

/// The list is left in a directory, where the agents find it. Nothing comes of it if the user asks to stop.
pub(crate) fn prepare(
    request: &Request<'_>,
    directory: &Path,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Option<Prepared> {
    let started = Instant::now();
    let mut was_interrupted = false;
    let found = find(request, directory, &mut || {
        was_interrupted |= is_interrupted();
        was_interrupted
    });
    if was_interrupted {
        return None;
    }
    // Tenths are enough, and differ less from run to run.
    let seconds = format!("{:.1} s", started.elapsed().as_secs_f64());
    Some(match found {
        Ok(Found { path, listed, from }) => {
            let accesses = number_of(listed.accesses.len(), "access", "accesses");
            let classes = number_of(listed.analysed.len(), "analysed class", "analysed classes");
            let from = match from {
                From::Analysis => format!("the analysis took {seconds}"),
                From::AnalysisNotKept(why) => {
                    format!("the analysis took {seconds}, and its result was not kept: {why}")
                }
                From::Cache => format!("kept from an earlier analysis, read in {seconds}"),
            };
            let remark =
                format!("of {classes} only {accesses} that may conflict had hooks; {from}");
            Prepared { list: Some(path), remark }
        }
        Err(why) => {
            Prepared { list: None, remark: format!("everything was watched: {why} ({seconds})") }
        }
    })
}

struct Found {
    path: PathBuf,
    listed: ListedAccesses,
    from: From,
}

/// Where a list comes from.
enum From {
    Analysis,
    AnalysisNotKept(String),
    Cache,
}

fn find(
    request: &Request<'_>,
    directory: &Path,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<Found, String> {
    let (launcher, arguments) = request.command.split_first().ok_or("there is no command")?;
    let Some(home) = launch::java_home(launcher) else {
        let name = Path::new(launcher).file_name().unwrap_or_default().to_string_lossy();
        return Err(format!("the class path of `{name}` is not known before it starts"));
    };
    let entries = class_path(arguments, &LauncherEnvironment::inherited())
        .map_err(|why| format!("the class path is not known before the program starts: {why}"))?;
    let deadline = Instant::now() + request.budget;
    let path = directory.join("watch-list.txt");
    let key = key(request, &home, &entries).ok();
    let cache = Cache::of_this_user();
    let known = cache.as_ref().zip(key).and_then(|(cache, key)| cache.read(key));
    let (text, from) = match known {
        Some(text) => (text, From::Cache),
        None => {
            let text = analyse(request, &home, &entries, &path, deadline, is_interrupted)?;
            let kept = match (&cache, key) {
                (Some(cache), Some(key)) => cache.write(key, &text).map_err(|error| reason(&error)),
                (None, _) => Err("there is no directory for it".to_string()),
                (Some(_), None) => Err("the class path could not be read".to_string()),
            };
            (text, kept.map_or_else(From::AnalysisNotKept, |()| From::Analysis))
        }
    };
    let listed = read_watch_list(&text).map_err(|error| format!("the analysis failed: {error}"))?;
    if listed.analysed.is_empty() {
        // Without a class that it knows, a list would be taken for one that knows all.
        return Err("no class could be analysed".to_string());
    }
    if let From::Cache = from {
        fs::write(&path, &text).map_err(|error| format!("the list cannot be written: {error}"))?;
    }
    Ok(Found { path, listed, from })
}

/// How often it is asked whether the analysis has ended.
const POLL: Duration = Duration::from_millis(5);

/// Has the list written by `scission check`, and returns its text.
fn analyse(
    request: &Request<'_>,
    home: &Path,
    entries: &[PathBuf],
    path: &Path,
    deadline: Instant,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> Result<String, String> {
    let failed = |why: &dyn Display| format!("the analysis failed: {why}");
    let scission = env::current_exe().map_err(|error| failed(&error))?;
    let mut errors = tempfile::tempfile().map_err(|error| failed(&error))?;
    let mut command = Command::new(scission);
    command.args(["check", "--no-config", "--no-progress", "--quiet", "--fail-on", "never"]);
    command.args(["--color", "never", "--rule", "data-race"]);
    command.args(["--watch-list-for", request.reader.word()]).arg("--watch-list").arg(path);
    if Jdk::at(home).is_some() {
        command.arg("--jdk").arg(home);
    }
    request.models.iter().for_each(|file| {
        command.arg("--models").arg(file);
    });
    request.entry_points.iter().for_each(|pattern| {
        command.arg("--entry-point").arg(pattern.to_string());
    });
    command.arg("--").args(entries);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(errors.try_clone().map_err(|error| failed(&error))?);
    let left = deadline.saturating_duration_since(Instant::now());
    let status =
        finish_within(&mut command, left, is_interrupted).map_err(|error| failed(&error))?;
    let Some(status) = status else {
        let seconds = request.budget.as_secs_f64();
        return Err(format!(
            "the analysis was not done after {seconds} s; `--budget` grants it more time"
        ));
    };
    if !status.success() {
        let text = io::Seek::rewind(&mut errors).and_then(|()| {
            let mut text = Vec::new();
            errors.read_to_end(&mut text).map(|_| text)
        });
        let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
        let error = text.lines().find_map(|line| line.strip_prefix("error: "));
        return Err(failed(&error.map_or_else(|| status.to_string(), str::to_string)));
    }
    fs::read_to_string(path).map_err(|error| failed(&error))
}

/// Runs a command; nothing if it was ended because its time was over, or the user asked to stop.
fn finish_within(
    command: &mut Command,
    time: Duration,
    is_interrupted: &mut dyn FnMut() -> bool,
) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + time;
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline || is_interrupted() {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// What tells this list from all others.
fn key(request: &Request<'_>, home: &Path, entries: &[PathBuf]) -> io::Result<ClassDigest> {
    let mut digest = ClassDigest::of(env!("CARGO_PKG_VERSION").as_bytes());
    // A build that is replaced by another of the same version may analyse differently.
    let scission = fs::metadata(env::current_exe()?)?;
    digest = digest.with(&scission.len().to_le_bytes());
    let modified = scission.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    digest = digest.with(&modified.as_nanos().to_le_bytes());
    let text = |digest: ClassDigest, text: &str| digest.with(text.as_bytes()).with(&[0]);
    digest = text(digest, request.reader.word());
    digest = request.entry_points.iter().fold(digest, |digest, it| text(digest, &it.to_string()));
    digest = text(digest, &home.to_string_lossy());
    digest = with_file(digest, &home.join("release")).unwrap_or(digest);
    for file in request.models {
        digest = with_file(digest, file)?;
    }
    for entry in entries {
        // Names are a part of it: the list depends on the order, and a report may name what is missing.
        digest = text(digest, &entry.to_string_lossy());
        digest =
            if entry.is_dir() { with_classes(digest, entry)? } else { with_file(digest, entry)? };
    }
    Ok(digest)
}

fn with_file(digest: ClassDigest, path: &Path) -> io::Result<ClassDigest> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut digest = digest.with(&length.to_le_bytes());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(digest),
            count => digest = digest.with(&buffer[..count]),
        }
    }
}

/// The class files anywhere below a directory, in the order of their names.
fn with_classes(mut digest: ClassDigest, directory: &Path) -> io::Result<ClassDigest> {
    let mut open = vec![directory.to_path_buf()];
    let mut seen = std::collections::HashSet::new();
    while let Some(directory) = open.pop() {
        if !seen.insert(fs::canonicalize(&directory)?) {
            continue;
        }
        let entries = fs::read_dir(&directory)?.collect::<Result<Vec<_>, _>>()?;
        let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "class") {
                digest = digest.with(path.to_string_lossy().as_bytes()).with(&[0]);
                digest = with_file(digest, &path)?;
            }
        }
    }
    Ok(digest)
}

/// What each kept list begins with; the digest of the rest follows.
const HEADER: &str = "# watch list ";

/// How many lists are kept; the oldest are removed first.
const MOST_LISTS: usize = 100;

/// Lists of earlier runs, one file each.
struct Cache {
    directory: PathBuf,
}

impl Cache {
    /// Below `XDG_CACHE_HOME`, else `.cache` in the home directory.
    fn of_this_user() -> Option<Cache> {
        let absolute =
            |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
        Some(Cache { directory: base.join("scission").join("watch-lists") })
    }

    fn path(&self, key: ClassDigest) -> PathBuf {
        self.directory.join(format!("{key}.txt"))
    }

    /// The list of a key; one that is damaged is as good as none.
    fn read(&self, key: ClassDigest) -> Option<String> {
        let text = fs::read_to_string(self.path(key)).ok()?;
        let (header, list) = text.split_once('\n')?;
        let digest: ClassDigest = header.strip_prefix(HEADER)?.parse().ok()?;
        (digest == ClassDigest::of(list.as_bytes())).then(|| list.to_string())
    }

    /// Keeps a list; it is either whole or not there.
    fn write(&self, key: ClassDigest, list: &str) -> io::Result<()> {
        make_private_directory(&self.directory)?;
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&self.directory)?;
        writeln!(file, "{HEADER}{}", ClassDigest::of(list.as_bytes()))?;
        file.write_all(list.as_bytes())?;
        file.persist(self.path(key)).map_err(|error| error.error)?;
        self.remove_oldest();
        Ok(())
    }

    /// What cannot be removed is left to the next run.
    fn remove_oldest(&self) {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut lists: Vec<_> = entries
            .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "txt"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        lists.sort();
        let too_many = lists.len().saturating_sub(MOST_LISTS);
        for (_, path) in lists.into_iter().take(too_many) {
            let _ = fs::remove_file(path);
        }
    }
}

/// A directory that nobody else can write to: lists decide what is watched.
fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// An error without the path that `tempfile` puts into it.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "no permission".to_string(),
        io::ErrorKind::NotADirectory => "its directory is a file".to_string(),
        kind => kind.to_string(),
    }
}

fn number_of(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(directory: &Path) -> Cache {
        Cache { directory: directory.join("scission/watch-lists") }
    }

    #[test]
    fn what_was_kept_is_found_again_unless_it_is_damaged() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path());
        let (key, other) = (ClassDigest::of(b"one"), ClassDigest::of(b"other"));
        assert_eq!(cache.read(key), None);
        cache.write(key, "p.A m ()V 3\n").unwrap();
        assert_eq!(cache.read(key).as_deref(), Some("p.A m ()V 3\n"));
        assert_eq!(cache.read(other), None);
        let whole = fs::read_to_string(cache.path(key)).unwrap();
        for damaged in [&whole[..whole.len() - 2], &whole.replace(" 3", " 4"), "", "p.A m ()V 3\n"]
        {
            fs::write(cache.path(key), damaged).unwrap();
            assert_eq!(cache.read(key), None, "{damaged}");
        }
        cache.write(key, "p.A m ()V 5\n").unwrap();
        assert_eq!(cache.read(key).as_deref(), Some("p.A m ()V 5\n"));
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_can_read_the_cache() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path());
        cache.write(ClassDigest::of(b"one"), "").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&cache.directory), 0o700);
        assert_eq!(mode(&cache.path(ClassDigest::of(b"one"))), 0o600);
    }

    #[test]
    fn so_many_lists_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let cache = cache(directory.path());
        for number in 0..MOST_LISTS + 5 {
            cache.write(ClassDigest::of(&number.to_le_bytes()), "").unwrap();
        }
        assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), MOST_LISTS);
    }

    #[test]
    fn what_takes_too_long_is_ended() {
        // Its input never ends.
        let mut waiting = Command::new("cat");
        waiting.stdin(Stdio::piped());
        assert!(finish_within(&mut waiting, Duration::ZERO, &mut || false).unwrap().is_none());
        let long = Duration::from_secs(600);
        assert!(finish_within(&mut waiting, long, &mut || true).unwrap().is_none());
    }
}
