//! The walk over the inputs: which classes there are, reading them in batches, and what becomes a
//! gap.
//!
//! The walk itself is sequential and decides the order; only the reading and parsing of a batch is
//! parallel, and its results are taken over in order. So limits cut at the same place on every run.

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use findings::{Gap, GapKind};
use percent_encoding::percent_decode_str;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::access;
use crate::archive::{Archive, ArchiveEntry};
use crate::classfile::ClassFile;
use crate::error::{ReadError, ReadErrorKind};
use crate::jar::{self, Manifest};
use crate::jdk::JdkImage;
use crate::source::{
    CLASS_MAGIC, ClassPath, EntryKind, Input, InputKind, LoadConfig, LoadError, Loaded,
    LoadedClass, Origin, Progress, has_extension, is_archive, list,
};
use crate::storage::{Storage, fail};

/// How many classes are read at a time. Enough to keep all cores busy, and few enough that progress
/// is smooth, cancelling is quick and hostile input is noticed before it fills the memory.
const BATCH: usize = 128;

/// How deep directories may nest.
const MAX_DIRECTORY_DEPTH: usize = 64;

/// The state of one [`crate::load`].
pub(crate) struct Loader<'a> {
    config: &'a LoadConfig,
    progress: &'a dyn Progress,
    loaded: Loaded,
    /// Where each class is in `loaded`.
    known: FxHashMap<Arc<str>, usize>,
    /// The gap that stands for all classes of one container that another had before.
    duplicates: FxHashMap<(String, String), usize>,
    batch: Vec<Job>,
    /// Files that have been read already, so that two manifests may name the same library.
    visited: FxHashSet<PathBuf>,
    /// Libraries that manifests name, to be read when all inputs have been.
    libraries: VecDeque<PathBuf>,
    bytes_read: u64,
    classes_read: usize,
    /// Whether the limit on the total has been reached and the rest is left out.
    is_full: bool,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(config: &'a LoadConfig, progress: &'a dyn Progress) -> Loader<'a> {
        Loader {
            config,
            progress,
            loaded: Loaded::default(),
            known: FxHashMap::default(),
            duplicates: FxHashMap::default(),
            batch: Vec::with_capacity(BATCH),
            visited: FxHashSet::default(),
            libraries: VecDeque::new(),
            bytes_read: 0,
            classes_read: 0,
            is_full: false,
        }
    }

    /// Reads all inputs, then the libraries that their manifests name.
    pub(crate) fn inputs(mut self, class_path: ClassPath) -> Result<Loaded, LoadError> {
        for input in class_path.inputs {
            self.input(&input)?;
        }
        while let Some(path) = self.libraries.pop_front() {
            if path.is_dir() {
                self.directory(&path, DirectoryContent::Classes, self.config.is_class_path)?;
            } else if self.is_new(&path) {
                let name = path.to_string_lossy();
                self.archive_file(&path, &name, self.config.is_class_path)?;
            }
        }
        self.flush()?;
        Ok(self.loaded)
    }

    /// Reads one archive or class file that is in memory.
    pub(crate) fn bytes(mut self, name: &str, bytes: Arc<[u8]>) -> Result<Loaded, LoadError> {
        if bytes.starts_with(&CLASS_MAGIC) {
            let origin = name.to_owned();
            self.job(Job { origin, is_application: true, bytes: Bytes::Memory(bytes) })?;
        } else {
            match Archive::open(Storage::Memory(bytes), self.config.max_archive_bytes) {
                Ok(archive) => self.archive(&Container::outermost(name, true), archive, None)?,
                Err(error) => return Err(LoadError::Damaged { path: name.into(), error }),
            }
        }
        self.flush()?;
        Ok(self.loaded)
    }

    fn input(&mut self, input: &Input) -> Result<(), LoadError> {
        let path = &input.path;
        let name = path.to_string_lossy().into_owned();
        let is_application = input.is_application;
        match &input.kind {
            InputKind::ClassFile => {
                self.job(Job { origin: name, is_application, bytes: Bytes::File(path.clone()) })
            }
            InputKind::Directory if self.config.is_class_path => {
                self.directory(path, DirectoryContent::Classes, is_application)
            }
            InputKind::Directory => {
                self.directory(path, DirectoryContent::ClassesAndArchives, is_application)
            }
            InputKind::Archive if !self.is_new(path) => Ok(()),
            InputKind::Archive => {
                let storage = Storage::open(path)
                    .map_err(|error| LoadError::Unopenable { path: path.clone(), error })?;
                let looks_like_zip =
                    storage.read(0, 2).is_ok_and(|start| start == *b"PK") || is_archive(path);
                match Archive::open(storage, self.config.max_archive_bytes) {
                    Ok(archive) => self.archive(
                        &Container::outermost(&name, is_application),
                        archive,
                        path.parent(),
                    ),
                    Err(error) if looks_like_zip => {
                        Err(LoadError::Damaged { path: path.clone(), error })
                    }
                    Err(_) => Err(LoadError::NotAProgram { path: path.clone() }),
                }
            }
            InputKind::Image => {
                let image = JdkImage::open_image(path)?;
                self.image(image, &format!("{name}!/"), None, is_application)
            }
            InputKind::Jdk { jdk, module } => {
                let image = jdk.open()?;
                if let Some(module) = module
                    && !image.has_module(module)
                {
                    let (module, home) = (module.clone(), jdk.home.clone());
                    return Err(LoadError::NoSuchModule { module, home });
                }
                self.image(image, "jrt:", module.as_deref(), is_application)
            }
        }
    }

    fn image(
        &mut self,
        image: JdkImage,
        prefix: &str,
        module: Option<&str>,
        is_application: bool,
    ) -> Result<(), LoadError> {
        let image = Arc::new(image);
        for (module, name) in image.class_names(module) {
            let origin = if module.is_empty() {
                format!("{prefix}{name}.class")
            } else {
                format!("{prefix}{module}/{name}.class")
            };
            let (module, name) = (module.to_owned(), name.to_owned());
            let bytes = Bytes::Image { image: Arc::clone(&image), module, name };
            self.job(Job { origin, is_application, bytes })?;
        }
        Ok(())
    }

    fn directory(
        &mut self,
        root: &Path,
        content: DirectoryContent,
        is_application: bool,
    ) -> Result<(), LoadError> {
        // Depth first with the entries of each directory sorted is the order of the paths, but for
        // names that differ after a character below `/`; the order only has to be deterministic.
        let mut stack = vec![(root.to_owned(), EntryKind::Directory, 0)];
        while let Some((path, kind, depth)) = stack.pop() {
            match kind {
                EntryKind::Directory if depth > MAX_DIRECTORY_DEPTH => self.gap(
                    GapKind::Limit,
                    path.to_string_lossy(),
                    format!("directories nest deeper than {MAX_DIRECTORY_DEPTH} levels"),
                ),
                // A directory that is reached again through a link has been read.
                EntryKind::Directory if !self.is_new(&path) => {}
                EntryKind::Directory => match list(&path) {
                    Ok(entries) => stack.extend(
                        entries.into_iter().rev().map(|(path, kind)| (path, kind, depth + 1)),
                    ),
                    Err(error) if depth == 0 && content == DirectoryContent::ClassesAndArchives => {
                        return Err(error);
                    }
                    Err(error) => {
                        self.gap(GapKind::Unreadable, path.to_string_lossy(), error.to_string());
                    }
                },
                EntryKind::File if has_extension(&path, &["class"]) => {
                    let origin = path.to_string_lossy().into_owned();
                    self.job(Job { origin, is_application, bytes: Bytes::File(path) })?;
                }
                EntryKind::File
                    if content == DirectoryContent::ClassesAndArchives
                        && has_extension(&path, &["jar", "war", "ear"])
                        && self.is_new(&path) =>
                {
                    self.archive_file(&path, &path.to_string_lossy(), is_application)?;
                }
                EntryKind::File => {}
            }
        }
        Ok(())
    }

    /// Reads an archive that the user did not name: what is wrong with it is a gap.
    fn archive_file(
        &mut self,
        path: &Path,
        name: &str,
        is_application: bool,
    ) -> Result<(), LoadError> {
        let opened = Storage::open(path)
            .map_err(|error| fail(ReadErrorKind::Io(error.to_string()), 0))
            .and_then(|storage| Archive::open(storage, self.config.max_archive_bytes));
        match opened {
            Ok(archive) => {
                self.archive(&Container::outermost(name, is_application), archive, path.parent())
            }
            Err(error) => {
                self.gap(GapKind::Unreadable, name, error.to_string());
                Ok(())
            }
        }
    }

    /// Reads the classes of an archive and of the archives within. `directory` is where the paths of
    /// its manifest start; archives within archives have none.
    fn archive(
        &mut self,
        container: &Container<'_>,
        archive: Archive,
        directory: Option<&Path>,
    ) -> Result<(), LoadError> {
        let Container { name, is_application, depth } = *container;
        // What precedes this archive is counted first, so that the limit cuts in order.
        self.flush()?;
        if let Some(damage) = archive.damage() {
            let mut detail = format!(
                "{}; {} entries were recovered without it, and others may be lost",
                damage.error,
                archive.entries().len()
            );
            if !damage.lost.is_empty() {
                detail.push_str(&format!(" (among them {})", summary(&damage.lost)));
            }
            self.gap(GapKind::Unreadable, name, detail);
        }
        let manifest = self.manifest(&archive, name);
        if self.config.follow_class_path
            && let Some(directory) = directory
        {
            let named = manifest.class_path.iter().filter_map(|url| resolve(directory, url));
            // As for the JVM, what is not there does not matter.
            self.libraries.extend(named.filter(|path| path.exists()));
        }
        let archive = Arc::new(archive);
        for entry in jar::visible_entries(&archive, &manifest, self.config.release) {
            if self.is_full {
                break;
            }
            let origin = format!("{name}!/{}", entry.name);
            let path = Path::new(&entry.name);
            if has_extension(path, &["class"]) {
                let bytes = Bytes::Entry { archive: Arc::clone(&archive), entry: entry.clone() };
                self.job(Job { origin, is_application, bytes })?;
            } else if has_extension(path, &["jar", "war", "ear"]) && !entry.name.ends_with('/') {
                let inner = Container { name: &origin, is_application, depth: depth + 1 };
                self.inner_archive(&inner, &archive, entry)?;
            }
        }
        Ok(())
    }

    fn inner_archive(
        &mut self,
        inner: &Container<'_>,
        outer: &Archive,
        entry: &ArchiveEntry,
    ) -> Result<(), LoadError> {
        if inner.depth > u16::from(self.config.max_nesting) {
            let detail = format!("archives nest deeper than {} levels", self.config.max_nesting);
            self.gap(GapKind::Limit, inner.name, detail);
            return Ok(());
        }
        self.flush()?;
        let (bytes, count) = outer.read(entry, self.config.max_archive_bytes);
        self.count(count, inner.name);
        if self.is_full {
            return Ok(());
        }
        let opened = bytes
            .and_then(|bytes| Archive::open(Storage::Memory(bytes), self.config.max_archive_bytes));
        match opened {
            Ok(archive) => self.archive(inner, archive, None),
            Err(error) => {
                self.gap(GapKind::Unreadable, inner.name, error.to_string());
                Ok(())
            }
        }
    }

    fn manifest(&mut self, archive: &Archive, name: &str) -> Manifest {
        let Some(entry) = archive.find(Manifest::ENTRY) else { return Manifest::default() };
        let place = format!("{name}!/{}", Manifest::ENTRY);
        let (result, count) = archive.read(entry, self.config.max_entry_bytes);
        self.count(count, &place);
        match result {
            Ok(bytes) => Manifest::parse(&bytes),
            Err(error) => {
                self.gap(GapKind::Unreadable, place, error.to_string());
                Manifest::default()
            }
        }
    }

    /// Adds one class to the batch.
    fn job(&mut self, job: Job) -> Result<(), LoadError> {
        if self.is_full {
            return Ok(());
        }
        self.batch.push(job);
        if self.batch.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// Reads the classes of the batch in parallel, and takes over the results in order.
    fn flush(&mut self) -> Result<(), LoadError> {
        if self.progress.cancelled() {
            return Err(LoadError::Cancelled);
        }
        let batch = std::mem::take(&mut self.batch);
        let config = self.config;
        let outcomes: Vec<Outcome> = batch.par_iter().map(|job| job.run(config)).collect();
        for (job, outcome) in batch.into_iter().zip(outcomes) {
            self.count(outcome.bytes, &job.origin);
            if self.is_full {
                break;
            }
            self.classes_read += 1;
            match outcome.result {
                Ok(class) => self.take(class, job.origin, job.is_application),
                Err((kind, error)) => self.gap(kind, job.origin, error.to_string()),
            }
        }
        self.progress.classes_read(self.classes_read);
        Ok(())
    }

    fn take(&mut self, class: ClassFile, origin: String, is_application: bool) {
        if !class.version.is_known() {
            let detail = format!(
                "class-file version {} is not known; the class is read as if it were",
                class.version
            );
            self.gap(GapKind::UnknownVersion, &*origin, detail);
        }
        if let [first, rest @ ..] = &*class.skipped {
            let more = match rest.len() {
                0 => String::new(),
                count => format!(" (and {count} more)"),
            };
            let detail = format!("{first}{more}; the class is read without that");
            self.gap(GapKind::MalformedClass, &*origin, detail);
        }
        if class.has_access(access::MODULE) {
            return;
        }
        if let Some(&index) = self.known.get(&class.name) {
            let first = &self.loaded.classes[index];
            // A second copy of the same bytes hides nothing.
            if first.class.bytes != class.bytes {
                let known_from = first.origin.as_str().to_owned();
                self.duplicate(&class.name, &origin, &known_from);
            }
            return;
        }
        self.known.insert(Arc::clone(&class.name), self.loaded.classes.len());
        let origin = Origin::new(origin);
        self.loaded.classes.push(LoadedClass { class, origin, is_application });
    }

    /// Notes a second, different copy of a class. Two archives with the same library in two versions
    /// have thousands of those; they make one gap.
    fn duplicate(&mut self, class: &str, origin: &str, known_from: &str) {
        let key = (container_of(origin).to_owned(), container_of(known_from).to_owned());
        if let Some(&index) = self.duplicates.get(&key) {
            let gap = &mut self.loaded.gaps[index];
            let (container, known_container) = key;
            gap.count += 1;
            gap.detail = format!(
                "{} classes are already known from {known_container}, in another form",
                gap.count
            );
            gap.place = container;
        } else {
            self.duplicates.insert(key, self.loaded.gaps.len());
            let detail = format!("`{class}` is already known from {known_from}, in another form");
            self.gap(GapKind::DuplicateClass, origin, detail);
        }
    }

    /// Counts bytes that were read. The first to exceed the limit, and all that follows in order,
    /// is left out.
    fn count(&mut self, bytes: u64, place: &str) {
        self.bytes_read = self.bytes_read.saturating_add(bytes);
        if self.bytes_read > self.config.max_total_bytes && !self.is_full {
            self.is_full = true;
            let detail = format!(
                "the limit of {} bytes in total is reached; this and all that follows is left out",
                self.config.max_total_bytes
            );
            self.gap(GapKind::Limit, place, detail);
        }
    }

    fn gap(&mut self, kind: GapKind, place: impl Into<String>, detail: impl Into<String>) {
        self.loaded.gaps.push(Gap::new(kind, place, detail));
    }

    /// Whether a path has not been read before, under this name or another.
    fn is_new(&mut self, path: &Path) -> bool {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.visited.insert(real)
    }
}

