//! One class file, parsed.
//!
//! The parser is our own. Errors must name a byte and the method or constant it is in; the
//! instrumenter must find the very bytes of a method body again, so ranges are kept beside the
//! decoded form; and the oldest classes must be read: it follows chapter 4 of the Java Virtual
//! Machine Specification, and knows the narrower `Code` header of versions 45.0 to 45.2, which the
//! specification no longer mentions.
//!
//! What the JVM refuses when it loads a class is refused here. What it only looks at later, or only
//! for debuggers and reflection, is left out and listed in [`ClassFile::skipped`].

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::annotation::{self, Annotation};
use crate::error::{ReadError, ReadErrorKind, Within};
use crate::pool::{ConstantPool, PoolIndex};
use crate::reader::Reader;

/// The newest major version whose class-file format this build was written for.
const NEWEST_KNOWN_MAJOR: u16 = 70;

/// The version of the class-file format that a class was written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// 45 for Java 1.0 and 1.1, then one more for each feature release: 61 is Java 17.
    pub major: u16,
    /// Almost always 0; 65535 marks preview features.
    pub minor: u16,
}

impl Version {
    /// Whether the class uses preview features of exactly one Java release.
    #[must_use]
    pub fn is_preview(self) -> bool {
        self.major >= 56 && self.minor == 0xffff
    }

    /// Whether this build was written for the version; others are read on a best-effort basis.
    #[must_use]
    pub fn is_known(self) -> bool {
        (45..=NEWEST_KNOWN_MAJOR).contains(&self.major)
    }

