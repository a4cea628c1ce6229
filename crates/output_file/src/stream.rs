//! An output that is written as it comes.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::destination::Destination;

/// An open output. It is not buffered.
#[derive(Debug)]
pub struct Stream {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    File(File),
    #[cfg(unix)]
    Socket(std::os::unix::net::UnixStream),
}

impl Stream {
    pub(crate) fn open(destination: Destination) -> io::Result<Stream> {
        let kind = match destination {
            Destination::Replaceable(path) => Kind::File(File::create(path)?),
            // Emptied if it is a regular file after all; devices and pipes have no length.
            Destination::InPlace(path) => {
                Kind::File(File::options().write(true).truncate(true).open(path)?)
            }
            Destination::Descriptor(path) => Kind::File(descriptor(&path)?),
            Destination::Socket(path) => connect(&path)?,
        };
        Ok(Stream { kind })
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::File(file) => file.write(bytes),
            #[cfg(unix)]
            Kind::Socket(socket) => socket.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::File(file) => file.flush(),
            #[cfg(unix)]
            Kind::Socket(socket) => socket.flush(),
        }
    }
}

/// A second handle on a descriptor. Those of standard output and standard error share their position with the
/// others who write there. The system opens any other anew, at the beginning of a regular file; so it is
/// appended to, and what stands there stays.
fn descriptor(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let own = std::fs::canonicalize("/proc/self/fd");
        let is_own = path.parent().is_some_and(|parent| {
            std::fs::canonicalize(parent)
                .ok()
                .is_some_and(|parent| own.is_ok_and(|own| own == parent))
        });
        let number = path.file_name().and_then(|name| name.to_str());
        match number {
            Some("1") if is_own => {
                return Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?));
            }
            Some("2") if is_own => {
                return Ok(File::from(io::stderr().as_fd().try_clone_to_owned()?));
            }
            _ => {}
        }
    }
    File::options().append(true).open(path)
}

#[cfg(unix)]
fn connect(path: &Path) -> io::Result<Kind> {
    std::os::unix::net::UnixStream::connect(path).map(Kind::Socket)
}

#[cfg(not(unix))]
fn connect(_: &Path) -> io::Result<Kind> {
    Err(io::ErrorKind::Unsupported.into())
}
