//! A lock that is taken out of a program, to see whether anybody notices: defect injection.
//!
//! A synchronized method loses its flag. In a synchronized block the instructions that enter and leave the
//! monitor become `pop`, which takes the same operand from the stack: no offset, no frame and no handler
//! changes. Everything else treats the class as if it had been compiled like that.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use classes::bytecode::decode_all;
use classes::{ClassFile, access};

use crate::error::InstrumentError;
use crate::regions;
use crate::surgery::ClassEditor;

/// The opcode that takes one operand from the stack.
const POP: u8 = 0x57;

/// A synchronized method, or a synchronized block of a method.
///
/// As text: `pkg.Class.method(I)V` is the method, `pkg.Class.method(I)V@12` the block whose monitor is
/// entered at that bytecode offset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DroppedLock {
    /// The class, with dots.
    class: String,
    method: String,
    descriptor: String,
    /// Where the monitor is entered; nothing for the method itself.
    offset: Option<u32>,
}

/// A text that names no lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no lock: write `pkg.Class.method(I)V`, or `pkg.Class.method(I)V@12` for a block"
)]
pub struct NotALock(String);

impl FromStr for DroppedLock {
    type Err = NotALock;

    fn from_str(text: &str) -> Result<DroppedLock, NotALock> {
        let read = || {
            let (name, rest) = text.split_at(text.find('(')?);
            let (class, method) = name.rsplit_once('.')?;
            let (descriptor, offset) = match rest.split_once('@') {
                Some((descriptor, offset)) => (descriptor, Some(offset.parse().ok()?)),
                None => (rest, None),
            };
            classes::descriptor::parse_method(descriptor).ok()?;
            Some(DroppedLock {
                class: class.to_owned(),
                method: method.to_owned(),
                descriptor: descriptor.to_owned(),
                offset,
            })
        };
        read().ok_or_else(|| NotALock(text.to_owned()))
    }
}

impl fmt::Display for DroppedLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}{}", self.class, self.method, self.descriptor)?;
        match self.offset {
            Some(offset) => write!(f, "@{offset}"),
            None => Ok(()),
        }
    }
}

impl DroppedLock {
    /// The class without the lock; nothing when the lock is not in it.
    ///
    /// # Errors
    /// When the bytes are not a class file.
    pub(crate) fn drop_from(&self, bytes: &[u8]) -> Result<Option<Vec<u8>>, InstrumentError> {
        let file = ClassFile::parse(Arc::from(bytes))?;
        if classes::binary_name(&file.name) != self.class {
            return Ok(None);
        }
        let is_meant =
            |name: &str, descriptor: &str| name == self.method && descriptor == self.descriptor;
        let found = file.methods.iter().position(|it| is_meant(&it.name, &it.descriptor));
        let Some(index) = found else { return Ok(None) };
        let mut dropped = bytes.to_vec();
        let is_done = match self.offset {
            None => drop_flag(&mut dropped, &file, index)?,
            Some(offset) => drop_block(&mut dropped, &file, index, offset).is_some(),
        };
        Ok(is_done.then_some(dropped))
    }
}

fn drop_flag(bytes: &mut [u8], file: &ClassFile, index: usize) -> Result<bool, InstrumentError> {
    let method = &file.methods[index];
    let at = ClassEditor::new(bytes)?.access_offset(index);
    let flags = at.and_then(|at| bytes.get_mut(at..at + 2));
    let Some(flags) = flags.filter(|_| method.has_access(access::SYNCHRONIZED)) else {
        return Ok(false);
    };
    flags.copy_from_slice(&(method.access & !access::SYNCHRONIZED).to_be_bytes());
    Ok(true)
}

fn drop_block(bytes: &mut [u8], file: &ClassFile, index: usize, offset: u32) -> Option<()> {
    let code = file.methods[index].code.as_ref()?;
    let instructions = decode_all(file.code_bytes(code)).ok()?;
    let regions = regions::find(&instructions, &code.handlers)?;
    let region = regions.iter().find(|region| region.enter == offset)?;
    for at in region.exits.iter().chain([&region.enter]) {
        *bytes.get_mut(code.range.start + *at as usize)? = POP;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_written_as_they_are_read() {
        for text in ["p.A$B.put(ILjava/lang/Object;)V", "A.run()V@12"] {
            assert_eq!(text.parse::<DroppedLock>().unwrap().to_string(), text);
        }
        for text in ["", "p.A.put", "put()V", "p.A.put()", "p.A.put()V@", "p.A.put()V@x"] {
            assert!(text.parse::<DroppedLock>().unwrap_err().to_string().contains("names no lock"));
        }
    }
}