    /// Whether the header of a `Code` attribute has the narrow fields of the first compilers.
    fn has_narrow_code_header(self) -> bool {
        self.major < 45 || (self.major == 45 && self.minor < 3)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// One parsed class, together with the bytes it came from.
///
/// The bytes are kept because method bodies are decoded on demand and because an instrumented class
/// is made by relocating them.
#[derive(Clone, Debug)]
pub struct ClassFile {
    /// The whole class file.
    pub bytes: Arc<[u8]>,
    /// The version of the format.
    pub version: Version,
    /// The constants that instructions and bootstrap methods refer to.
    pub pool: ConstantPool,
    /// Flags of [`crate::access`].
    pub access: u16,
    /// Internal form: `java/lang/Object`.
    pub name: Arc<str>,
    /// The superclass; absent for `java/lang/Object` and for module descriptors.
    pub super_name: Option<Arc<str>>,
    /// The interfaces the class itself declares, in order.
    pub interfaces: Vec<Arc<str>>,
    /// The fields the class itself declares, in order.
    pub fields: Vec<FieldInfo>,
    /// The methods the class itself declares, in order; no two have the same name and descriptor.
    pub methods: Vec<MethodInfo>,
    /// The name of the source file, without its directory.
    pub source_file: Option<Arc<str>>,
    /// What dynamic constants and call sites are linked with.
    pub bootstrap_methods: Vec<BootstrapMethod>,
    /// The class whose nest this one belongs to; absent when it is the host itself.
    pub nest_host: Option<Arc<str>>,
    /// The other members of the nest, when this class is its host.
    pub nest_members: Vec<Arc<str>>,
    /// Every class mentioned here that is not a member of a package.
    pub inner_classes: Vec<InnerClass>,
    /// Where a local or anonymous class is declared.
    pub enclosing_method: Option<EnclosingMethod>,
    /// The only direct subclasses a sealed class allows; empty when it is not sealed.
    pub permitted_subclasses: Vec<Arc<str>>,
    /// Whether the class is a record.
    pub is_record: bool,
    /// The annotations of the class, whether visible at run time or not.
    pub annotations: Vec<Annotation>,
    /// Attributes that were left out because their bytes make no sense: annotations and debugging
    /// tables only, so that the code can be analysed without them.
    pub skipped: Vec<ReadError>,
}

/// A declared field.
#[derive(Clone, Debug)]
pub struct FieldInfo {
    /// Flags of [`crate::access`].
    pub access: u16,
    /// The name.
    pub name: Arc<str>,
    /// The type, as a field descriptor.
    pub descriptor: Arc<str>,
    /// The annotations of the field, whether visible at run time or not.
    pub annotations: Vec<Annotation>,
}

/// A declared method.
#[derive(Clone, Debug)]
pub struct MethodInfo {
    /// Flags of [`crate::access`].
    pub access: u16,
    /// The name, `<init>` and `<clinit>` included.
    pub name: Arc<str>,
    /// The parameter and return types, as a method descriptor.
    pub descriptor: Arc<str>,
    /// The body; absent for abstract and native methods.
    pub code: Option<Code>,
    /// The checked exceptions it declares.
    pub exceptions: Vec<Arc<str>>,
    /// The annotations of the method, whether visible at run time or not.
    pub annotations: Vec<Annotation>,
    /// The names of the parameters, where the compiler was asked to keep them.
    pub parameter_names: Vec<Option<Arc<str>>>,
}

/// The body of a method, still as bytes; [`crate::bytecode`] decodes them.
#[derive(Clone, Debug)]
pub struct Code {
    /// The deepest the operand stack gets, in slots.
    pub max_stack: u16,
    /// How many slots the local variables take, parameters included.
    pub max_locals: u16,
    /// Where the code array is within [`ClassFile::bytes`]; never empty.
    pub range: Range<usize>,
    /// The exception handlers, in the order in which the JVM tries them. Their ranges lie within
    /// the code.
    pub handlers: Vec<Handler>,
    /// Bytecode offset and source line, sorted by offset; each line lasts until the next offset.
    pub lines: Vec<(u32, u32)>,
    /// The names of local variables, where the compiler kept them, sorted by start and slot.
    pub locals: Vec<LocalVariable>,
}

impl Code {
    /// The source line of a bytecode offset, where the class has line numbers.
    #[must_use]
    pub fn line_at(&self, offset: u32) -> Option<u32> {
        let after = self.lines.partition_point(|&(start, _)| start <= offset);
        after.checked_sub(1).map(|index| self.lines[index].1)
    }

    /// The name of what a slot holds at a bytecode offset, where the compiler kept it.
    #[must_use]
    pub fn local_at(&self, slot: u16, offset: u32) -> Option<&LocalVariable> {
        self.locals.iter().find(|local| {
            local.slot == slot
                && (local.start..local.start.saturating_add(local.length)).contains(&offset)
        })
    }
}

/// One row of an exception table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handler {
    /// The first bytecode offset that is covered.
    pub start: u32,
    /// The first bytecode offset that is not covered any more.
    pub end: u32,
    /// Where the handler begins.
    pub target: u32,
    /// The class of the exceptions that are caught; absent when all are.
    pub catch_type: Option<Arc<str>>,
}

/// The name of a local variable over a range of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalVariable {
    /// The first bytecode offset at which the name holds.
    pub start: u32,
    /// For how many bytes of code it holds.
    pub length: u32,
    /// The slot that is named.
    pub slot: u16,
    /// The name in the source.
    pub name: Arc<str>,
    /// The type, as a field descriptor.
    pub descriptor: Arc<str>,
}

/// How a dynamic constant or call site is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootstrapMethod {
    /// A method-handle constant.
    pub method: PoolIndex,
    /// The static arguments; any loadable constants.
    pub arguments: Vec<PoolIndex>,
}

/// One row of the table of classes that are not members of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerClass {
    /// The class the row is about.
    pub inner: Arc<str>,
    /// The class it is a member of; absent for local and anonymous classes.
    pub outer: Option<Arc<str>>,
    /// Its simple name; absent for anonymous classes.
    pub name: Option<Arc<str>>,
    /// Its flags as in the source; the class's own flags cannot say `private` or `static`.
    pub access: u16,
}

/// Where a local or anonymous class is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnclosingMethod {
    /// The innermost enclosing class.
    pub class: Arc<str>,
    /// Name and descriptor of the enclosing method; absent in initialisers.
    pub method: Option<(Arc<str>, Arc<str>)>,
}

