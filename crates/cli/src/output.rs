//! Writes reports to standard output, or atomically to a file. `output_file` handles devices, pipes and links.

use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use findings::Results;
use output_file::{reason, write_whole};
use report::{Detail, Format, Options, Sources};

use crate::flags::{self, Color, PresentationFlags};
use crate::terminal_text::{HarmlessWriter, harmless, say};

/// The width of excerpts if there is no terminal.
const DEFAULT_WIDTH: usize = 140;

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Screen,
    File(PathBuf),
}

impl Destination {
    /// The file given with `--output`, where `-` means the screen as it does elsewhere.
    pub(crate) fn new(output: Option<&Path>) -> Destination {
        match output {
            None => Destination::Screen,
            Some(path) if path == Path::new("-") => Destination::Screen,
            Some(path) => Destination::File(path.to_path_buf()),
        }
    }
}

/// How a report is to look.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) format: Format,
    pub(crate) detail: Detail,
    pub(crate) color: Color,
    /// Where graphs of cycles were written to.
    pub(crate) graphs: Option<PathBuf>,
    /// How many findings text shows.
    pub(crate) most_findings: usize,
}

/// How many findings text shows, unless the user says it: what a person may read.
const USUAL_FINDINGS: usize = 50;

impl Style {
    pub(crate) fn new(flags: &PresentationFlags) -> Style {
        Style {
            format: match flags.format {
                flags::Format::Text => Format::Text,
                flags::Format::Json => Format::Json,
                flags::Format::Sarif => Format::Sarif,
            },
            detail: match (flags.quiet, flags.verbose) {
                (true, _) => Detail::Quiet,
                (false, false) => Detail::Normal,
                (false, true) => Detail::Verbose,
            },
            color: flags.color,
            graphs: None,
            most_findings: match flags.max_findings {
                Some(0) => usize::MAX,
                Some(most) => most,
                None if flags.verbose => usize::MAX,
                None => USUAL_FINDINGS,
            },
        }
    }

    /// The same, for a report that names the files with the graphs of its cycles.
    pub(crate) fn with_graphs(self, directory: Option<&Path>) -> Style {
        Style { graphs: directory.map(Path::to_path_buf), ..self }
    }

    fn options<'a>(&'a self, sources: &'a Sources, colored: bool, width: usize) -> Options<'a> {
        Options {
            sources,
            detail: self.detail,
            colored,
            width,
            graphs: self.graphs.as_deref(),
            most_findings: self.most_findings,
        }
    }
}

/// Standard output or standard error, and what it can show. Tests put a buffer in its place.
pub(crate) struct Screen {
    name: &'static str,
    writer: Box<dyn Write>,
    is_terminal: bool,
    colored: bool,
    width: usize,
}

impl Screen {
    pub(crate) fn standard_output(color: Color) -> Screen {
        let (stdout, width) = (io::stdout(), terminal_size::terminal_size_of(io::stdout()));
        Screen::new("standard output", stdout, width.map(|(width, _)| width.0), color)
    }

    pub(crate) fn standard_error(color: Color) -> Screen {
        let (stderr, width) = (io::stderr(), terminal_size::terminal_size_of(io::stderr()));
        Screen::new("standard error", stderr, width.map(|(width, _)| width.0), color)
    }

    fn new<S: anstream::stream::RawStream + 'static>(
        name: &'static str,
        stream: S,
        width: Option<u16>,
        color: Color,
    ) -> Screen {
        let colored = match color {
            Color::Always => true,
            Color::Never => false,
            // Respects NO_COLOR and its relatives, and dumb terminals.
            Color::Auto => anstream::AutoStream::choice(&stream) != anstream::ColorChoice::Never,
        };
        let width = width.map_or(DEFAULT_WIDTH, usize::from);
        let is_terminal = stream.is_terminal();
        Screen { name, writer: Box::new(BufWriter::new(stream)), is_terminal, colored, width }
    }
}

