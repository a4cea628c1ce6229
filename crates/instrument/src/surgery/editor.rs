//! One class file, cut into the pieces that can change and those that are copied.

use std::ops::Range;

use classes::ReadError;

use crate::error::{InstrumentError, LeftAlone, LeftAloneReason};
use crate::surgery::code::{self, MethodPlace};
use crate::surgery::cursor::Cursor;
use crate::surgery::layout::Scratch;
use crate::surgery::pool::PoolEditor;
use crate::surgery::snippet::MethodEdits;

/// A class file under the knife.
#[derive(Debug)]
pub struct ClassEditor<'a> {
    bytes: &'a [u8],
    pool: PoolEditor<'a>,
    /// The major and the minor version of the class file.
    version: (u16, u16),
    this_class: u16,
    fields: Vec<FieldPlace>,
    /// Where the count of fields is; the count of methods is where the fields end.
    fields_at: usize,
    fields_end: usize,
    methods: Vec<MethodPlace>,
    added_fields: Vec<u8>,
    /// New `Code` attributes, by method, for those that have one.
    codes: Vec<Option<Vec<u8>>>,
    scratch: Scratch,
}

/// The numbers of the name and the descriptor of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldPlace {
    name: u16,
    descriptor: u16,
}

impl<'a> ClassEditor<'a> {
    /// Finds the pieces of a class file.
    ///
    /// # Errors
    /// When the bytes are not a class file.
    pub fn new(bytes: &'a [u8]) -> Result<ClassEditor<'a>, InstrumentError> {
        let mut cursor = Cursor::new(bytes);
        if cursor.u32()? != 0xcafe_babe {
            return Err(Cursor::new(bytes).fail("this is not a class file").into());
        }
        let minor = cursor.u16()?;
        let version = (cursor.u16()?, minor);
        let pool = PoolEditor::read(bytes, &mut cursor)?;
        cursor.u16()?;
        let this_class = cursor.u16()?;
        cursor.u16()?;
        let interfaces = cursor.u16()?;
        cursor.take(usize::from(interfaces) * 2)?;

        let fields_at = cursor.offset();
        let field_count = cursor.u16()?;
        let mut fields = Vec::new();
        for _ in 0..field_count {
            cursor.u16()?;
            fields.push(FieldPlace { name: cursor.u16()?, descriptor: cursor.u16()? });
            attributes(&mut cursor, |_, _| {})?;
        }
        let fields_end = cursor.offset();

        let method_count = cursor.u16()?;
        let mut methods = Vec::new();
        for _ in 0..method_count {
            let access_at = cursor.offset();
            let is_static = cursor.u16()? & classes::access::STATIC != 0;
            let (name, descriptor) = (cursor.u16()?, cursor.u16()?);
            let mut code = None;
            attributes(&mut cursor, |attribute, range| {
                if code.is_none() && pool.text(attribute) == Some(b"Code") {
                    code = Some(range);
                }
            })?;
            methods.push(MethodPlace { access_at, name, descriptor, is_static, code });
        }
        let codes = vec![None; methods.len()];
        Ok(ClassEditor {
            bytes,
            pool,
            version,
            this_class,
            fields,
            fields_at,
            fields_end,
            methods,
            added_fields: Vec::new(),
            codes,
            scratch: Scratch::default(),
        })
    }

    /// The constants, to add to.
    pub fn pool(&mut self) -> &mut PoolEditor<'a> {
        &mut self.pool
    }

    /// The number of the constant that is the class itself.
    #[must_use]
    pub fn this_class(&self) -> u16 {
        self.this_class
    }

    /// How many methods the class declares.
    #[must_use]
    pub fn method_count(&self) -> usize {
        self.methods.len()
    }

    /// Whether a method has code: it is there, and neither abstract nor native.
    #[must_use]
    pub fn has_code(&self, index: usize) -> bool {
        self.methods.get(index).is_some_and(|method| method.code.is_some())
    }

    /// Where the flags of a method stand in the bytes, by its position among the methods of the class.
    pub(crate) fn access_offset(&self, index: usize) -> Option<usize> {
        self.methods.get(index).map(|method| method.access_at)
    }