impl ClassFile {
    /// Parses one class file.
    ///
    /// # Errors
    /// When the bytes are not a class file that a JVM would load.
    pub fn parse(bytes: Arc<[u8]>) -> Result<ClassFile, ReadError> {
        let mut reader = Reader::new(&bytes);
        let magic = reader.u32()?;
        if magic != 0xcafe_babe {
            return Err(ReadError::at(
                ReadErrorKind::BadMagic { found: magic, expected: "a class file" },
                0,
            ));
        }
        let minor = reader.u16()?;
        let version = Version { major: reader.u16()?, minor };
        let pool = ConstantPool::parse(&mut reader)?;
        let mut parser = Parser { pool: &pool, version, skipped: Vec::new() };
        let parts = parser.class(&mut reader)?;
        let skipped = parser.skipped;
        let Parts { access, name, super_name, interfaces, fields, methods, attributes } = parts;
        Ok(ClassFile {
            version,
            access,
            name,
            super_name,
            interfaces,
            fields,
            methods,
            source_file: attributes.source_file,
            bootstrap_methods: attributes.bootstrap_methods,
            nest_host: attributes.nest_host,
            nest_members: attributes.nest_members,
            inner_classes: attributes.inner_classes,
            enclosing_method: attributes.enclosing_method,
            permitted_subclasses: attributes.permitted_subclasses,
            is_record: attributes.is_record,
            annotations: attributes.annotations,
            skipped,
            pool,
            bytes,
        })
    }

    /// The instructions of a method of this class, as bytes.
    ///
    /// A `Code` of another class gives an empty or meaningless answer.
    #[must_use]
    pub fn code_bytes(&self, code: &Code) -> &[u8] {
        self.bytes.get(code.range.clone()).unwrap_or_default()
    }

    /// Whether a flag of [`crate::access`] is set on the class.
    #[must_use]
    pub fn has_access(&self, flag: u16) -> bool {
        self.access & flag != 0
    }
}

impl FieldInfo {
    /// Whether a flag of [`crate::access`] is set on the field.
    #[must_use]
    pub fn has_access(&self, flag: u16) -> bool {
        self.access & flag != 0
    }
}

impl MethodInfo {
    /// Whether a flag of [`crate::access`] is set on the method.
    #[must_use]
    pub fn has_access(&self, flag: u16) -> bool {
        self.access & flag != 0
    }
}

/// Everything behind the constant pool.
struct Parts {
    access: u16,
    name: Arc<str>,
    super_name: Option<Arc<str>>,
    interfaces: Vec<Arc<str>>,
    fields: Vec<FieldInfo>,
    methods: Vec<MethodInfo>,
    attributes: ClassAttributes,
}

/// What the attributes of a class say.
#[derive(Default)]
struct ClassAttributes {
    source_file: Option<Arc<str>>,
    bootstrap_methods: Vec<BootstrapMethod>,
    nest_host: Option<Arc<str>>,
    nest_members: Vec<Arc<str>>,
    inner_classes: Vec<InnerClass>,
    enclosing_method: Option<EnclosingMethod>,
    permitted_subclasses: Vec<Arc<str>>,
    is_record: bool,
    annotations: Vec<Annotation>,
}

struct Parser<'p> {
    pool: &'p ConstantPool,
    version: Version,
    skipped: Vec<ReadError>,
}