/// Writes the report. If its file cannot be written, the findings go to the screen as text, so
/// that they are not lost, and an error is returned.
pub(crate) fn deliver(
    results: &Results,
    destination: &Destination,
    style: &Style,
    sources: &Sources,
    screen: Screen,
) -> anyhow::Result<()> {
    let Destination::File(path) = destination else {
        return to_screen(style.format, results, style, sources, screen);
    };
    let colored = style.color == Color::Always;
    let options = style.options(sources, colored, DEFAULT_WIDTH);
    let write = |writer: &mut dyn Write| report::render(style.format, results, &options, writer);
    let Err(error) = write_whole(path, write) else { return Ok(()) };
    let screen_name = screen.name;
    let everything = Style { most_findings: usize::MAX, ..style.clone() };
    to_screen(Format::Text, results, &everything, sources, screen)?;
    Err(anyhow!(
        "cannot write `{}`: {}; the findings were printed to {screen_name} instead",
        path.display(),
        reason(&error, path)
    ))
}

/// Writes an output: atomically to a file, or as a stream to a device, pipe or socket.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> anyhow::Result<()> {
    write_whole(path, write)
        .map_err(|error| anyhow!("cannot write `{}`: {}", path.display(), reason(&error, path)))
}

/// Writes the page of `--html`, if one is asked for.
pub(crate) fn write_page(
    flags: &PresentationFlags,
    results: &Results,
    sources: &Sources,
) -> anyhow::Result<()> {
    let Some(path) = &flags.html else { return Ok(()) };
    write_file(path, |writer| report::render_page(results, sources, writer))
}

/// Refuses an output that could not be written, before long work is done for it.
pub(crate) fn refuse_unwritable(path: &Path) -> anyhow::Result<()> {
    output_file::check(path)
        .map_err(|error| anyhow!("cannot write `{}`: {}", path.display(), reason(&error, path)))
}

/// Makes a directory for outputs, unless it is there.
pub(crate) fn make_directory(path: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(path).map_err(|error| {
        let why = match error.kind() {
            ErrorKind::AlreadyExists => "there is something else of this name".to_string(),
            ErrorKind::PermissionDenied => "no permission, choose another directory".to_string(),
            _ => error.to_string(),
        };
        anyhow!("cannot make the directory `{}`: {why}", path.display())
    })
}

/// Makes a directory for what only this user may read, unless it is there. Then it stays as the user has made it: files in it
/// are private all the same, but where everybody may write, some may be of others.
pub(crate) fn make_private_directory(path: &Path) -> anyhow::Result<()> {
    if let Ok(metadata) = path.metadata()
        && metadata.is_dir()
    {
        if everybody_may_write(&metadata) {
            say(format_args!(
                "warning: everybody may write to `{}`, so that results in it may be of others",
                path.display()
            ));
        }
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => Ok(()),
        // The reasons are the same.
        Err(_) => make_directory(path),
    }
}

#[cfg(unix)]
fn everybody_may_write(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o002 != 0
}

#[cfg(not(unix))]
fn everybody_may_write(_: &std::fs::Metadata) -> bool {
    false
}

/// Prints a text to standard output.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(harmless(text).as_bytes()).and_then(|()| stdout.flush());
    ignore_broken_pipe(written, "standard output")
}

/// Writes to standard output as it comes.
pub(crate) fn stream(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
    let is_terminal = io::stdout().is_terminal();
    let mut stdout = BufWriter::new(io::stdout().lock());
    let written =
        if is_terminal { write(&mut HarmlessWriter::new(&mut stdout)) } else { write(&mut stdout) };
    ignore_broken_pipe(written.and_then(|()| stdout.flush()), "standard output")
}

