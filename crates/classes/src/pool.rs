//! The constant pool of one class.
//!
//! Strings are decoded once, when the class is read; every other reference is followed when asked
//! for. That makes forward references harmless and lets a class with one bad constant be used as
//! long as nothing needs that constant, which is how the JVM treats it too.

use std::sync::Arc;

use crate::error::{ReadError, ReadErrorKind, Within};
use crate::reader::Reader;

/// The number of a constant in the pool of its class, starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolIndex(pub u16);

/// A constant with the names it refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant<'a> {
    /// Bare text.
    Utf8(&'a Arc<str>),
    /// An `int`.
    Integer(i32),
    /// A `float`.
    Float(f32),
    /// A `long`, which takes two numbers in the pool.
    Long(i64),
    /// A `double`, which takes two numbers in the pool.
    Double(f64),
    /// A class or array type, in internal form.
    Class(&'a Arc<str>),
    /// A string literal.
    String(&'a Arc<str>),
    /// A field, a method or an interface method.
    Member(MemberRef<'a>),
    /// A member without its class.
    NameAndType {
        /// The name of the member.
        name: &'a Arc<str>,
        /// Its descriptor.
        descriptor: &'a Arc<str>,
    },
    /// A method handle; the kinds are those of the Java Virtual Machine Specification, table
    /// 5.4.3.5-A.
    MethodHandle {
        /// What the handle does with the member: 1 reads a field, 6 calls a static method, …
        kind: u8,
        /// The member the handle stands for.
        member: MemberRef<'a>,
    },
    /// A method type: a bare method descriptor.
    MethodType(&'a Arc<str>),
    /// A constant that a bootstrap method computes.
    Dynamic(DynamicRef<'a>),
    /// A call site that a bootstrap method links.
    InvokeDynamic(DynamicRef<'a>),
    /// A module, in a module descriptor.
    Module(&'a Arc<str>),
    /// A package, in a module descriptor.
    Package(&'a Arc<str>),
}

/// A reference to a field or method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemberRef<'a> {
    /// The class the reference names, which need not be the one that declares the member.
    pub class: &'a Arc<str>,
    /// The name of the member.
    pub name: &'a Arc<str>,
    /// Its field or method descriptor.
    pub descriptor: &'a Arc<str>,
    /// Whether the named class is known to be an interface.
    pub is_interface: bool,
}

/// A reference that a bootstrap method resolves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DynamicRef<'a> {
    /// Which of the class's bootstrap methods.
    pub bootstrap: u16,
    /// The name that is handed to the bootstrap method.
    pub name: &'a Arc<str>,
    /// The type of the constant, or of the call.
    pub descriptor: &'a Arc<str>,
}

/// The constants of one class.
#[derive(Clone, Debug)]
pub struct ConstantPool {
    /// Indexed by constant number; number 0 and the second halves of wide constants are
    /// [`Entry::Unusable`].
    entries: Vec<LocatedEntry>,
}

#[derive(Clone, Debug)]
struct LocatedEntry {
    entry: Entry,
    /// Where the entry (its tag) is in the class file.
    offset: u32,
}

#[derive(Clone, Debug)]
enum Entry {
    Unusable,
    Utf8(Arc<str>),
    Integer(i32),
    Float(u32),
    Long(i64),
    Double(u64),
    Class(u16),
    String(u16),
    Field { class: u16, name_and_type: u16 },
    Method { class: u16, name_and_type: u16 },
    InterfaceMethod { class: u16, name_and_type: u16 },
    NameAndType { name: u16, descriptor: u16 },
    MethodHandle { kind: u8, member: u16 },
    MethodType(u16),
    Dynamic { bootstrap: u16, name_and_type: u16 },
    InvokeDynamic { bootstrap: u16, name_and_type: u16 },
    Module(u16),
    Package(u16),
}

impl Entry {
    fn describe(&self) -> &'static str {
        match self {
            Entry::Unusable => "unusable",
            Entry::Utf8(_) => "text",
            Entry::Integer(_) => "an int",
            Entry::Float(_) => "a float",
            Entry::Long(_) => "a long",
            Entry::Double(_) => "a double",
            Entry::Class(_) => "a class",
            Entry::String(_) => "a string",
            Entry::Field { .. } => "a field",
            Entry::Method { .. } => "a method",
            Entry::InterfaceMethod { .. } => "an interface method",
            Entry::NameAndType { .. } => "a name and type",
            Entry::MethodHandle { .. } => "a method handle",
            Entry::MethodType(_) => "a method type",
            Entry::Dynamic { .. } => "a dynamic constant",
            Entry::InvokeDynamic { .. } => "a dynamic call site",
            Entry::Module(_) => "a module",
            Entry::Package(_) => "a package",
        }
    }
}

impl ConstantPool {
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<ConstantPool, ReadError> {
        let count = reader.u16()?;
        // The smallest constant takes three bytes.
        let mut entries = Vec::with_capacity(reader.capacity(count, 3) + 1);
        entries.push(LocatedEntry { entry: Entry::Unusable, offset: offset_u32(reader.offset()) });
        while entries.len() < usize::from(count) {
            let offset = offset_u32(reader.offset());
            let entry =
                parse_entry(reader).within(|| format!("constant #{} of {count}", entries.len()))?;
            let is_wide = matches!(entry, Entry::Long(_) | Entry::Double(_));
            entries.push(LocatedEntry { entry, offset });
            if is_wide {
                entries.push(LocatedEntry { entry: Entry::Unusable, offset });
            }
        }
        entries.shrink_to_fit();
        Ok(ConstantPool { entries })
    }

    /// How many numbers the pool has, the unusable number 0 included: the `constant_pool_count` of
    /// the class file, so a constant appended to the class gets this number.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// The usable constants' numbers in ascending order.
    pub fn indices(&self) -> impl Iterator<Item = PoolIndex> + '_ {
        // The count is a `u16` in the class file, plus one when the last entry is wide.
        self.entries.iter().enumerate().filter_map(|(index, slot)| match slot.entry {
            Entry::Unusable => None,
            _ => u16::try_from(index).ok().map(PoolIndex),
        })
    }

    /// A constant, with what it refers to.
    ///
    /// # Errors
    /// When there is no such constant, or it refers to one that is absent or of the wrong kind.
    pub fn get(&self, index: PoolIndex) -> Result<Constant<'_>, ReadError> {
        let slot = self.slot(index.0)?;
        let constant = match slot.entry {
            Entry::Unusable => return Err(self.no_such(index.0)),
            Entry::Utf8(ref text) => Constant::Utf8(text),
            Entry::Integer(value) => Constant::Integer(value),
            Entry::Float(bits) => Constant::Float(f32::from_bits(bits)),
            Entry::Long(value) => Constant::Long(value),
            Entry::Double(bits) => Constant::Double(f64::from_bits(bits)),
            Entry::Class(name) => Constant::Class(self.text_from(slot, name)?),
            Entry::String(text) => Constant::String(self.text_from(slot, text)?),
            Entry::Field { .. } | Entry::Method { .. } | Entry::InterfaceMethod { .. } => {
                Constant::Member(self.member_ref(index)?)
            }
            Entry::NameAndType { name, descriptor } => Constant::NameAndType {
                name: self.text_from(slot, name)?,
                descriptor: self.text_from(slot, descriptor)?,
            },
            Entry::MethodHandle { kind, member } => Constant::MethodHandle {
                kind,
                member: self
                    .member_ref(PoolIndex(member))
                    .within(|| format!("constant #{}", index.0))?,
            },
            Entry::MethodType(descriptor) => {
                Constant::MethodType(self.text_from(slot, descriptor)?)
            }
            Entry::Dynamic { .. } => Constant::Dynamic(self.dynamic(index)?),
            Entry::InvokeDynamic { .. } => Constant::InvokeDynamic(self.dynamic(index)?),
            Entry::Module(name) => Constant::Module(self.text_from(slot, name)?),
            Entry::Package(name) => Constant::Package(self.text_from(slot, name)?),
        };
        Ok(constant)
    }

    /// The text of a bare text constant.
    ///
    /// # Errors
    /// When there is no such constant or it is of another kind.
    pub fn text(&self, index: PoolIndex) -> Result<&Arc<str>, ReadError> {
        let slot = self.slot(index.0)?;
        match &slot.entry {
            Entry::Utf8(text) => Ok(text),
            _ => Err(wrong(slot, index.0, "text")),
        }
    }

    /// The internal name (`java/lang/Object`) or array descriptor of a class constant.
    ///
    /// # Errors
    /// When there is no such constant, it is of another kind, or its name is missing.
    pub fn class_name(&self, index: PoolIndex) -> Result<&Arc<str>, ReadError> {
        let slot = self.slot(index.0)?;
        match slot.entry {
            Entry::Class(name) => self.text_from(slot, name),
            _ => Err(wrong(slot, index.0, "a class")),
        }
    }

    /// The field, method or interface method of a constant.
    ///
    /// # Errors
    /// When there is no such constant, it is of another kind, or a part of it is missing.
    pub fn member_ref(&self, index: PoolIndex) -> Result<MemberRef<'_>, ReadError> {
        let slot = self.slot(index.0)?;
        let (class, name_and_type, is_interface) = match slot.entry {
            Entry::Field { class, name_and_type } | Entry::Method { class, name_and_type } => {
                (class, name_and_type, false)
            }
            Entry::InterfaceMethod { class, name_and_type } => (class, name_and_type, true),
            _ => return Err(wrong(slot, index.0, "a field or method")),
        };
        let class =
            self.class_name(PoolIndex(class)).within(|| format!("constant #{}", index.0))?;
        let (name, descriptor) =
            self.name_and_type(name_and_type).within(|| format!("constant #{}", index.0))?;
        Ok(MemberRef { class, name, descriptor, is_interface })
    }

    /// The dynamic constant or dynamic call site of a constant.
    ///
    /// # Errors
    /// When there is no such constant, it is of another kind, or a part of it is missing.
    pub fn dynamic(&self, index: PoolIndex) -> Result<DynamicRef<'_>, ReadError> {
        let slot = self.slot(index.0)?;
        match slot.entry {
            Entry::Dynamic { bootstrap, name_and_type }
            | Entry::InvokeDynamic { bootstrap, name_and_type } => {
                let (name, descriptor) = self
                    .name_and_type(name_and_type)
                    .within(|| format!("constant #{}", index.0))?;
                Ok(DynamicRef { bootstrap, name, descriptor })
            }
            _ => Err(wrong(slot, index.0, "a dynamic constant or call site")),
        }
    }

    /// A class constant that may be absent, which the class file writes as number 0.
    pub(crate) fn optional_class(&self, index: u16) -> Result<Option<&Arc<str>>, ReadError> {
        if index == 0 { Ok(None) } else { self.class_name(PoolIndex(index)).map(Some) }
    }

    /// A text constant that may be absent, which the class file writes as number 0.
    pub(crate) fn optional_text(&self, index: u16) -> Result<Option<&Arc<str>>, ReadError> {
        if index == 0 { Ok(None) } else { self.text(PoolIndex(index)).map(Some) }
    }

    /// The parts of a name-and-type constant.
    pub(crate) fn name_and_type(&self, index: u16) -> Result<(&Arc<str>, &Arc<str>), ReadError> {
        let slot = self.slot(index)?;
        match slot.entry {
            Entry::NameAndType { name, descriptor } => {
                Ok((self.text_from(slot, name)?, self.text_from(slot, descriptor)?))
            }
            _ => Err(wrong(slot, index, "a name and type")),
        }
    }

    fn slot(&self, index: u16) -> Result<&LocatedEntry, ReadError> {
        match self.entries.get(usize::from(index)) {
            Some(slot) if !matches!(slot.entry, Entry::Unusable) => Ok(slot),
            _ => Err(self.no_such(index)),
        }
    }

    /// Text that another constant refers to; a failure names the place of the reference.
    fn text_from(&self, from: &LocatedEntry, index: u16) -> Result<&Arc<str>, ReadError> {
        self.text(PoolIndex(index)).map_err(|error| {
            ReadError { offset: from.offset as usize, ..error }.within(from.entry.describe())
        })
    }

    fn no_such(&self, index: u16) -> ReadError {
        let offset = self.entries.first().map_or(0, |slot| slot.offset as usize);
        ReadError::at(ReadErrorKind::NoSuchConstant(index), offset).within("the constant pool")
    }
}

fn wrong(slot: &LocatedEntry, index: u16, expected: &'static str) -> ReadError {
    let found = slot.entry.describe();
    ReadError::at(ReadErrorKind::WrongConstant { index, expected, found }, slot.offset as usize)
}

/// Offsets are kept in 32 bits; a class file cannot be larger (its largest part is an attribute
/// with a 32-bit length), and an input that is gets a useless offset instead of a failure.
fn offset_u32(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

fn parse_entry(reader: &mut Reader<'_>) -> Result<Entry, ReadError> {
    let start = reader.clone();
    Ok(match reader.u8()? {
        1 => {
            let length = reader.u16()?;
            Entry::Utf8(decode_modified_utf8(reader.bytes(usize::from(length))?))
        }
        3 => Entry::Integer(reader.u32()?.cast_signed()),
        4 => Entry::Float(reader.u32()?),
        5 => Entry::Long(reader.u64()?.cast_signed()),
        6 => Entry::Double(reader.u64()?),
        7 => Entry::Class(reader.u16()?),
        8 => Entry::String(reader.u16()?),
        9 => Entry::Field { class: reader.u16()?, name_and_type: reader.u16()? },
        10 => Entry::Method { class: reader.u16()?, name_and_type: reader.u16()? },
        11 => Entry::InterfaceMethod { class: reader.u16()?, name_and_type: reader.u16()? },
        12 => Entry::NameAndType { name: reader.u16()?, descriptor: reader.u16()? },
        15 => Entry::MethodHandle { kind: reader.u8()?, member: reader.u16()? },
        16 => Entry::MethodType(reader.u16()?),
        17 => Entry::Dynamic { bootstrap: reader.u16()?, name_and_type: reader.u16()? },
        18 => Entry::InvokeDynamic { bootstrap: reader.u16()?, name_and_type: reader.u16()? },
        19 => Entry::Module(reader.u16()?),
        20 => Entry::Package(reader.u16()?),
        tag => return Err(start.fail(ReadErrorKind::UnknownConstantTag(tag))),
    })
}

/// Decodes the class file's own kind of UTF-8.
///
/// It writes NUL as `c0 80` and characters beyond U+FFFF as two surrogates of three bytes each. A
/// surrogate without its partner is legal there and cannot be in a Rust string; it becomes the text
/// `\uD800`, so that two different names never become equal. Other bad bytes become U+FFFD.
fn decode_modified_utf8(bytes: &[u8]) -> Arc<str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Arc::from(text);
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, tail @ ..] = rest {
        let continuation = |at: usize| match tail.get(at) {
            Some(byte) if byte & 0xc0 == 0x80 => Some(u16::from(byte & 0x3f)),
            _ => None,
        };
        let (unit, length) = match first {
            0..=0x7f => (u16::from(*first), 1),
            0xc0..=0xdf => match continuation(0) {
                Some(low) => (u16::from(first & 0x1f) << 6 | low, 2),
                None => (0xfffd, 1),
            },
            0xe0..=0xef => match (continuation(0), continuation(1)) {
                (Some(middle), Some(low)) => (u16::from(first & 0x0f) << 12 | middle << 6 | low, 3),
                _ => (0xfffd, 1),
            },
            _ => (0xfffd, 1),
        };
        units.push(unit);
        rest = &rest[length..];
    }
    let mut text = String::with_capacity(bytes.len());
    for decoded in char::decode_utf16(units) {
        match decoded {
            Ok(character) => text.push(character),
            Err(lone) => text.push_str(&format!("\\u{:04X}", lone.unpaired_surrogate())),
        }
    }
    Arc::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modified_utf8_is_decoded() {
        assert_eq!(&*decode_modified_utf8(b"plain"), "plain");
        assert_eq!(&*decode_modified_utf8(b"a\xc0\x80b"), "a\0b");
        assert_eq!(&*decode_modified_utf8("grün €".as_bytes()), "grün €");
        assert_eq!(&*decode_modified_utf8(b"\xed\xa0\xbd\xed\xb8\x80"), "😀");
        assert_eq!(&*decode_modified_utf8(b"x\xed\xa0\x80y"), "x\\uD800y");
        assert_eq!(&*decode_modified_utf8(b"\xff\xc3"), "\u{fffd}\u{fffd}");
    }

    fn pool(bytes: &[u8]) -> ConstantPool {
        ConstantPool::parse(&mut Reader::new(bytes)).expect("the pool is well-formed")
    }

    #[test]
    fn forward_references_and_wide_constants_resolve() {
        let pool = pool(&[
            0, 6, // count
            7, 0, 5, // #1 class, named by #5
            5, 0, 0, 0, 0, 0, 0, 0, 9, // #2 long, takes #3 too
            3, 0xff, 0xff, 0xff, 0xfe, // #4 int
            1, 0, 1, b'A', // #5 text
        ]);
        assert_eq!(&**pool.class_name(PoolIndex(1)).unwrap(), "A");
        assert_eq!(pool.get(PoolIndex(2)).unwrap(), Constant::Long(9));
        assert_eq!(pool.get(PoolIndex(4)).unwrap(), Constant::Integer(-2));
        assert_eq!(pool.get(PoolIndex(3)).unwrap_err().kind, ReadErrorKind::NoSuchConstant(3));
        assert_eq!(pool.indices().map(|index| index.0).collect::<Vec<_>>(), [1, 2, 4, 5]);
        assert_eq!(pool.count(), 6);
    }

    #[test]
    fn a_bad_reference_only_fails_when_it_is_followed() {
        let pool = pool(&[0, 3, 8, 0, 2, 7, 0, 1]);
        let error = pool.get(PoolIndex(1)).unwrap_err();
        assert_eq!(error.to_string(), "constant #2 is a class, not text at byte 2, in a string");
        assert!(pool.class_name(PoolIndex(2)).is_err());
        assert!(pool.member_ref(PoolIndex(0)).is_err());
    }

    #[test]
    fn a_large_count_does_not_allocate() {
        let error = ConstantPool::parse(&mut Reader::new(&[0xff, 0xff, 3])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "truncated: 4 more bytes needed at byte 3, in constant #1 of 65535"
        );
    }
}