impl Parser<'_> {
    fn class(&mut self, reader: &mut Reader<'_>) -> Result<Parts, ReadError> {
        let access = reader.u16().within(|| "the class header")?;
        let name = self.class_name(reader).within(|| "the name of the class")?;
        let super_index = reader.u16().within(|| "the class header")?;
        let super_name = located(reader, self.pool.optional_class(super_index))
            .within(|| "the superclass")?
            .cloned();
        let interfaces = self.class_names(reader).within(|| "the interfaces")?;
        let fields = self.fields(reader)?;
        let methods = self.methods(reader)?;
        let attributes = self.class_attributes(reader)?;
        reader.finish().within(|| "the class file")?;
        Ok(Parts { access, name, super_name, interfaces, fields, methods, attributes })
    }

    fn fields(&mut self, reader: &mut Reader<'_>) -> Result<Vec<FieldInfo>, ReadError> {
        let count = reader.u16().within(|| "the field count")?;
        let mut fields = Vec::with_capacity(reader.capacity(count, 8));
        for index in 0..count {
            fields.push(self.field(reader).within(|| format!("field {index} of {count}"))?);
        }
        Ok(fields)
    }

    fn field(&mut self, reader: &mut Reader<'_>) -> Result<FieldInfo, ReadError> {
        let access = reader.u16()?;
        let name = self.text(reader)?;
        let descriptor = self.text(reader)?;
        let mut annotations = Vec::new();
        self.attributes(reader, |parser, attribute, reader| {
            if annotation::is_annotations(attribute) {
                parser.optional(&mut annotations, reader, attribute, &name, |pool, reader| {
                    annotation::parse(reader, pool)
                });
            }
            Ok(())
        })
        .within(|| format!("`{name}`"))?;
        Ok(FieldInfo { access, name, descriptor, annotations })
    }

    fn methods(&mut self, reader: &mut Reader<'_>) -> Result<Vec<MethodInfo>, ReadError> {
        let count = reader.u16().within(|| "the method count")?;
        let mut methods: Vec<MethodInfo> = Vec::with_capacity(reader.capacity(count, 8));
        let start = reader.offset();
        for index in 0..count {
            methods.push(self.method(reader).within(|| format!("method {index} of {count}"))?);
        }
        let mut seen = FxHashSet::default();
        if let Some(again) = methods.iter().find(|m| !seen.insert((&m.name, &m.descriptor))) {
            let what = format!("there are two methods `{}{}`", again.name, again.descriptor);
            return Err(ReadError::at(ReadErrorKind::Invalid(what), start));
        }
        Ok(methods)
    }

    fn method(&mut self, reader: &mut Reader<'_>) -> Result<MethodInfo, ReadError> {
        let access = reader.u16()?;
        let name = self.text(reader)?;
        let descriptor = self.text(reader)?;
        let mut method = MethodInfo {
            access,
            name: Arc::clone(&name),
            descriptor: Arc::clone(&descriptor),
            code: None,
            exceptions: Vec::new(),
            annotations: Vec::new(),
            parameter_names: Vec::new(),
        };
        let title = MethodTitle { name: &name, descriptor: &descriptor };
        self.attributes(reader, |parser, attribute, reader| {
            match attribute {
                "Code" => {
                    if method.code.is_some() {
                        return Err(reader
                            .fail(ReadErrorKind::Invalid("a second Code attribute".to_owned())));
                    }
                    method.code = Some(parser.code(reader, &title)?);
                    reader.finish()?;
                }
                "Exceptions" => method.exceptions = parser.class_names(reader)?,
                "MethodParameters" => parser.optional(
                    &mut method.parameter_names,
                    reader,
                    attribute,
                    &title,
                    parameter_names,
                ),
                _ if annotation::is_annotations(attribute) => parser.optional(
                    &mut method.annotations,
                    reader,
                    attribute,
                    &title,
                    |pool, reader| annotation::parse(reader, pool),
                ),
                _ => {}
            }
            Ok(())
        })
        .within(|| &title)?;
        Ok(method)
    }

    fn code(
        &mut self,
        reader: &mut Reader<'_>,
        method: &MethodTitle<'_>,
    ) -> Result<Code, ReadError> {
        let (max_stack, max_locals, length) = if self.version.has_narrow_code_header() {
            (u16::from(reader.u8()?), u16::from(reader.u8()?), u32::from(reader.u16()?))
        } else {
            (reader.u16()?, reader.u16()?, reader.u32()?)
        };
        // Jumps, handlers and line numbers have 16-bit offsets, so the JVM allows no more.
        if length == 0 || length > 0xffff {
            let what = format!("a code length of {length} (1 to 65535 are allowed)");
            return Err(reader.fail(ReadErrorKind::Invalid(what)));
        }
        let start = reader.offset();
        reader.bytes(length as usize)?;
        let range = start..reader.offset();

        let handler_count = reader.u16()?;
        let mut handlers = Vec::with_capacity(reader.capacity(handler_count, 8));
        for index in 0..handler_count {
            handlers.push(
                self.handler(reader, length).within(|| format!("exception handler {index}"))?,
            );
        }

        let mut lines = Vec::new();
        let mut locals = Vec::new();
        self.attributes(reader, |parser, attribute, reader| {
            match attribute {
                "LineNumberTable" => {
                    parser.optional(&mut lines, reader, attribute, method, |_, reader| {
                        line_numbers(reader)
                    });
                }
                "LocalVariableTable" => {
                    parser.optional(&mut locals, reader, attribute, method, local_variables);
                }
                _ => {}
            }
            Ok(())
        })?;
        lines.sort_by_key(|&(offset, _)| offset);
        locals.sort_by_key(|local: &LocalVariable| (local.start, local.slot));
        Ok(Code { max_stack, max_locals, range, handlers, lines, locals })
    }

    fn handler(&self, reader: &mut Reader<'_>, code_length: u32) -> Result<Handler, ReadError> {
        let place = reader.clone();
        let start = u32::from(reader.u16()?);
        let end = u32::from(reader.u16()?);
        let target = u32::from(reader.u16()?);
        let catch_index = reader.u16()?;
        if start >= end || end > code_length || target >= code_length {
            let what = format!(
                "the range {start}..{end} with target {target} lies outside the {code_length} \
                 bytes of code"
            );
            return Err(place.fail(ReadErrorKind::Invalid(what)));
        }
        let catch_type = located(&place, self.pool.optional_class(catch_index))?.cloned();
        Ok(Handler { start, end, target, catch_type })
    }

    fn class_attributes(&mut self, reader: &mut Reader<'_>) -> Result<ClassAttributes, ReadError> {
        let mut found = ClassAttributes::default();
        self.attributes(reader, |parser, attribute, reader| {
            match attribute {
                "SourceFile" => found.source_file = Some(parser.text(reader)?),
                "BootstrapMethods" => found.bootstrap_methods = bootstrap_methods(reader)?,
                "NestHost" => found.nest_host = Some(parser.class_name(reader)?),
                "NestMembers" => found.nest_members = parser.class_names(reader)?,
                "InnerClasses" => found.inner_classes = parser.inner_classes(reader)?,
                "EnclosingMethod" => {
                    found.enclosing_method = Some(parser.enclosing_method(reader)?);
                }
                "PermittedSubclasses" => found.permitted_subclasses = parser.class_names(reader)?,
                "Record" => found.is_record = true,
                _ if annotation::is_annotations(attribute) => parser.optional(
                    &mut found.annotations,
                    reader,
                    attribute,
                    "the class",
                    |pool, reader| annotation::parse(reader, pool),
                ),
                _ => {}
            }
            Ok(())
        })
        .within(|| "the class")?;
        Ok(found)
    }

    fn inner_classes(&self, reader: &mut Reader<'_>) -> Result<Vec<InnerClass>, ReadError> {
        let count = reader.u16()?;
        let mut rows = Vec::with_capacity(reader.capacity(count, 8));
        for _ in 0..count {
            let inner = self.class_name(reader)?;
            let outer_index = reader.u16()?;
            let outer = located(reader, self.pool.optional_class(outer_index))?.cloned();
            let name_index = reader.u16()?;
            let name = located(reader, self.pool.optional_text(name_index))?.cloned();
            rows.push(InnerClass { inner, outer, name, access: reader.u16()? });
        }
        Ok(rows)
    }

    fn enclosing_method(&self, reader: &mut Reader<'_>) -> Result<EnclosingMethod, ReadError> {
        let class = self.class_name(reader)?;
        let method = match reader.u16()? {
            0 => None,
            index => {
                let (name, descriptor) = located(reader, self.pool.name_and_type(index))?;
                Some((Arc::clone(name), Arc::clone(descriptor)))
            }
        };
        Ok(EnclosingMethod { class, method })
    }

    /// Hands each attribute to `visit` by name, with a reader that ends where the attribute does.
    fn attributes(
        &mut self,
        reader: &mut Reader<'_>,
        mut visit: impl FnMut(&mut Self, &str, &mut Reader<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let pool = self.pool;
        let count = reader.u16().within(|| "the attribute count")?;
        for index in 0..count {
            let name_index = reader.u16().within(|| format!("attribute {index} of {count}"))?;
            let name = located(reader, pool.text(PoolIndex(name_index)))
                .within(|| format!("attribute {index} of {count}"))?;
            let length = reader.u32().within(|| name)?;
            let mut content = reader.take(length as usize).within(|| name)?;
            visit(self, name, &mut content).within(|| name)?;
        }
        Ok(())
    }

    /// Adds the rows of an attribute that code does not depend on. When its bytes make no sense the
    /// attribute is left out and noted, since the JVM would run the class all the same.
    fn optional<T>(
        &mut self,
        rows: &mut Vec<T>,
        reader: &mut Reader<'_>,
        attribute: &str,
        owner: impl fmt::Display,
        parse: impl FnOnce(&ConstantPool, &mut Reader<'_>) -> Result<Vec<T>, ReadError>,
    ) {
        match parse(self.pool, reader) {
            Ok(more) if rows.is_empty() => *rows = more,
            Ok(more) => rows.extend(more),
            Err(error) => self.skipped.push(error.within(attribute).within(owner)),
        }
    }

    fn text(&self, reader: &mut Reader<'_>) -> Result<Arc<str>, ReadError> {
        read_text(self.pool, reader)
    }

    fn class_name(&self, reader: &mut Reader<'_>) -> Result<Arc<str>, ReadError> {
        let place = reader.clone();
        let index = reader.u16()?;
        located(&place, self.pool.class_name(PoolIndex(index))).cloned()
    }

    fn class_names(&self, reader: &mut Reader<'_>) -> Result<Vec<Arc<str>>, ReadError> {
        let count = reader.u16()?;
        let mut names = Vec::with_capacity(reader.capacity(count, 2));
        for _ in 0..count {
            names.push(self.class_name(reader)?);
        }
        Ok(names)
    }
}

/// A method as errors name it; the text is only made when there is an error.
struct MethodTitle<'a> {
    name: &'a str,
    descriptor: &'a str,
}

