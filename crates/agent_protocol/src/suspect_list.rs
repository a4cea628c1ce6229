//! The list of places where threads are to be held back from the start, because something is suspected there.
//!
//! One place a line: class, method, descriptor and what it is in the method, separated by blanks: the bytecode offset
//! of an instruction; `-` for the lock of a synchronized method; `LINE:NAME` for the calls of a method on a line, because
//! stacks know lines and no offsets. Lines that begin with `#` are remarks.

use std::fmt;

use findings::Site;

/// A place where threads are held back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SuspectPlace {
    /// The class, with dots.
    pub class: String,
    /// The method.
    pub method: String,
    /// Its parameters and result.
    pub descriptor: String,
    /// What in the method.
    pub part: SuspectPart,
}

/// What in a method is suspected.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SuspectPart {
    /// The instruction at an offset.
    Instruction(u32),
    /// The lock of the method itself.
    MethodLock,
    /// The calls on a line of methods with a name.
    Calls {
        /// The line.
        line: u32,
        /// The name of the method that is called.
        name: String,
    },
}

impl SuspectPlace {
    /// The instruction of a site, or the lock of the method that the site is.
    #[must_use]
    pub fn at(site: &Site) -> SuspectPlace {
        SuspectPlace::in_method_of(
            site,
            site.offset.map_or(SuspectPart::MethodLock, SuspectPart::Instruction),
        )
    }

    /// The calls of a method on the line of a site; none if the line is not known.
    #[must_use]
    pub fn calls_at(site: &Site, name: &str) -> Option<SuspectPlace> {
        let part = SuspectPart::Calls { line: site.line?, name: name.to_owned() };
        Some(SuspectPlace::in_method_of(site, part))
    }

    fn in_method_of(site: &Site, part: SuspectPart) -> SuspectPlace {
        SuspectPlace {
            class: site.class.clone(),
            method: site.method.clone(),
            descriptor: site.descriptor.clone(),
            part,
        }
    }

    /// Whether its line can be read again: names may be anything in class files, blanks included.
    #[must_use]
    pub fn can_be_written(&self) -> bool {
        parse(&self.to_string()).as_ref() == Some(self)
    }
}

/// As a line of the list.
impl fmt::Display for SuspectPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} ", self.class, self.method, self.descriptor)?;
        match &self.part {
            SuspectPart::Instruction(offset) => write!(f, "{offset}"),
            SuspectPart::MethodLock => write!(f, "-"),
            SuspectPart::Calls { line, name } => write!(f, "{line}:{name}"),
        }
    }
}

/// The places that a list names; none of lines that name no place.
#[must_use]
pub fn read_suspect_list(text: &str) -> Vec<SuspectPlace> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(parse).collect()
}

fn parse(line: &str) -> Option<SuspectPlace> {
    let mut words = line.split_whitespace();
    let (class, method, descriptor) = (words.next()?, words.next()?, words.next()?);
    let part = match words.next()? {
        "-" => SuspectPart::MethodLock,
        word => match word.split_once(':') {
            None => SuspectPart::Instruction(word.parse().ok()?),
            Some((line, name)) => {
                SuspectPart::Calls { line: line.parse().ok()?, name: name.to_owned() }
            }
        },
    };
    words.next().is_none().then(|| SuspectPlace {
        class: class.to_owned(),
        method: method.to_owned(),
        descriptor: descriptor.to_owned(),
        part,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let text = "bank.Account withdraw (I)V 12\nbank.Account set (I)V -\n\
                    bank.Account withdraw (I)V 30:set\n";
        let places = read_suspect_list(&format!("# suspected\n{text}\nno place\n"));
        assert_eq!(places.len(), 3);
        assert_eq!(places.iter().map(|place| format!("{place}\n")).collect::<String>(), text);
        assert!(places.iter().all(SuspectPlace::can_be_written));
        let odd = SuspectPlace { method: "with blanks".into(), ..places[0].clone() };
        assert!(!odd.can_be_written());
    }
}
