//! Finding a JDK and reading its classes.
//!
//! Library classes are read one by one, when something asks for them: a program needs a few hundred
//! of the thirty thousand.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::archive::{Archive, ArchiveEntry};
use crate::error::ReadError;
use crate::jimage::{Image, ImageLookup, ResourceLocation};
use crate::source::LoadError;
use crate::storage::Storage;

/// The jars that hold the classes of a JDK before Java 9, below its `lib` directory; only the first
/// must exist.
const OLD_JARS: [&str; 5] = ["rt.jar", "jce.jar", "jsse.jar", "charsets.jar", "jfr.jar"];

/// The largest class or archive of a JDK; one that is larger is damaged.
const MAX_BYTES: u64 = 256 << 20;

/// A JDK on this machine, or a Java runtime made from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// The directory that `JAVA_HOME` would name.
    pub home: PathBuf,
    /// The feature release: 8, 11, 17, …
    pub release: u16,
    library: Library,
}

/// Where the classes of a JDK are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Library {
    /// The module image of Java 9 and later.
    Image(PathBuf),
    /// The jars of Java 8 and before.
    Jars(Vec<PathBuf>),
}

impl Jdk {
    /// Finds the JDK to use: the one the user names, else that of `JAVA_HOME`, else that of the
    /// `java` command. It is no failure when there is none.
    ///
    /// # Errors
    /// When the user names a directory that is not a JDK.
    pub fn find(explicit: Option<&Path>) -> Result<Option<Jdk>, LoadError> {
        if let Some(home) = explicit {
            return match Jdk::at(home) {
                Some(jdk) => Ok(Some(jdk)),
                None => Err(LoadError::NotAJdk { path: home.to_owned() }),
            };
        }
        let from_home = env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
        if let Some(jdk) = from_home.and_then(|home| Jdk::at(Path::new(&home))) {
            return Ok(Some(jdk));
        }
        let path = env::var_os("PATH").unwrap_or_default();
        Ok(env::split_paths(&path).find_map(|directory| {
            // The command is usually a link into the JDK, whose `bin` directory it is really in.
            let command = fs::canonicalize(directory.join("java")).ok()?;
            Jdk::at(command.parent()?.parent()?)
        }))
    }

    /// The JDK at a directory, or at the image file within it; nothing when there is none.
    #[must_use]
    pub fn at(path: &Path) -> Option<Jdk> {
        let image = path.join("lib/modules");
        if image.is_file() {
            return Some(Jdk::with_library(path, Library::Image(image)));
        }
        for lib in ["jre/lib", "lib"] {
            if path.join(lib).join(OLD_JARS[0]).is_file() {
                let jars = OLD_JARS.iter().map(|jar| path.join(lib).join(jar));
                let jars = jars.filter(|jar| jar.is_file()).collect();
                return Some(Jdk::with_library(path, Library::Jars(jars)));
            }
        }
        let is_image_of_home = path.is_file() && path.ends_with("lib/modules");
        let home = path.parent()?.parent()?;
        is_image_of_home.then(|| Jdk::with_library(home, Library::Image(path.to_owned())))
    }

    fn with_library(home: &Path, library: Library) -> Jdk {
        let mut jdk = Jdk { home: home.to_owned(), release: 0, library };
        jdk.release = release_file(home).or_else(|| jdk.open().ok()?.release()).unwrap_or(
            match jdk.library {
                Library::Image(_) => 9,
                Library::Jars(_) => 8,
            },
        );
        jdk
    }

    /// Opens the classes of this JDK for reading.
    ///
    /// # Errors
    /// When they cannot be read, or the list of them makes no sense.
    pub fn open(&self) -> Result<JdkImage, LoadError> {
        match &self.library {
            Library::Image(path) => JdkImage::open_image(path),
            Library::Jars(paths) => JdkImage::open_jars(paths),
        }
    }
}

/// The release that the `release` file of a JDK names: `JAVA_VERSION="17.0.2"`, or `"1.8.0_392"`.
fn release_file(home: &Path) -> Option<u16> {
    let text = fs::read_to_string(home.join("release")).ok()?;
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    let version = version.trim().trim_matches('"');
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

/// Single classes of a JDK, found without listing the others: for whoever needs few of them soon.
#[derive(Debug)]
pub struct JdkLookup(ImageLookup);

impl JdkLookup {
    /// The module image of the JDK at a directory.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn open(home: &Path) -> Result<JdkLookup, LoadError> {
        let path = home.join("lib/modules");
        let lookup = ImageLookup::open(open(&path)?)
            .map_err(|error| LoadError::Damaged { path: path.clone(), error })?;
        Ok(JdkLookup(lookup))
    }

    /// The bytes of a class of a module; nothing when the module has no such class.
    ///
    /// # Errors
    /// When the class is there and cannot be read.
    pub fn read(&self, module: &str, internal_name: &str) -> Result<Option<Vec<u8>>, ReadError> {
        self.0.read(module, internal_name)
    }
}

/// The classes of a JDK. Any thread may read any class at any time.
#[derive(Debug)]
pub struct JdkImage {
    /// Sorted by module and name.
    classes: Vec<JdkClass>,
    /// Positions in `classes`, sorted by name alone.
    by_name: Vec<u32>,
}