impl fmt::Display for MethodTitle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}{}`", self.name, self.descriptor)
    }
}

/// Reads the number of a text constant and gives its text.
pub(crate) fn read_text(
    pool: &ConstantPool,
    reader: &mut Reader<'_>,
) -> Result<Arc<str>, ReadError> {
    let place = reader.clone();
    let index = reader.u16()?;
    located(&place, pool.text(PoolIndex(index))).cloned()
}

/// Moves the place of a constant pool failure to the place that needed the constant: that is where
/// the reader of the message has to start looking.
pub(crate) fn located<T>(place: &Reader<'_>, result: Result<T, ReadError>) -> Result<T, ReadError> {
    result.map_err(|error| ReadError { offset: place.offset(), ..error })
}

fn parameter_names(
    pool: &ConstantPool,
    reader: &mut Reader<'_>,
) -> Result<Vec<Option<Arc<str>>>, ReadError> {
    let count = reader.u8()?;
    let mut names = Vec::with_capacity(reader.capacity(u16::from(count), 4));
    for _ in 0..count {
        let index = reader.u16()?;
        names.push(located(reader, pool.optional_text(index))?.cloned());
        let _access = reader.u16()?;
    }
    Ok(names)
}

fn line_numbers(reader: &mut Reader<'_>) -> Result<Vec<(u32, u32)>, ReadError> {
    let count = reader.u16()?;
    let mut lines = Vec::with_capacity(reader.capacity(count, 4));
    for _ in 0..count {
        lines.push((u32::from(reader.u16()?), u32::from(reader.u16()?)));
    }
    Ok(lines)
}

fn local_variables(
    pool: &ConstantPool,
    reader: &mut Reader<'_>,
) -> Result<Vec<LocalVariable>, ReadError> {
    let count = reader.u16()?;
    let mut locals = Vec::with_capacity(reader.capacity(count, 10));
    for _ in 0..count {
        locals.push(LocalVariable {
            start: u32::from(reader.u16()?),
            length: u32::from(reader.u16()?),
            name: read_text(pool, reader)?,
            descriptor: read_text(pool, reader)?,
            slot: reader.u16()?,
        });
    }
    Ok(locals)
}

fn bootstrap_methods(reader: &mut Reader<'_>) -> Result<Vec<BootstrapMethod>, ReadError> {
    let count = reader.u16()?;
    let mut methods = Vec::with_capacity(reader.capacity(count, 4));
    for _ in 0..count {
        let method = PoolIndex(reader.u16()?);
        let argument_count = reader.u16()?;
        let mut arguments = Vec::with_capacity(reader.capacity(argument_count, 2));
        for _ in 0..argument_count {
            arguments.push(PoolIndex(reader.u16()?));
        }
        methods.push(BootstrapMethod { method, arguments });
    }
    Ok(methods)
}