fn to_screen(
    format: Format,
    results: &Results,
    style: &Style,
    sources: &Sources,
    screen: Screen,
) -> anyhow::Result<()> {
    let Screen { name, mut writer, is_terminal, colored, width } = screen;
    let options = style.options(sources, colored, width);
    let written = if is_terminal || format == Format::Text {
        let mut harmless = HarmlessWriter::new(&mut *writer);
        report::render(format, results, &options, &mut harmless)
    } else {
        report::render(format, results, &options, &mut *writer)
    };
    ignore_broken_pipe(written.and_then(|()| writer.flush()), name)
}

/// A reader that has seen enough (`| head`) is no failure.
fn ignore_broken_pipe(written: io::Result<()>, name: &str) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(anyhow!("cannot write to {name}: {error}")),
        Ok(()) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;
    use std::sync::{Arc, Mutex};

    use findings::{Evidence, Finding, Severity, Site};

    /// A screen whose text a test can read.
    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Buffer {
        fn screen(&self) -> Screen {
            let writer = Box::new(self.clone());
            Screen {
                name: "standard output",
                writer,
                is_terminal: false,
                colored: false,
                width: DEFAULT_WIDTH,
            }
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    /// A reader that has gone away, or a disk that is full.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    fn results() -> Results {
        let blame = Site {
            class: "p.A".into(),
            method: "m".into(),
            descriptor: "()V".into(),
            offset: None,
            file: Some("p/A.java".into()),
            line: Some(3),
        };
        let finding = Finding {
            rule: "reacquired-lock",
            evidence: Evidence::Possible,
            severity: Severity::Medium,
            blame,
            subjects: BTreeMap::new(),
            stable_subjects: BTreeMap::new(),
            witnesses: Vec::new(),
            distance: 0,
            fingerprint: None,
            also: Vec::new(),
        };
        Results { findings: vec![finding], ..Results::default() }
    }

    fn deliver_to(path: &Path, screen: Screen) -> anyhow::Result<()> {
        let style = Style {
            format: Format::Json,
            detail: Detail::Normal,
            color: Color::Auto,
            graphs: None,
            most_findings: USUAL_FINDINGS,
        };
        let destination = Destination::new(Some(path));
        deliver(&results(), &destination, &style, &Sources::default(), screen)
    }

    #[test]
    fn a_file_is_written_whole_and_nothing_stays_beside_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        fs::write(&path, "an older and much longer report").unwrap();
        let buffer = Buffer::default();
        deliver_to(&path, buffer.screen()).unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with("{\n  \"version\": 2,"));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert_eq!(buffer.text(), "");
    }

    #[test]
    fn findings_survive_a_file_that_cannot_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing/out.json");
        for (path, why) in [
            (missing.as_path(), "does not exist, create it first"),
            (directory.path(), "it is a directory"),
        ] {
            let buffer = Buffer::default();
            let error = deliver_to(path, buffer.screen()).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("standard output"), "{error}");
            assert!(buffer.text().starts_with("warning[reacquired-lock]: `p.A.m`"));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_said_and_a_device_is_not_replaced() {
        use std::os::unix::fs::FileTypeExt;
        let buffer = Buffer::default();
        let error = deliver_to(Path::new("/dev/full"), buffer.screen()).unwrap_err().to_string();
        assert!(error.contains("the disk is full"), "{error}");
        assert!(buffer.text().contains("1 finding"));
        deliver_to(Path::new("/dev/null"), Buffer::default().screen()).unwrap();
        for device in ["/dev/full", "/dev/null"] {
            assert!(fs::metadata(device).unwrap().file_type().is_char_device());
        }
    }

    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure() {
        let failing = |kind| {
            let writer = Box::new(Failing(kind));
            Screen {
                name: "standard output",
                writer,
                is_terminal: false,
                colored: false,
                width: DEFAULT_WIDTH,
            }
        };
        deliver_to(Path::new("-"), failing(ErrorKind::BrokenPipe)).unwrap();
        assert!(deliver_to(Path::new("-"), failing(ErrorKind::StorageFull)).is_err());
    }
}
