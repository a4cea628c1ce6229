//! The constant pool of a class, to add to.
//!
//! Existing constants keep their numbers, because the whole class refers to them. New ones follow
//! behind, and only when the class does not have the constant yet.

use std::borrow::Cow;

use classes::{ReadError, ReadErrorKind};
use rustc_hash::FxHashMap;

use crate::error::InstrumentError;
use crate::surgery::cursor::Cursor;

/// Tags of the constants that can be added.
mod tag {
    pub(super) const UTF8: u8 = 1;
    pub(super) const INTEGER: u8 = 3;
    pub(super) const LONG: u8 = 5;
    pub(super) const DOUBLE: u8 = 6;
    pub(super) const CLASS: u8 = 7;
    pub(super) const METHOD: u8 = 10;
    pub(super) const NAME_AND_TYPE: u8 = 12;
}

/// The constants of one class, and those that are added to it.
#[derive(Debug)]
pub struct PoolEditor<'a> {
    bytes: &'a [u8],
    /// Where each constant (its tag) is in the class; 0 where there is none.
    places: Vec<u32>,
    /// Where the constants end in the class.
    end: usize,
    added: Vec<u8>,
    /// The number of the next new constant.
    next: u16,
    /// Made when the first constant is asked for: most classes are only looked at.
    index: Option<Index<'a>>,
}

/// Where constants are, by what they say.
#[derive(Debug, Default)]
struct Index<'a> {
    texts: FxHashMap<Cow<'a, [u8]>, u16>,
    /// By tag and content.
    others: FxHashMap<(u8, u32), u16>,
}

impl<'a> PoolEditor<'a> {
    /// Finds the constants of a class, whose count is what the cursor reads next.
    pub(super) fn read(
        bytes: &'a [u8],
        cursor: &mut Cursor<'a>,
    ) -> Result<PoolEditor<'a>, ReadError> {
        let count = cursor.u16()?;
        let mut places = Vec::with_capacity(usize::from(count).min(bytes.len() / 3));
        places.push(0);
        while places.len() < usize::from(count) {
            let place = u32::try_from(cursor.offset()).map_err(|_| cursor.fail("a huge class"))?;
            places.push(place);
            match cursor.u8()? {
                tag::UTF8 => {
                    let length = cursor.u16()?;
                    cursor.take(usize::from(length))?;
                }
                tag::LONG | tag::DOUBLE => {
                    cursor.take(8)?;
                    places.push(0);
                }
                3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => {
                    cursor.take(4)?;
                }
                7 | 8 | 16 | 19 | 20 => {
                    cursor.take(2)?;
                }
                15 => {
                    cursor.take(3)?;
                }
                other => {
                    let kind = ReadErrorKind::UnknownConstantTag(other);
                    return Err(ReadError::at(kind, place as usize));
                }
            }
        }
        let end = cursor.offset();
        Ok(PoolEditor { bytes, places, end, added: Vec::new(), next: count.max(1), index: None })
    }

    /// The number of a text constant.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn utf8(&mut self, text: &str) -> Result<u16, InstrumentError> {
        let encoded = encode_modified_utf8(text);
        if let Some(&index) = self.index().texts.get(&encoded) {
            return Ok(index);
        }
        let length = u16::try_from(encoded.len())
            .map_err(|_| InstrumentError::NameTooLong(encoded.len()))?;
        let index = self.take_number()?;
        self.added.push(tag::UTF8);
        self.added.extend(length.to_be_bytes());
        self.added.extend_from_slice(&encoded);
        self.index().texts.insert(Cow::Owned(encoded.into_owned()), index);
        Ok(index)
    }

    /// The number of a class constant, by internal name or array descriptor.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn class(&mut self, internal_name: &str) -> Result<u16, InstrumentError> {
        let name = self.utf8(internal_name)?;
        self.other(tag::CLASS, u32::from(name))
    }

    /// The number of an `int` constant.
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn integer(&mut self, value: i32) -> Result<u16, InstrumentError> {
        self.other(tag::INTEGER, value.cast_unsigned())
    }

    /// The number of a reference to a method of a class (not of an interface).
    ///
    /// # Errors
    /// When there is no room for it.
    pub fn method_ref(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, InstrumentError> {
        let class = self.class(class)?;
        let name = self.utf8(name)?;
        let descriptor = self.utf8(descriptor)?;
        let name_and_type = self.other(tag::NAME_AND_TYPE, pair(name, descriptor))?;
        self.other(tag::METHOD, pair(class, name_and_type))
    }

    /// The bytes of a text constant; nothing when the constant is no text.
    pub(super) fn text(&self, index: u16) -> Option<&'a [u8]> {
        let place = *self.places.get(usize::from(index))? as usize;
        if place == 0 {
            return None;
        }
        match self.bytes.get(place..place + 3)? {
            &[tag::UTF8, high, low] => {
                let length = usize::from(u16::from_be_bytes([high, low]));
                self.bytes.get(place + 3..place + 3 + length)
            }
            _ => None,
        }
    }

    /// The bytes of the name of a class constant; nothing when the constant is no class.
    pub(super) fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        let place = *self.places.get(usize::from(index))? as usize;
        match self.bytes.get(place..place + 3)? {
            &[tag::CLASS, high, low] if place != 0 => self.text(u16::from_be_bytes([high, low])),
            _ => None,
        }
    }

    /// Where the constants of the class end in its bytes.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// How many constants there are now, as the class file counts them.
    pub(super) fn count(&self) -> u16 {
        self.next
    }

    /// The bytes of the new constants.
    pub(super) fn added(&self) -> &[u8] {
        &self.added
    }

    /// The number of a constant whose content is four bytes, or two.
    fn other(&mut self, tag: u8, content: u32) -> Result<u16, InstrumentError> {
        if let Some(&index) = self.index().others.get(&(tag, content)) {
            return Ok(index);
        }
        let index = self.take_number()?;
        self.added.push(tag);
        let bytes = content.to_be_bytes();
        self.added.extend_from_slice(if tag == tag::CLASS { &bytes[2..] } else { &bytes });
        self.index().others.insert((tag, content), index);
        Ok(index)
    }

    fn take_number(&mut self) -> Result<u16, InstrumentError> {
        let index = self.next;
        self.next = index.checked_add(1).ok_or(InstrumentError::PoolFull)?;
        Ok(index)
    }

    fn index(&mut self) -> &mut Index<'a> {
        self.index.get_or_insert_with(|| Index::of(self.bytes, &self.places))
    }
}

