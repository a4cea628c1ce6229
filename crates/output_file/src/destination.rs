//! What the name of an output stands for.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// As many symbolic links as Linux follows.
const MOST_LINKS: usize = 40;

/// What a name stands for, with symbolic links followed. Directories are none: they take no output.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// A regular file, or none yet: it may be written beside its place and renamed.
    Replaceable(PathBuf),
    /// A device, a pipe, or a file that must stay the same: it is opened and written to.
    InPlace(PathBuf),
    /// A descriptor, by the link that the system shows for it.
    Descriptor(PathBuf),
    /// A socket in the file system, which is connected to.
    Socket(PathBuf),
}

impl Destination {
    pub(crate) fn of(path: &Path) -> io::Result<Destination> {
        let target = follow_links(path)?;
        if is_descriptor(&target) {
            return Ok(Destination::Descriptor(target));
        }
        match fs::symlink_metadata(&target) {
            Ok(metadata) if metadata.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(metadata) if metadata.is_file() => Ok(Destination::Replaceable(target)),
            Ok(metadata) if is_socket(&metadata) => Ok(Destination::Socket(target)),
            Ok(_) => Ok(Destination::InPlace(target)),
            // `no-such-file/` names a directory.
            Err(error) if error.kind() == ErrorKind::NotFound && !names_directory(&target) => {
                Ok(Destination::Replaceable(target))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(ErrorKind::IsADirectory.into())
            }
            Err(error) => Err(error),
        }
    }
}

/// The name at the end of a chain of symbolic links, whether there is a file of this name or not. Links to
/// descriptors are not followed: what the system shows as their target need not be a name.
pub(crate) fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        if is_descriptor(&path) {
            return Ok(path);
        }
        match fs::read_link(&path) {
            // An absolute target replaces the whole path.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // This is no link, or nothing is there.
            Err(_) => return Ok(path),
        }
    }
    // The system has the right sentence for this.
    fs::metadata(&path).map(|_| path)
}

/// Whether a name is one of those that the system gives to open descriptors: `/proc/self/fd/1`, which
/// `/dev/stdout` and `/dev/fd/1` lead to.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    let number = path.file_name().and_then(|name| name.to_str());
    let is_number = number.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    is_number
        && path
            .parent()
            .and_then(|parent| fs::canonicalize(parent).ok())
            .is_some_and(|parent| parent.ends_with("fd") && parent.starts_with("/proc"))
}

/// Whether a name ends in a separator.
fn names_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().last().is_some_and(|&byte| byte == b'/')
}

#[cfg(unix)]
pub(crate) fn is_device(target: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::symlink_metadata(target).is_ok_and(|metadata| {
        metadata.file_type().is_char_device() || metadata.file_type().is_block_device()
    })
}

#[cfg(not(unix))]
pub(crate) fn is_device(_: &Path) -> bool {
    false
}

#[cfg(unix)]
fn is_socket(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_socket(_: &fs::Metadata) -> bool {
    false
}
