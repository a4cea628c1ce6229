//! Writes what a user names as an output.
//!
//! A name may stand for anything: a regular file, a device, a pipe, a socket, a descriptor of this process
//! (`/dev/stdout`, `/dev/fd/3`), or a symbolic link to any of these. Only regular files and files that are
//! not there yet are written beside their place and then renamed, so that a reader sees a whole file or
//! none. Everything else is written to, and stays what it is: a rename would put a regular file in its
//! place.

mod destination;
mod stream;
mod terminal;

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::destination::Destination;
pub use crate::stream::Stream;
pub use crate::terminal::harmless;

/// Writes an output as a whole. A regular file is replaced once everything is written; until then, and after a
/// failure, it stays as it was. It keeps its owner and its permissions.
///
/// # Errors
/// Those of `write` and of the file system. A reader of a pipe or a socket that has seen enough is none.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let target = match Destination::of(path)? {
        Destination::Replaceable(target) => target,
        stays => return write_in_place(stays, write),
    };
    let before = writable_metadata(&target)?;
    let temporary = match (temporary_beside(&target), &before) {
        (Ok(temporary), _) => {
            let path = temporary.path().to_path_buf();
            BEGUN.lock().unwrap_or_else(PoisonError::into_inner).push(path);
            temporary
        }
        // The file may be written, and its directory may not: there is no other way to keep it.
        (Err(error), Some(_)) if error.kind() == ErrorKind::PermissionDenied => {
            return write_in_place(Destination::InPlace(target), write);
        }
        (Err(error), _) => return Err(error),
    };
    if let Some(before) = &before
        && !keeps_owner(temporary.as_file(), before)
    {
        drop(temporary);
        return write_in_place(Destination::InPlace(target), write);
    }
    let mut writer = BufWriter::new(temporary);
    write(&mut writer)?;
    let temporary = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// The files beside outputs that have ever been there in this process; those that were finished have other names now.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes what is written of outputs that are not finished, for a process that ends at once.
pub fn remove_unfinished() {
    for path in BEGUN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // Most are gone.
        let _ = fs::remove_file(path);
    }
}

/// Writes a file that only its user may read, in a directory that others may write to: a link or file of that name is
/// replaced and not followed, and nobody can guess the name that it has until then.
///
/// # Errors
/// Those of the file system.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut temporary = temporary_in(path, None)?;
    temporary.as_file_mut().write_all(bytes)?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Opens an output that is written as it comes, for those who cannot wait for the end. A regular file is
/// emptied.
///
/// # Errors
/// Those of the file system.
pub fn open(path: &Path) -> io::Result<Stream> {
    Stream::open(Destination::of(path)?)
}

/// Gives a finished file the name of an output: a rename where that replaces a regular file or none, otherwise
/// its contents are written to the output. The finished file is gone afterwards.
///
/// # Errors
/// Those of the file system. The finished file is still there then.
pub fn put_in_place(finished: &Path, path: &Path) -> io::Result<()> {
    let copy = || {
        let mut from = File::open(finished)?;
        write_whole(path, |writer| io::copy(&mut from, writer).map(drop))?;
        fs::remove_file(finished)
    };
    let Destination::Replaceable(target) = Destination::of(path)? else { return copy() };
    if let Some(before) = writable_metadata(&target)?
        && !keeps_owner(&File::open(finished)?, &before)
    {
        return copy();
    }
    match fs::rename(finished, &target) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => copy(),
        renamed => renamed,
    }
}

/// Whether an output is a regular file, or one that is not there yet: something that can have neighbours and be
/// read back.
#[must_use]
pub fn is_regular_or_new(path: &Path) -> bool {
    !matches!(
        Destination::of(path),
        Ok(Destination::InPlace(_) | Destination::Descriptor(_) | Destination::Socket(_))
    )
}

/// Whether an output is a device, such as `/dev/null`: any number of processes may write to it at once.
#[must_use]
pub fn is_device(path: &Path) -> bool {
    matches!(Destination::of(path), Ok(Destination::InPlace(target)) if destination::is_device(&target))
}

/// Whether an output could be written now, for commands that do long work before they write it. Nothing is
/// written, and nothing that would wait is opened.
///
/// # Errors
/// Why it could not.
pub fn check(path: &Path) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Replaceable(target) => match writable_metadata(&target)? {
            Some(_) => Ok(()),
            None => temporary_beside(&target).map(drop),
        },
        Destination::InPlace(_) | Destination::Descriptor(_) | Destination::Socket(_) => Ok(()),
    }
}

/// Why an output could not be written, and what to do about it.
#[must_use]
pub fn reason(error: &io::Error, path: &Path) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            let target = destination::follow_links(path).unwrap_or_else(|_| path.to_path_buf());
            if destination::is_descriptor(&target) {
                return "there is no such descriptor".to_string();
            }
            let directory = target.parent().unwrap_or(&target);
            format!("the directory `{}` does not exist, create it first", directory.display())
        }
        ErrorKind::PermissionDenied => "no permission, choose another file".to_string(),
        ErrorKind::StorageFull => {
            "the disk is full, choose another disk or free some space".to_string()
        }
        ErrorKind::IsADirectory => "it is a directory, give a file name in it".to_string(),
        ErrorKind::NotADirectory => "a part of the path is not a directory".to_string(),
        ErrorKind::ConnectionRefused => "nobody listens at this socket".to_string(),
        _ => error.to_string(),
    }
}