/// One class to be read.
struct Job {
    origin: String,
    is_application: bool,
    bytes: Bytes,
}

/// Where the bytes of a class come from.
enum Bytes {
    File(PathBuf),
    Entry { archive: Arc<Archive>, entry: ArchiveEntry },
    Image { image: Arc<JdkImage>, module: String, name: String },
    Memory(Arc<[u8]>),
}

/// What became of one class, and how many bytes were read for it.
struct Outcome {
    result: Result<ClassFile, (GapKind, ReadError)>,
    bytes: u64,
}

impl Job {
    fn run(&self, config: &LoadConfig) -> Outcome {
        let (bytes, count) = match &self.bytes {
            Bytes::File(path) => {
                let bytes = read_file(path, config.max_entry_bytes);
                let count = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                (bytes, count)
            }
            Bytes::Entry { archive, entry } => archive.read(entry, config.max_entry_bytes),
            Bytes::Image { image, module, name } => {
                let bytes = image.read_in_module(module, name).and_then(|found| {
                    let kind = ReadErrorKind::Invalid("it is not there any more".to_owned());
                    found.ok_or_else(|| ReadError::at(kind, 0))
                });
                let count = bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
                (bytes, count)
            }
            Bytes::Memory(bytes) => (Ok(Arc::clone(bytes)), bytes.len() as u64),
        };
        let result = match bytes {
            Ok(bytes) => ClassFile::parse(bytes).map_err(|error| (GapKind::MalformedClass, error)),
            Err(error) => Err((GapKind::Unreadable, error)),
        };
        Outcome { result, bytes: count }
    }
}

