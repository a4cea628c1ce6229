//! Finding the source text of a site, so that reports can show excerpts.
//!
//! A class file names its source as `Vector.java` in the package `java.util`; where that file lies
//! is only known from the roots that the user gives. Nothing here fails once the roots are open: a
//! file that is not found, or cannot be read, only makes the report plainer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use zip::ZipArchive;

/// Where sources usually lie below the directory of a project or module.
const USUAL_PLACES: [&str; 5] = ["", "src/main/java", "src/main/kotlin", "src/main/scala", "src"];

/// No source file worth an excerpt is larger; an archive may claim anything.
const LARGEST_SOURCE: u64 = 16 << 20;

/// Source roots, and the texts already read from them.
#[derive(Default)]
pub struct Sources {
    roots: Vec<Root>,
    texts: RefCell<BTreeMap<String, Option<Rc<str>>>>,
}

enum Root {
    Directory(PathBuf),
    /// The archive, and for each path relative to a source root the index of its entry.
    Archive(RefCell<ZipArchive<BufReader<File>>>, BTreeMap<String, usize>),
}

impl Sources {
    /// Adds a source root: a directory, or an archive such as the JDK's `src.zip` and `-sources.jar`
    /// files. Below a directory the usual places of Maven and Gradle projects and of their modules
    /// are tried too, so that the root of a project is enough. Earlier roots win.
    ///
    /// # Errors
    /// When the root does not exist, or is a file but not a readable archive.
    pub fn add(&mut self, path: &Path) -> io::Result<()> {
        if fs::metadata(path)?.is_dir() {
            self.roots.extend(directories_below(path)?.into_iter().map(Root::Directory));
        } else {
            self.roots.push(open_archive(path)?);
        }
        // What was looked for in vain may be found now.
        self.texts.get_mut().retain(|_, text| text.is_some());
        Ok(())
    }

    /// Sources that are already in memory, by path relative to a source root.
    #[must_use]
    pub fn in_memory<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Sources {
        let texts = texts.into_iter().map(|(file, text)| (file.to_string(), Some(text.into())));
        Sources { roots: Vec::new(), texts: RefCell::new(texts.collect()) }
    }

    /// The text of `java/util/Vector.java`, from the first root that has it. The path must be
    /// relative and must not climb.
    pub(crate) fn text_of(&self, file: &str) -> Option<Rc<str>> {
        if let Some(known) = self.texts.borrow().get(file) {
            return known.clone();
        }
        let text: Option<Rc<str>> =
            self.roots.iter().find_map(|root| root.read(file)).map(Into::into);
        self.texts.borrow_mut().insert(file.to_string(), text.clone());
        text
    }

    /// Where `geometry/Line.java` lies below the working directory: `core/src/main/java/geometry/Line.java`, if a root that
    /// was given as a relative path has it.
    pub(crate) fn path_below_root(&self, file: &str) -> Option<String> {
        let directories = self.roots.iter().filter_map(|root| match root {
            Root::Directory(directory) if directory.is_relative() => Some(directory),
            Root::Directory(_) | Root::Archive(..) => None,
        });
        let path = directories.map(|root| root.join(file)).find(|path| path.is_file())?;
        let mut below = Vec::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => below.push(name.to_str()?),
                // Outside of the repository.
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(below.join("/"))
    }
}

impl Root {
    fn read(&self, file: &str) -> Option<String> {
        let mut bytes = Vec::new();
        match self {
            Root::Directory(directory) => {
                let file = File::open(directory.join(file)).ok()?;
                file.take(LARGEST_SOURCE).read_to_end(&mut bytes).ok()?;
            }
            Root::Archive(archive, entries) => {
                let mut archive = archive.borrow_mut();
                let entry = archive.by_index(*entries.get(file)?).ok()?;
                entry.take(LARGEST_SOURCE).read_to_end(&mut bytes).ok()?;
            }
        }
        // Old sources are often Latin-1; a replaced letter in a comment does no harm.
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The directory itself and its usual source places, then the same for each of its modules.
fn directories_below(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut modules: Vec<PathBuf> = fs::read_dir(root)?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    modules.sort();
    modules.insert(0, root.to_path_buf());
    let places =
        modules.iter().flat_map(|module| USUAL_PLACES.iter().map(|place| module.join(place)));
    Ok(places.filter(|place| place.is_dir()).collect())
}

/// Entries of the JDK's `src.zip` lie below the name of their module (`java.base/java/util/…`), so
/// each is also known without its first component; the full name wins.
fn open_archive(path: &Path) -> io::Result<Root> {
    let archive = ZipArchive::new(BufReader::new(File::open(path)?))?;
    let mut entries = BTreeMap::new();
    let mut below_modules = Vec::new();
    for index in 0..archive.len() {
        let Some(Ok(name)) = archive.name_for_index(index) else { continue };
        if let Some((_module, file)) = name.split_once('/') {
            below_modules.push((file.to_string(), index));
        }
        entries.insert(name.into_owned(), index);
    }
    for (file, index) in below_modules {
        entries.entry(file).or_insert(index);
    }
    Ok(Root::Archive(RefCell::new(archive), entries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_project_root_is_enough() {
        let root = tempfile::tempdir().unwrap();
        let package = root.path().join("core/src/main/java/p");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("A.java"), b"class A {} // caf\xe9").unwrap();
        let mut sources = Sources::default();
        sources.add(root.path()).unwrap();
        assert_eq!(sources.text_of("p/A.java").as_deref(), Some("class A {} // caf\u{fffd}"));
        assert_eq!(sources.text_of("p/B.java"), None);
    }

    #[test]
    fn an_archive_may_have_module_directories() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("src.zip");
        let mut writer = zip::ZipWriter::new(File::create(&path).unwrap());
        writer
            .start_file("java.base/java/util/Vector.java", zip::write::SimpleFileOptions::default())
            .unwrap();
        writer.write_all(b"class Vector {}").unwrap();
        writer.finish().unwrap();
        let mut sources = Sources::default();
        sources.add(&path).unwrap();
        assert_eq!(sources.text_of("java/util/Vector.java").as_deref(), Some("class Vector {}"));
        assert_eq!(sources.text_of("util/Vector.java"), None);
    }

    #[test]
    fn a_root_that_is_not_there_is_an_error() {
        assert!(Sources::default().add(Path::new("no/such/place")).is_err());
    }
}