    /// Adds a field without attributes, behind the others.
    ///
    /// # Errors
    /// When the class already has such a field, or there is no room for it.
    pub fn add_field(
        &mut self,
        access: u16,
        name: &str,
        descriptor: &str,
    ) -> Result<(), InstrumentError> {
        let added =
            FieldPlace { name: self.pool.utf8(name)?, descriptor: self.pool.utf8(descriptor)? };
        let same = |one: u16, other: u16| {
            one == other
                || self.pool.text(one).is_some_and(|text| self.pool.text(other) == Some(text))
        };
        if self
            .fields
            .iter()
            .any(|field| same(field.name, added.name) && same(field.descriptor, added.descriptor))
        {
            return Err(InstrumentError::FieldExists(name.to_owned()));
        }
        if self.fields.len() >= usize::from(u16::MAX) {
            return Err(InstrumentError::TooManyFields);
        }
        self.fields.push(added);
        for number in [access, added.name, added.descriptor, 0] {
            self.added_fields.extend(number.to_be_bytes());
        }
        Ok(())
    }

    /// Inserts code into a method, given by its position among the methods of the class.
    ///
    /// A second call for the same method replaces what the first did.
    ///
    /// # Errors
    /// When the code cannot be inserted; the method then stays as it was.
    pub fn edit_method(&mut self, index: usize, edits: &MethodEdits) -> Result<(), LeftAlone> {
        if edits.is_empty() {
            return Ok(());
        }
        self.relocate_method(index, edits)
    }

    /// As [`ClassEditor::edit_method`], but takes the code apart and puts it together again even
    /// when there is nothing to insert. Tests use it to show that nothing else changes.
    ///
    /// # Errors
    /// As [`ClassEditor::edit_method`].
    pub fn relocate_method(&mut self, index: usize, edits: &MethodEdits) -> Result<(), LeftAlone> {
        let Some(method) = self.methods.get(index) else {
            let method = format!("method {index}");
            return Err(LeftAlone { method, reason: LeftAloneReason::NoSuchMethod });
        };
        let rewritten = code::rewrite(
            self.bytes,
            self.version,
            self.this_class,
            &mut self.pool,
            method,
            edits,
            &mut self.scratch,
        );
        match rewritten {
            Ok(code) => {
                self.codes[index] = Some(code);
                Ok(())
            }
            Err(reason) => Err(LeftAlone { method: self.title(index), reason }),
        }
    }

    /// The rewritten class; byte for byte the original when nothing was edited.
    ///
    /// # Errors
    /// None today; a class that cannot be put together again would be one.
    pub fn finish(self) -> Result<Vec<u8>, InstrumentError> {
        if self.added_fields.is_empty() && self.codes.iter().all(Option::is_none) {
            return Ok(self.bytes.to_vec());
        }
        let grown: usize = self.codes.iter().flatten().map(Vec::len).sum();
        let capacity = self.bytes.len() + grown + self.pool.added().len() + self.added_fields.len();
        let mut out = Vec::with_capacity(capacity);
        out.extend_from_slice(&self.bytes[..8]);
        out.extend(self.pool.count().to_be_bytes());
        out.extend_from_slice(&self.bytes[10..self.pool.end()]);
        out.extend_from_slice(self.pool.added());
        out.extend_from_slice(&self.bytes[self.pool.end()..self.fields_at]);
        let field_count = u16::try_from(self.fields.len());
        out.extend(field_count.map_err(|_| InstrumentError::TooManyFields)?.to_be_bytes());
        out.extend_from_slice(&self.bytes[self.fields_at + 2..self.fields_end]);
        out.extend_from_slice(&self.added_fields);
        let mut copied = self.fields_end;
        for (method, code) in self.methods.iter().zip(&self.codes) {
            if let (Some(range), Some(code)) = (&method.code, code) {
                // The content of the attribute begins behind its length.
                out.extend_from_slice(&self.bytes[copied..range.start - 4]);
                out.extend((code.len() as u32).to_be_bytes());
                out.extend_from_slice(code);
                copied = range.end;
            }
        }
        out.extend_from_slice(&self.bytes[copied..]);
        Ok(out)
    }

    /// Name and descriptor of a method, for people.
    fn title(&self, index: usize) -> String {
        let text = |number: u16| match self.pool.text(number) {
            Some(text) => String::from_utf8_lossy(text).into_owned(),
            None => format!("#{number}"),
        };
        match self.methods.get(index) {
            Some(method) => format!("{}{}", text(method.name), text(method.descriptor)),
            None => format!("method {index}"),
        }
    }
}

/// Hands the name of each attribute and the range of its content to `visit`.
pub(super) fn attributes(
    cursor: &mut Cursor<'_>,
    mut visit: impl FnMut(u16, Range<usize>),
) -> Result<(), ReadError> {
    let count = cursor.u16()?;
    for _ in 0..count {
        let name = cursor.u16()?;
        let length = cursor.u32()?;
        let start = cursor.offset();
        cursor.take(length as usize)?;
        visit(name, start..cursor.offset());
    }
    Ok(())
}