/// An archive while it is walked.
struct Container<'a> {
    /// Its name in origins.
    name: &'a str,
    is_application: bool,
    /// How many archives it is inside of; wider than the limit on it, so that it can exceed that.
    depth: u16,
}

impl<'a> Container<'a> {
    fn outermost(name: &'a str, is_application: bool) -> Container<'a> {
        Container { name, is_application, depth: 0 }
    }
}

/// What is read below a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectoryContent {
    /// For a directory that the user names: whoever names `lib` means the jars in it.
    ClassesAndArchives,
    /// For a directory that a manifest names, where the JVM too looks for classes alone; `.` is a
    /// common entry, and must not draw in every jar beside the first.
    Classes,
}

fn read_file(path: &Path, limit: u64) -> Result<Arc<[u8]>, ReadError> {
    let mut bytes = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|error| fail(ReadErrorKind::Io(error.to_string()), 0))?;
    if bytes.len() as u64 > limit {
        return Err(fail(ReadErrorKind::TooLarge(limit), limit));
    }
    Ok(Arc::from(bytes))
}

/// The files and directories of a class path, each followed by what the manifest in it names, as a JVM searches them. What
/// a manifest names and is not there is left out; what cannot be read names nothing.
#[must_use]
pub fn with_manifest_class_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut visited = FxHashSet::default();
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = paths.iter().rev().cloned().collect();
    while let Some(path) = open.pop() {
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if !visited.insert(real) {
            continue;
        }
        let named = manifest_class_path(&path).unwrap_or_default();
        open.extend(named.into_iter().rev().filter(|path| path.exists()));
        found.push(path);
    }
    found
}