#[derive(Debug)]
struct JdkClass {
    /// Empty before Java 9.
    module: String,
    /// Internal form.
    name: String,
    place: ClassLocation,
}

#[derive(Debug)]
enum ClassLocation {
    Image(Arc<Image>, ResourceLocation),
    Jar(Arc<Archive>, ArchiveEntry),
}

impl JdkImage {
    /// Opens a module image that need not be in a JDK.
    ///
    /// # Errors
    /// When the file cannot be read or is not a module image.
    pub fn open_image(path: &Path) -> Result<JdkImage, LoadError> {
        let (image, found) = Image::open(open(path)?)
            .map_err(|error| LoadError::Damaged { path: path.to_owned(), error })?;
        let image = Arc::new(image);
        let classes = found
            .into_iter()
            .map(|class| JdkClass {
                module: class.module,
                name: class.name,
                place: ClassLocation::Image(Arc::clone(&image), class.place),
            })
            .collect();
        Ok(JdkImage::new(classes))
    }

    fn open_jars(paths: &[PathBuf]) -> Result<JdkImage, LoadError> {
        let mut classes = Vec::new();
        for path in paths {
            let archive = Archive::open(open(path)?, MAX_BYTES)
                .map_err(|error| LoadError::Damaged { path: path.clone(), error })?;
            let archive = Arc::new(archive);
            for entry in archive.entries() {
                if let Some(name) = entry.name.strip_suffix(".class") {
                    let place = ClassLocation::Jar(Arc::clone(&archive), entry.clone());
                    classes.push(JdkClass { module: String::new(), name: name.to_owned(), place });
                }
            }
        }
        Ok(JdkImage::new(classes))
    }

    fn new(mut classes: Vec<JdkClass>) -> JdkImage {
        classes.sort_by(|a, b| (&a.module, &a.name).cmp(&(&b.module, &b.name)));
        let count = u32::try_from(classes.len()).unwrap_or(u32::MAX);
        let mut by_name: Vec<u32> = (0..count).collect();
        by_name.sort_by(|a, b| classes[*a as usize].name.cmp(&classes[*b as usize].name));
        JdkImage { classes, by_name }
    }

    /// The classes as pairs of module and internal name, sorted; of one module or of all. The
    /// module is empty before Java 9.
    pub fn class_names<'a>(
        &'a self,
        module: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a str, &'a str)> + 'a {
        let (start, end) = match module {
            None => (0, self.classes.len()),
            Some(module) => (
                self.classes.partition_point(|class| class.module.as_str() < module),
                self.classes.partition_point(|class| class.module.as_str() <= module),
            ),
        };
        self.classes[start..end].iter().map(|class| (class.module.as_str(), class.name.as_str()))
    }

    /// The bytes of a class; nothing when the JDK has no such class.
    ///
    /// # Errors
    /// When the class is listed and cannot be read.
    pub fn read(&self, internal_name: &str) -> Result<Option<Arc<[u8]>>, ReadError> {
        let index = self
            .by_name
            .partition_point(|index| self.classes[*index as usize].name.as_str() < internal_name);
        match self.by_name.get(index).map(|index| &self.classes[*index as usize]) {
            Some(class) if class.name == internal_name => JdkImage::bytes(class).map(Some),
            _ => Ok(None),
        }
    }

    /// The bytes of a class of a module; nothing when the module has no such class.
    ///
    /// # Errors
    /// When the class is listed and cannot be read.
    pub fn read_in_module(
        &self,
        module: &str,
        internal_name: &str,
    ) -> Result<Option<Arc<[u8]>>, ReadError> {
        let wanted = (module, internal_name);
        match self
            .classes
            .binary_search_by(|class| (class.module.as_str(), class.name.as_str()).cmp(&wanted))
        {
            Ok(index) => JdkImage::bytes(&self.classes[index]).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Whether the JDK has a module of this name.
    #[must_use]
    pub fn has_module(&self, module: &str) -> bool {
        self.class_names(Some(module)).next().is_some()
    }

    fn bytes(class: &JdkClass) -> Result<Arc<[u8]>, ReadError> {
        let result = match &class.place {
            ClassLocation::Image(image, place) => image.read(*place).map(Arc::from),
            ClassLocation::Jar(archive, entry) => archive.read(entry, MAX_BYTES).0,
        };
        result.map_err(|error| error.within(format!("`{}`", class.name)))
    }

    /// The feature release according to the version of `java/lang/Object`.
    fn release(&self) -> Option<u16> {
        let bytes = self.read("java/lang/Object").ok()??;
        let major = u16::from_be_bytes([*bytes.get(6)?, *bytes.get(7)?]);
        major.checked_sub(44)
    }
}

fn open(path: &Path) -> Result<Storage, LoadError> {
    Storage::open(path).map_err(|error| LoadError::Unopenable { path: path.to_owned(), error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_file_names_the_release() {
        let home = tempfile::tempdir().unwrap();
        for (version, release) in [
            ("\"17.0.19\"", Some(17)),
            ("\"1.8.0_392\"", Some(8)),
            ("\"25\"", Some(25)),
            ("", None),
        ] {
            let text = format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION={version}\n");
            fs::write(home.path().join("release"), text).unwrap();
            assert_eq!(release_file(home.path()), release);
        }
    }
}