fn write_in_place(
    destination: Destination,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(Stream::open(destination)?);
    match write(&mut writer).and_then(|()| writer.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // What is left in the buffer would fail again when it is dropped.
            drop(writer.into_parts());
            Ok(())
        }
        written => written,
    }
}

/// What is known of a file that is to be replaced; nothing if it is not there yet. A file that may not be
/// written is not replaced either, although a rename asks for the permissions of the directory only.
fn writable_metadata(target: &Path) -> io::Result<Option<Metadata>> {
    match File::options().write(true).open(target) {
        Ok(file) => file.metadata().map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn temporary_beside(target: &Path) -> io::Result<NamedTempFile> {
    temporary_in(target, new_file_permissions())
}

/// A new file beside another one; private unless it is given permissions.
fn temporary_in(target: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".scission-").suffix(".tmp");
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    // Errors of `tempfile` name the temporary file, which nobody has heard of.
    builder.tempfile_in(directory).map_err(|error| match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    })
}

/// Temporary files are private by default; an output is a file like any other.
#[cfg(unix)]
fn new_file_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn new_file_permissions() -> Option<Permissions> {
    None
}

/// Gives a file the owner and the permissions of the one it is to replace, and says whether it could.
#[cfg(unix)]
fn keeps_owner(file: &File, before: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt, fchown};
    let Ok(now) = file.metadata() else { return false };
    let is_owned = (now.uid(), now.gid()) == (before.uid(), before.gid())
        || fchown(file, Some(before.uid()), Some(before.gid())).is_ok();
    // Last: a change of the owner clears the bits that lend his rights.
    is_owned && file.set_permissions(before.permissions()).is_ok()
}

#[cfg(not(unix))]
fn keeps_owner(file: &File, before: &Metadata) -> bool {
    file.set_permissions(before.permissions()).is_ok()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_failure_leaves_the_older_file_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        fs::write(&path, "older").unwrap();
        let half = |writer: &mut dyn Write| {
            writer.write_all(b"half a rep")?;
            Err(ErrorKind::StorageFull.into())
        };
        assert_eq!(write_whole(&path, half).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "older");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_finished_can_be_removed() {
        let directory = tempfile::tempdir().unwrap();
        write_whole(&directory.path().join("out.json"), |writer| {
            writer.write_all(b"half a report")?;
            assert_eq!(fs::read_dir(directory.path())?.count(), 1);
            remove_unfinished();
            assert_eq!(fs::read_dir(directory.path())?.count(), 0);
            Err(ErrorKind::Interrupted.into())
        })
        .unwrap_err();
        write_whole(&directory.path().join("out.json"), |writer| writer.write_all(b"whole"))
            .unwrap();
        remove_unfinished();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_new_file_has_the_permissions_of_any_other() {
        let directory = tempfile::tempdir().unwrap();
        let (ours, plain) = (directory.path().join("ours"), directory.path().join("plain"));
        write_whole(&ours, |writer| writer.write_all(b"text")).unwrap();
        File::create(&plain).unwrap();
        assert_eq!(mode(&ours), mode(&plain));
    }

    #[test]
    fn a_finished_file_takes_the_place_of_a_regular_one_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("old"), "old").unwrap();
        fs::set_permissions(path("old"), PermissionsExt::from_mode(0o600)).unwrap();
        symlink("old", path("link")).unwrap();
        symlink("new", path("dangling")).unwrap();
        for (name, target) in [("link", "old"), ("dangling", "new"), ("plain", "plain")] {
            fs::write(path("finished"), name).unwrap();
            put_in_place(&path("finished"), &path(name)).unwrap();
            assert_eq!(fs::read_to_string(path(target)).unwrap(), name);
            assert!(!path("finished").exists());
        }
        assert_eq!(mode(&path("old")), 0o600);
        for link in ["link", "dangling"] {
            assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink());
        }
        fs::write(path("finished"), "kept").unwrap();
        assert!(put_in_place(&path("finished"), directory.path()).is_err());
        assert_eq!(fs::read_to_string(path("finished")).unwrap(), "kept");
    }

    #[test]
    fn what_is_checked_is_not_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("old"), "old").unwrap();
        check(&path("old")).unwrap();
        check(&path("new")).unwrap();
        assert_eq!(check(&path("no/new")).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(check(&path("no/")).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(check(directory.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(check(&path("old/new")).unwrap_err().kind(), ErrorKind::NotADirectory);
        assert_eq!(fs::read_to_string(path("old")).unwrap(), "old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_descriptor_is_told_from_a_file_of_the_same_name() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("fd")).unwrap();
        assert!(is_regular_or_new(&directory.path().join("fd/1")));
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/2"] {
            assert!(!is_regular_or_new(Path::new(name)), "{name}");
            assert!(!is_device(Path::new(name)), "{name}");
        }
        let closed = Path::new("/dev/fd/4095");
        let error = write_whole(closed, |_| Ok(())).unwrap_err();
        assert_eq!(reason(&error, closed), "there is no such descriptor");
        assert!(is_device(Path::new("/dev/null")));
    }
}