/// What the manifest of an archive names, if there is one.
fn manifest_class_path(path: &Path) -> Option<Vec<PathBuf>> {
    if !path.is_file() {
        return None;
    }
    let limits = LoadConfig::default();
    let archive = Archive::open(Storage::open(path).ok()?, limits.max_archive_bytes).ok()?;
    let (bytes, _) = archive.read(archive.find(Manifest::ENTRY)?, limits.max_entry_bytes);
    let directory = path.parent()?;
    let manifest = Manifest::parse(&bytes.ok()?);
    Some(manifest.class_path.iter().filter_map(|url| resolve(directory, url)).collect())
}

/// The file or directory that an entry of a manifest's class path means; nothing when it is not a
/// local one.
fn resolve(directory: &Path, url: &str) -> Option<PathBuf> {
    let path = match url.split_once(':') {
        Some(("file", path)) => {
            let start = path.len() - path.trim_start_matches('/').len();
            &path[start.saturating_sub(1)..]
        }
        Some(_) => return None,
        None => url,
    };
    Some(directory.join(&*percent_decode_str(path).decode_utf8_lossy()))
}

/// The archive or directory that an origin is in.
fn container_of(origin: &str) -> &str {
    match origin.rsplit_once("!/") {
        Some((archive, _)) => archive,
        None => origin.rsplit_once('/').map_or(".", |(directory, _)| directory),
    }
}

/// The first few names and how many more there are.
fn summary(names: &[String]) -> String {
    let shown = names.iter().take(3).map(|name| format!("`{name}`")).collect::<Vec<_>>();
    let mut text = shown.join(", ");
    if names.len() > shown.len() {
        text.push_str(&format!(" and {} more", names.len() - shown.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_path_urls() {
        let resolve = |url| resolve(Path::new("/lib"), url).map(|p| p.display().to_string());
        assert_eq!(resolve("a%20b.jar").as_deref(), Some("/lib/a b.jar"));
        assert_eq!(resolve("file:///opt/x.jar").as_deref(), Some("/opt/x.jar"));
        assert_eq!(resolve("file:/opt/x.jar").as_deref(), Some("/opt/x.jar"));
        assert_eq!(resolve("file:x.jar").as_deref(), Some("/lib/x.jar"));
        assert_eq!(resolve("http://example.org/x.jar"), None);
        assert_eq!(resolve("50%").as_deref(), Some("/lib/50%"));
    }
}
