//! Text on its way to a terminal. Names, messages and paths come from class files, traces and directories, which may hold
//! anything; a terminal obeys control characters, and must not obey those.

use std::fmt;
use std::io::{self, Write};

pub(crate) use output_file::harmless;

const REPLACEMENT: &str = "\u{fffd}";
/// How long the parameters of a colour may be.
const LONGEST_COLOUR: usize = 24;

/// Says something on standard error: an error, a warning, a note.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    anstream::eprintln!("{}", harmless(&text.to_string()));
}

/// Writes text without control characters but the ends of lines and tabulators. Colours pass: reports have them, and they do no harm.
pub(crate) struct HarmlessWriter<W: Write> {
    inner: W,
    state: State,
}

/// What was read of something that may have to be replaced.
enum State {
    Nothing,
    /// The first of the two bytes of a control character beyond ASCII, and of some other characters.
    FirstByte,
    Escape,
    /// The beginning of a control sequence, and its parameters.
    Parameters(Vec<u8>),
}

const FIRST_BYTE: u8 = 0xc2;
const ESCAPE: u8 = 0x1b;

impl<W: Write> HarmlessWriter<W> {
    pub(crate) fn new(inner: W) -> HarmlessWriter<W> {
        HarmlessWriter { inner, state: State::Nothing }
    }

    /// What a byte lets through, with what came before it.
    fn pass(&mut self, byte: u8, passed: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Nothing) {
            State::Nothing => match byte {
                FIRST_BYTE => self.state = State::FirstByte,
                ESCAPE => self.state = State::Escape,
                b'\n' | b'\t' => passed.push(byte),
                0..0x20 | 0x7f => passed.extend_from_slice(REPLACEMENT.as_bytes()),
                other => passed.push(other),
            },
            State::FirstByte => {
                if (0x80..0xa0).contains(&byte) {
                    passed.extend_from_slice(REPLACEMENT.as_bytes());
                } else {
                    passed.push(FIRST_BYTE);
                    self.pass(byte, passed);
                }
            }
            State::Escape if byte == b'[' => self.state = State::Parameters(Vec::new()),
            State::Escape => {
                passed.extend_from_slice(REPLACEMENT.as_bytes());
                self.pass(byte, passed);
            }
            State::Parameters(mut parameters) => match byte {
                b'0'..=b'9' | b';' if parameters.len() < LONGEST_COLOUR => {
                    parameters.push(byte);
                    self.state = State::Parameters(parameters);
                }
                b'm' => {
                    passed.extend_from_slice(&[ESCAPE, b'[']);
                    passed.append(&mut parameters);
                    passed.push(byte);
                }
                other => {
                    passed.extend_from_slice(REPLACEMENT.as_bytes());
                    passed.push(b'[');
                    passed.append(&mut parameters);
                    self.pass(other, passed);
                }
            },
        }
    }
}

impl<W: Write> Write for HarmlessWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut passed = Vec::with_capacity(bytes.len());
        for byte in bytes {
            self.pass(*byte, &mut passed);
        }
        self.inner.write_all(&passed)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(parts: &[&str]) -> String {
        let mut writer = HarmlessWriter::new(Vec::new());
        for part in parts {
            writer.write_all(part.as_bytes()).unwrap();
        }
        String::from_utf8(writer.inner).unwrap()
    }

    #[test]
    fn colours_pass_and_everything_else_is_replaced() {
        assert_eq!(
            written(&["\u{1b}[1;31mred\u{1b}[0m\n\tplain"]),
            "\u{1b}[1;31mred\u{1b}[0m\n\tplain"
        );
        assert_eq!(written(&["\u{1b}]0;title\u{7}"]), "\u{fffd}]0;title\u{fffd}");
        assert_eq!(written(&["\u{1b}[2J\u{1b}[10;10H"]), "\u{fffd}[2J\u{fffd}[10;10H");
        assert_eq!(
            written(&["a\u{9b}31mb\u{a0}\u{7f}\rc"]),
            "a\u{fffd}31mb\u{a0}\u{fffd}\u{fffd}c"
        );
        let long = format!("\u{1b}[{}m", "1".repeat(100));
        assert!(!written(&[&long]).contains('\u{1b}'));
    }

    #[test]
    fn it_does_not_matter_where_writes_end() {
        for text in ["\u{1b}[31mä\u{9b}\u{1b}\u{1b}[2Jx", "é\u{85}\u{1b}[m"] {
            let bytes = text.as_bytes();
            for at in 0..bytes.len() {
                let mut writer = HarmlessWriter::new(Vec::new());
                writer.write_all(&bytes[..at]).unwrap();
                writer.write_all(&bytes[at..]).unwrap();
                assert_eq!(String::from_utf8(writer.inner).unwrap(), written(&[text]));
            }
        }
    }
}
