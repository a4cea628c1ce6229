//! Finding the classes that a user names: directories, class files, jars in all their forms, class
//! paths and the JDK's own modules.
//!
//! Inputs are walked in the order in which they were given and entries in order of name, so that the
//! result is the same on every run. What cannot be read becomes a gap; only an input that the user
//! named, and of which nothing can be read at all, is an error. The walk itself is in `loader`.

use std::fmt;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use findings::Gap;

use crate::classfile::ClassFile;
use crate::error::ReadError;
use crate::jdk::Jdk;
use crate::jimage;
use crate::loader::Loader;

/// What [`load`] reads and where it stops.
#[derive(Clone, Debug)]
pub struct LoadConfig {
    /// The Java release whose view of multi-release jars is taken.
    pub release: u16,
    /// The largest class, in bytes.
    pub max_entry_bytes: u64,
    /// The largest archive within an archive, and the largest damaged archive that is recovered, in
    /// bytes.
    pub max_archive_bytes: u64,
    /// How many bytes are read in total, counted after decompression.
    pub max_total_bytes: u64,
    /// How deep archives may nest in archives.
    pub max_nesting: u8,
    /// Whether the inputs are the entries of a class path, as a JVM reads them: archives below directories do not belong
    /// to it, and what manifests name belongs to the program.
    pub is_class_path: bool,
    /// Whether the `Class-Path` of a jar's manifest is followed.
    pub follow_class_path: bool,
    /// Class paths with the libraries that the program needs; their classes are not analysed for
    /// their own sake.
    pub libraries: Vec<PathBuf>,
    /// The JDK that `jrt:` inputs refer to.
    pub jdk: Option<Jdk>,
}

impl Default for LoadConfig {
    fn default() -> LoadConfig {
        LoadConfig {
            release: 17,
            max_entry_bytes: 64 << 20,
            max_archive_bytes: 1 << 30,
            max_total_bytes: 8 << 30,
            max_nesting: 3,
            is_class_path: false,
            follow_class_path: true,
            libraries: Vec::new(),
            jdk: None,
        }
    }
}

/// Receives the progress of reading.
pub trait Progress: Sync {
    /// So many classes have been read since the start.
    fn classes_read(&self, total: usize);

    /// Whether to stop; asked between batches.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Nobody wants to know.
impl Progress for () {
    fn classes_read(&self, _total: usize) {}
}

/// Everything that was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// In the order of the inputs, then of the entry names; no two have the same name.
    pub classes: Vec<LoadedClass>,
    /// What could not be read, in the same order.
    pub gaps: Vec<Gap>,
}

/// A class, and where it was found.
#[derive(Debug)]
pub struct LoadedClass {
    /// The class itself.
    pub class: ClassFile,
    /// Where it was found.
    pub origin: Origin,
    /// Whether it belongs to the program that the user wants analysed, and not to a library.
    pub is_application: bool,
}

/// Where a class was found, as a user would write it: `app.jar!/BOOT-INF/lib/x.jar!/p/A.class`.
/// File names are as the user gave them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin(Arc<str>);

impl Origin {
    pub(crate) fn new(text: String) -> Origin {
        Origin(Arc::from(text))
    }

    /// The place as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why an input that the user named cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is nothing at the path.
    #[error("there is no file or directory `{}`", path.display())]
    Missing {
        /// As the user gave it.
        path: PathBuf,
    },
    /// The operating system does not let us read it.
    #[error("cannot open `{}`: {error}", path.display())]
    Unopenable {
        /// As the user gave it.
        path: PathBuf,
        /// What the operating system says.
        error: std::io::Error,
    },
    /// It is none of the things that hold classes.
    #[error("`{}` is not a class file, a jar, a JDK image or a directory", path.display())]
    NotAProgram {
        /// As the user gave it.
        path: PathBuf,
    },
    /// It looks like an archive or an image, and nothing in it can be read.
    #[error("cannot read `{}`: {error}", path.display())]
    Damaged {
        /// As the user gave it.
        path: PathBuf,
        /// What is wrong with its bytes.
        error: ReadError,
    },
    /// A directory that was named as a JDK is none.
    #[error("`{}` is not a JDK: it has neither lib/modules nor lib/rt.jar", path.display())]
    NotAJdk {
        /// As the user gave it.
        path: PathBuf,
    },
    /// A module of the JDK is asked for, and there is no JDK.
    #[error("`jrt:{module}` needs a JDK, and none was found")]
    NoJdk {
        /// The module.
        module: String,
    },
    /// A module that the JDK does not have.
    #[error("the JDK at `{}` has no module `{module}`", home.display())]
    NoSuchModule {
        /// The module.
        module: String,
        /// The JDK that was looked at.
        home: PathBuf,
    },
    /// [`Progress::cancelled`] said so.
    #[error("cancelled")]
    Cancelled,
}

/// Reads every class of the inputs, then those of the libraries.
///
/// # Errors
/// When an input does not exist, cannot be opened, or is nothing that holds classes; and when the
/// caller cancels.
pub fn load(
    paths: &[PathBuf],
    config: &LoadConfig,
    progress: &dyn Progress,
) -> Result<Loaded, LoadError> {
    let mut class_path = ClassPath::new(paths, config.jdk.as_ref(), true)?;
    class_path.inputs.extend(ClassPath::new(&config.libraries, config.jdk.as_ref(), false)?.inputs);
    Loader::new(config, progress).inputs(class_path)
}