impl<'a> Index<'a> {
    fn of(bytes: &'a [u8], places: &[u32]) -> Index<'a> {
        let mut index = Index::default();
        index.texts.reserve(places.len() / 2);
        index.others.reserve(places.len() / 2);
        for (number, &place) in places.iter().enumerate() {
            let number = number as u16;
            let place = place as usize;
            // The first of several equal constants is taken, so that the choice is always the same.
            match bytes.get(place..) {
                Some(&[tag::UTF8, high, low, ref rest @ ..]) if place != 0 => {
                    let length = usize::from(u16::from_be_bytes([high, low]));
                    if let Some(text) = rest.get(..length) {
                        index.texts.entry(Cow::Borrowed(text)).or_insert(number);
                    }
                }
                Some(&[tag::CLASS, high, low, ..]) if place != 0 => {
                    let content = u32::from(u16::from_be_bytes([high, low]));
                    index.others.entry((tag::CLASS, content)).or_insert(number);
                }
                Some(
                    &[
                        tag @ (tag::INTEGER | tag::METHOD | tag::NAME_AND_TYPE),
                        first,
                        second,
                        third,
                        fourth,
                        ..,
                    ],
                ) if place != 0 => {
                    let content = u32::from_be_bytes([first, second, third, fourth]);
                    index.others.entry((tag, content)).or_insert(number);
                }
                _ => {}
            }
        }
        index
    }
}

fn pair(first: u16, second: u16) -> u32 {
    u32::from(first) << 16 | u32::from(second)
}

/// The class file's own kind of UTF-8: NUL takes two bytes, and characters beyond U+FFFF are two
/// surrogates of three bytes each.
fn encode_modified_utf8(text: &str) -> Cow<'_, [u8]> {
    if text.bytes().all(|byte| byte != 0 && byte < 0xf0) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut encoded = Vec::with_capacity(text.len() + 8);
    for character in text.chars() {
        let mut units = [0; 2];
        match character {
            '\0' => encoded.extend([0xc0, 0x80]),
            '\u{1}'..='\u{ffff}' => {
                encoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => {
                for unit in character.encode_utf16(&mut units) {
                    let unit = *unit;
                    encoded.extend([
                        0xe0 | (unit >> 12) as u8,
                        0x80 | (unit >> 6 & 0x3f) as u8,
                        0x80 | (unit & 0x3f) as u8,
                    ]);
                }
            }
        }
    }
    Cow::Owned(encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_encoded_as_class_files_do() {
        assert_eq!(&*encode_modified_utf8("plain"), b"plain");
        assert_eq!(&*encode_modified_utf8("grün"), "grün".as_bytes());
        assert_eq!(&*encode_modified_utf8("a\0b"), b"a\xc0\x80b");
        assert_eq!(&*encode_modified_utf8("😀"), b"\xed\xa0\xbd\xed\xb8\x80");
    }

    #[test]
    fn constants_are_reused_and_the_pool_can_be_full() {
        let bytes = [
            0, 4, // count
            1, 0, 1, b'A', // #1 text
            7, 0, 1, // #2 class, named by #1
            3, 0, 0, 0, 9, // #3 int
        ];
        let mut pool = PoolEditor::read(&bytes, &mut Cursor::new(&bytes)).unwrap();
        assert_eq!(pool.class("A").unwrap(), 2);
        assert_eq!(pool.integer(9).unwrap(), 3);
        assert!(pool.added().is_empty());
        let method = pool.method_ref("A", "m", "()V").unwrap();
        assert_eq!(method, 7);
        assert_eq!(pool.method_ref("A", "m", "()V").unwrap(), method);
        assert_eq!(pool.count(), 8);
        for value in 100..100 + 65_535 - 8 {
            pool.integer(value).unwrap();
        }
        assert_eq!(pool.integer(-1), Err(InstrumentError::PoolFull));
        assert_eq!(pool.integer(100).unwrap(), 8);
    }
}