/// Reads the classes of one archive or class file that is in memory already.
///
/// # Errors
/// When the bytes are nothing that holds classes, and when the caller cancels.
pub fn load_bytes(
    name: &str,
    bytes: Arc<[u8]>,
    config: &LoadConfig,
    progress: &dyn Progress,
) -> Result<Loaded, LoadError> {
    Loader::new(config, progress).bytes(name, bytes)
}

/// What the user asked for, taken apart: one input for each thing that holds classes.
#[derive(Clone, Debug, Default)]
pub struct ClassPath {
    /// In the order in which they are searched.
    pub inputs: Vec<Input>,
}

/// One thing that holds classes.
#[derive(Clone, Debug)]
pub struct Input {
    /// As the user gave it.
    pub path: PathBuf,
    /// What it is.
    pub kind: InputKind,
    /// Whether its classes belong to the program that the user wants analysed.
    pub is_application: bool,
}

/// The things that hold classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A single class.
    ClassFile,
    /// A directory with class files and archives anywhere below it.
    Directory,
    /// A jar, war, jmod or other zip archive.
    Archive,
    /// A module image outside any JDK.
    Image,
    /// All modules of a JDK, or one of them.
    Jdk {
        /// The JDK.
        jdk: Jdk,
        /// The one module that is meant.
        module: Option<String>,
    },
}

/// The first bytes of every class file.
pub(crate) const CLASS_MAGIC: [u8; 4] = [0xca, 0xfe, 0xba, 0xbe];

impl ClassPath {
    /// Takes apart what the user gave: files and directories, lists of them with `:` between, `dir/*`
    /// for all jars of a directory, `jrt:java.base` for a module of the JDK.
    ///
    /// # Errors
    /// When something does not exist or cannot be opened.
    pub fn new(
        paths: &[PathBuf],
        jdk: Option<&Jdk>,
        is_application: bool,
    ) -> Result<ClassPath, LoadError> {
        let mut class_path = ClassPath::default();
        for path in paths {
            class_path.add(path, jdk, is_application)?;
        }
        Ok(class_path)
    }

    fn add(
        &mut self,
        path: &Path,
        jdk: Option<&Jdk>,
        is_application: bool,
    ) -> Result<(), LoadError> {
        let mut push = |path: &Path, kind| {
            self.inputs.push(Input { path: path.to_owned(), kind, is_application });
        };
        if path.exists() {
            push(path, kind_of(path)?);
            return Ok(());
        }
        let text = path.to_string_lossy();
        if let Some(module) = text.strip_prefix("jrt:") {
            let found = match jdk {
                Some(jdk) => Some(jdk.clone()),
                None => Jdk::find(None)?,
            };
            let jdk = found.ok_or_else(|| LoadError::NoJdk { module: module.to_owned() })?;
            let module = Some(module.to_owned());
            push(path, InputKind::Jdk { jdk, module });
            return Ok(());
        }
        if path.ends_with("*")
            && let Some(directory) = path.parent()
            && (directory.as_os_str().is_empty() || directory.is_dir())
        {
            for (jar, kind) in list(directory)? {
                if kind == EntryKind::File && has_extension(&jar, &["jar"]) {
                    push(&jar, InputKind::Archive);
                }
            }
            return Ok(());
        }
        if text.contains(':') {
            for part in text.split(':').filter(|part| !part.is_empty()) {
                self.add(Path::new(part), jdk, is_application)?;
            }
            return Ok(());
        }
        Err(LoadError::Missing { path: path.to_owned() })
    }
}

/// What an existing path is, by its content and not by its name.
fn kind_of(path: &Path) -> Result<InputKind, LoadError> {
    let unopenable = |error| LoadError::Unopenable { path: path.to_owned(), error };
    if path.is_dir() {
        return Ok(match Jdk::at(path) {
            Some(jdk) => InputKind::Jdk { jdk, module: None },
            None => InputKind::Directory,
        });
    }
    let mut start = Vec::new();
    fs::File::open(path)
        .and_then(|file| file.take(4).read_to_end(&mut start))
        .map_err(unopenable)?;
    if start == CLASS_MAGIC {
        Ok(InputKind::ClassFile)
    } else if jimage::is_image(&start) {
        Ok(InputKind::Image)
    } else {
        // An archive may start with anything: self-starting jars begin with a shell script.
        Ok(InputKind::Archive)
    }
}

/// What an entry of a directory is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Directory,
}

/// The files and directories in a directory, sorted by name, links followed.
pub(crate) fn list(directory: &Path) -> Result<Vec<(PathBuf, EntryKind)>, LoadError> {
    let unopenable = |error| LoadError::Unopenable { path: directory.to_owned(), error };
    // The empty path is how the parent of a bare file name is written.
    let real = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let mut entries = Vec::new();
    for entry in fs::read_dir(real).map_err(unopenable)? {
        let path = directory.join(entry.map_err(unopenable)?.file_name());
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => entries.push((path, EntryKind::Directory)),
            Ok(metadata) if metadata.is_file() => entries.push((path, EntryKind::File)),
            // Sockets and the like hold no classes, and neither do broken links.
            Ok(_) | Err(_) => {}
        }
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries)
}

/// Whether a file is an archive of classes, by its name.
#[must_use]
pub fn is_archive(path: &Path) -> bool {
    has_extension(path, &["jar", "zip", "war", "ear", "jmod"])
}

/// Whether the extension of a path is one of these, in upper or lower case.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|found| {
        extensions.iter().any(|extension| found.eq_ignore_ascii_case(extension))
    })
}
