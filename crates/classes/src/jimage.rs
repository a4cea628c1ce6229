//! The JDK's module image, `lib/modules`.
//!
//! The format is not specified; this follows `jdk.internal.jimage` and the launcher's
//! `imageFile.hpp`. The image is in the byte order of the machine that made it:
//!
//! ```text
//! header      magic, version, flags, resource count, table length, locations size, strings size
//! redirect    table length × i32    perfect hash from names to locations
//! offsets     table length × u32    where each location is in the locations
//! locations   attributes of each resource: module, parent, base, extension, place
//! strings     zero-terminated modified UTF-8
//! resources
//! ```
//!
//! Whoever wants all classes walks all locations once, and the list answers every question. Whoever wants a few classes
//! of a known module, as fast as possible, uses the redirect table ([`ImageLookup`]). Resources are read on demand.

use crate::error::{ReadError, ReadErrorKind, Within};
use crate::inflate::{self, Wrapping};
use crate::storage::{Storage, fail};

const MAGIC: u32 = 0xcafe_dada;
const HEADER_LENGTH: u64 = 28;
const COMPRESSED_MAGIC: u32 = 0xcafe_fafa;
const COMPRESSED_HEADER_LENGTH: usize = 29;

/// No class file is larger; a larger resource is a damaged image.
const MAX_RESOURCE_BYTES: u64 = 64 << 20;

/// How many compressions may be stacked on one resource; `jlink` stacks two at most.
const MAX_COMPRESSIONS: usize = 4;

const ATTRIBUTE_END: u8 = 0;
const ATTRIBUTE_MODULE: usize = 1;
const ATTRIBUTE_PARENT: usize = 2;
const ATTRIBUTE_BASE: usize = 3;
const ATTRIBUTE_EXTENSION: usize = 4;
const ATTRIBUTE_OFFSET: usize = 5;
const ATTRIBUTE_COMPRESSED: usize = 6;
const ATTRIBUTE_UNCOMPRESSED: usize = 7;

/// Whether bytes start as an image does, in either byte order.
pub(crate) fn is_image(start: &[u8]) -> bool {
    start.starts_with(&MAGIC.to_be_bytes()) || start.starts_with(&MAGIC.to_le_bytes())
}

/// An opened image. Resources can be read from any thread.
#[derive(Debug)]
pub(crate) struct Image {
    storage: Storage,
    order: ByteOrder,
    strings: Vec<u8>,
    resources_start: u64,
}

/// A class in an image.
#[derive(Clone, Debug)]
pub(crate) struct ImageClass {
    pub(crate) module: String,
    /// Internal form.
    pub(crate) name: String,
    pub(crate) place: ResourceLocation,
}

/// Where the bytes of a resource are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResourceLocation {
    /// From the start of the resources.
    offset: u64,
    /// 0 when the resource is not compressed.
    compressed: u64,
    uncompressed: u64,
}

#[derive(Clone, Copy, Debug)]
enum ByteOrder {
    Big,
    Little,
}

impl ByteOrder {
    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = match bytes.get(at..at + 4) {
            Some(slice) => [slice[0], slice[1], slice[2], slice[3]],
            None => return 0,
        };
        match self {
            ByteOrder::Big => u32::from_be_bytes(four),
            ByteOrder::Little => u32::from_le_bytes(four),
        }
    }

    fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.u32(bytes, at)), u64::from(self.u32(bytes, at + 4)));
        match self {
            ByteOrder::Big => first << 32 | second,
            ByteOrder::Little => second << 32 | first,
        }
    }
}

/// Where the parts of an image are.
#[derive(Clone, Copy, Debug)]
struct Header {
    order: ByteOrder,
    table_length: u64,
    offsets_start: u64,
    locations_start: u64,
    strings_start: u64,
    resources_start: u64,
}

impl Header {
    fn read(storage: &Storage) -> Result<Header, ReadError> {
        let header = storage.read(0, HEADER_LENGTH).within(|| "the header of the image")?;
        let order = match [ByteOrder::Little, ByteOrder::Big]
            .into_iter()
            .find(|order| order.u32(&header, 0) == MAGIC)
        {
            Some(order) => order,
            None => {
                let found = ByteOrder::Big.u32(&header, 0);
                let expected = "a JDK image";
                return Err(fail(ReadErrorKind::BadMagic { found, expected }, 0));
            }
        };
        let major = order.u32(&header, 4) >> 16;
        if major != 1 {
            let what = format!("version {major} of the image format");
            return Err(fail(ReadErrorKind::Unsupported(what), 4));
        }
        let table_length = u64::from(order.u32(&header, 16));
        let locations_size = u64::from(order.u32(&header, 20));
        let strings_size = u64::from(order.u32(&header, 24));
        // Sums of 32-bit numbers cannot overflow 64 bits.
        let offsets_start = HEADER_LENGTH + table_length * 4;
        let locations_start = offsets_start + table_length * 4;
        let strings_start = locations_start + locations_size;
        let resources_start = strings_start + strings_size;
        Ok(Header {
            order,
            table_length,
            offsets_start,
            locations_start,
            strings_start,
            resources_start,
        })
    }
}

/// The attributes of a location: numbers by kind.
fn attributes_at(locations: &[u8], mut position: usize) -> Result<[u64; 8], ReadError> {
    let mut attributes = [0_u64; 8];
    loop {
        let truncated = || ReadError::at(ReadErrorKind::Truncated { needed: 1 }, position);
        let head = *locations.get(position).ok_or_else(truncated)?;
        let kind = head >> 3;
        if kind == ATTRIBUTE_END {
            return Ok(attributes);
        }
        let length = usize::from(head & 7) + 1;
        let value = locations.get(position + 1..position + 1 + length).ok_or_else(truncated)?;
        if let Some(attribute) = attributes.get_mut(usize::from(kind)) {
            *attribute = value.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        }
        position += 1 + length;
    }
}

/// The place that the attributes of a location name.
fn resource_location(attributes: &[u64; 8]) -> ResourceLocation {
    ResourceLocation {
        offset: attributes[ATTRIBUTE_OFFSET],
        compressed: attributes[ATTRIBUTE_COMPRESSED],
        uncompressed: attributes[ATTRIBUTE_UNCOMPRESSED],
    }
}

/// Finds single classes in an image without listing it.
#[derive(Debug)]
pub(crate) struct ImageLookup {
    header: Header,
    image: Image,
}

/// What the hash of names starts from, and multiplies with.
const HASH_MULTIPLIER: u32 = 0x0100_0193;
/// No location of a class is longer: seven attributes of at most nine bytes, and the end.
const LONGEST_LOCATION: u64 = 64;

fn hash(name: &str, seed: u32) -> u32 {
    let step = |hash: u32, byte: u8| hash.wrapping_mul(HASH_MULTIPLIER) ^ u32::from(byte);
    name.bytes().fold(seed, step) & 0x7fff_ffff
}

impl ImageLookup {
    /// Opens an image.
    pub(crate) fn open(storage: Storage) -> Result<ImageLookup, ReadError> {
        let header = Header::read(&storage)?;
        let strings = storage
            .read(header.strings_start, header.resources_start - header.strings_start)
            .within(|| "the strings of the image")?;
        let resources_start = header.resources_start;
        let image = Image { storage, order: header.order, strings, resources_start };
        Ok(ImageLookup { header, image })
    }

    fn number(&self, start: u64, index: u64) -> Result<u32, ReadError> {
        let bytes = self.image.storage.read(start + index * 4, 4)?;
        Ok(self.header.order.u32(&bytes, 0))
    }

    /// The bytes of a class of a module; nothing when the module has no such class.
    pub(crate) fn read(&self, module: &str, class: &str) -> Result<Option<Vec<u8>>, ReadError> {
        let length = self.header.table_length;
        if length == 0 {
            return Ok(None);
        }
        let name = format!("/{module}/{class}.class");
        let index = u64::from(hash(&name, HASH_MULTIPLIER)) % length;
        let redirect = self.number(HEADER_LENGTH, index)?.cast_signed();
        let index = match redirect {
            0 => return Ok(None),
            1.. => u64::from(hash(&name, redirect.cast_unsigned())) % length,
            ..0 => u64::from((-1 - redirect).cast_unsigned()) % length,
        };
        let start =
            self.header.locations_start + u64::from(self.number(self.header.offsets_start, index)?);
        let longest = LONGEST_LOCATION.min(self.header.strings_start.saturating_sub(start));
        let attributes = attributes_at(&self.image.storage.read(start, longest)?, 0)?;
        let part = |attribute: usize| self.image.string(attributes[attribute]).unwrap_or_default();
        let found = format!(
            "/{}/{}/{}.{}",
            part(ATTRIBUTE_MODULE),
            part(ATTRIBUTE_PARENT),
            part(ATTRIBUTE_BASE),
            part(ATTRIBUTE_EXTENSION)
        );
        // The hash is perfect for names that are there, and says nothing of others.
        if found != name {
            return Ok(None);
        }
        self.image.read(resource_location(&attributes)).map(Some)
    }
}

impl Image {
    /// Opens an image and lists its classes, in no particular order. Module descriptors are left
    /// out: they all have the same name and hold no code.
    pub(crate) fn open(storage: Storage) -> Result<(Image, Vec<ImageClass>), ReadError> {
        let header = Header::read(&storage)?;
        let Header { order, offsets_start, table_length, locations_start, strings_start, .. } =
            header;
        let locations_size = strings_start - locations_start;
        let strings_size = header.resources_start - strings_start;
        let offsets =
            storage.read(offsets_start, table_length * 4).within(|| "the offsets of the image")?;
        let locations = storage
            .read(locations_start, locations_size)
            .within(|| "the locations of the image")?;
        let strings =
            storage.read(strings_start, strings_size).within(|| "the strings of the image")?;
        let image = Image { storage, order, strings, resources_start: header.resources_start };

        let mut classes = Vec::new();
        for index in 0..offsets.len() / 4 {
            let location = order.u32(&offsets, index * 4) as usize;
            if let Some(class) = image
                .class_at(&locations, location)
                .within(|| format!("location {index} of the image"))
                .map_err(|error| ReadError {
                    offset: usize::try_from(locations_start).unwrap_or(usize::MAX) + location,
                    ..error
                })?
            {
                classes.push(class);
            }
        }
        Ok((image, classes))
    }

    /// The content of a resource.
    pub(crate) fn read(&self, place: ResourceLocation) -> Result<Vec<u8>, ReadError> {
        let offset = self.resources_start.saturating_add(place.offset);
        let is_compressed = place.compressed != 0;
        let length = if is_compressed { place.compressed } else { place.uncompressed };
        if length > MAX_RESOURCE_BYTES {
            return Err(fail(ReadErrorKind::TooLarge(MAX_RESOURCE_BYTES), offset));
        }
        let bytes = self.storage.read(offset, length)?;
        if is_compressed {
            self.decompress(bytes).map_err(|kind| fail(kind, offset))
        } else {
            Ok(bytes)
        }
    }

    /// Undoes the compressions that are stacked on a resource, outermost first. Each has a header
    /// with its name; what does not start with such a header is the resource itself.
    fn decompress(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, ReadErrorKind> {
        for _ in 0..MAX_COMPRESSIONS {
            let Some((header, content)) = bytes.split_at_checked(COMPRESSED_HEADER_LENGTH) else {
                return Ok(bytes);
            };
            if self.order.u32(header, 0) != COMPRESSED_MAGIC {
                return Ok(bytes);
            }
            let compressed = self.order.u64(header, 4);
            let uncompressed = self.order.u64(header, 12);
            let name = self.string(u64::from(self.order.u32(header, 20)));
            if name.as_deref() != Some("zip") {
                let name = name.unwrap_or_default();
                return Err(ReadErrorKind::Unsupported(format!("the compression `{name}`")));
            }
            let length = usize::try_from(compressed).unwrap_or(usize::MAX).min(content.len());
            let (result, _) = inflate::inflate(
                &content[..length],
                Wrapping::Zlib,
                uncompressed,
                MAX_RESOURCE_BYTES,
            );
            bytes = result?;
        }
        Ok(bytes)
    }

    /// The class of a location; nothing when the resource is something else.
    fn class_at(&self, locations: &[u8], position: usize) -> Result<Option<ImageClass>, ReadError> {
        let attributes = attributes_at(locations, position)?;
        let text = |attribute: usize| {
            self.string(attributes[attribute]).ok_or_else(|| {
                let what = format!("there is no string at {}", attributes[attribute]);
                ReadError::at(ReadErrorKind::Invalid(what), position)
            })
        };
        let base = text(ATTRIBUTE_BASE)?;
        if text(ATTRIBUTE_EXTENSION)? != "class" || base == "module-info" {
            return Ok(None);
        }
        let parent = text(ATTRIBUTE_PARENT)?;
        let name = if parent.is_empty() { base } else { format!("{parent}/{base}") };
        Ok(Some(ImageClass {
            module: text(ATTRIBUTE_MODULE)?,
            name,
            place: resource_location(&attributes),
        }))
    }

    fn string(&self, offset: u64) -> Option<String> {
        let rest = self.strings.get(usize::try_from(offset).ok()?..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        Some(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;

    /// An image with one class `p/A` in the module `m`, whose content is as given.
    fn image(order: ByteOrder, content: &[u8], compressed: u64, uncompressed: u64) -> Vec<u8> {
        let number = |value: u32| match order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        };
        let strings = b"\0m\0p\0A\0class\0zip\0odd\0";
        let mut locations = vec![ATTRIBUTE_END << 3];
        for (kind, value) in [
            (ATTRIBUTE_MODULE, 1),
            (ATTRIBUTE_PARENT, 3),
            (ATTRIBUTE_BASE, 5),
            (ATTRIBUTE_EXTENSION, 7),
            (ATTRIBUTE_COMPRESSED, compressed),
            (ATTRIBUTE_UNCOMPRESSED, uncompressed),
        ] {
            locations.push(u8::try_from(kind << 3 | 7).unwrap());
            locations.extend(value.to_be_bytes());
        }
        locations.push(ATTRIBUTE_END << 3);
        let sizes = [locations.len(), strings.len()].map(|size| u32::try_from(size).unwrap());
        let mut bytes = Vec::new();
        for value in [MAGIC, 1 << 16, 0, 1, 1, sizes[0], sizes[1], 0, 1] {
            bytes.extend(number(value));
        }
        bytes.extend(locations);
        bytes.extend(strings);
        bytes.extend(content);
        bytes
    }

    fn open(bytes: &[u8]) -> Result<(Image, Vec<ImageClass>), ReadError> {
        Image::open(Storage::Memory(Arc::from(bytes)))
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
        let (image, classes) = open(bytes)?;
        assert_eq!((&*classes[0].module, &*classes[0].name), ("m", "p/A"));
        image.read(classes[0].place)
    }

    /// A compressed resource in the byte order of small images, which here is little-endian.
    fn compressed(name_offset: u32, plain: &[u8]) -> Vec<u8> {
        let mut encoder =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(plain).unwrap();
        let data = encoder.finish().unwrap();
        let mut content = COMPRESSED_MAGIC.to_le_bytes().to_vec();
        content.extend((data.len() as u64).to_le_bytes());
        content.extend((plain.len() as u64).to_le_bytes());
        content.extend(name_offset.to_le_bytes());
        content.extend([0, 0, 0, 0, 1]);
        content.extend(data);
        content
    }

    #[test]
    fn both_byte_orders_are_read() {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            assert_eq!(read(&image(order, b"content", 0, 7)).unwrap(), b"content");
        }
        let error = read(&image(ByteOrder::Little, b"content", 0, 9)).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::Truncated { needed: 2 });
        let error = read(&image(ByteOrder::Little, b"content", 0, u64::MAX)).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::TooLarge(MAX_RESOURCE_BYTES));
    }

    #[test]
    fn stacked_compressions_are_undone() {
        let once = compressed(13, b"content");
        let twice = compressed(13, &once);
        for content in [once, twice] {
            let length = content.len() as u64;
            assert_eq!(read(&image(ByteOrder::Little, &content, length, 7)).unwrap(), b"content");
        }
        let odd = compressed(17, b"content");
        let error = read(&image(ByteOrder::Little, &odd, odd.len() as u64, 7)).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::Unsupported("the compression `odd`".to_owned()));
    }

    #[test]
    fn no_truncation_and_no_flipped_byte_panics() {
        let content = compressed(13, b"content");
        let whole = image(ByteOrder::Little, &content, content.len() as u64, 7);
        let try_all = |bytes: &[u8]| {
            if let Ok((image, classes)) = open(bytes) {
                for class in classes {
                    let _ = image.read(class.place);
                }
            }
        };
        for index in 0..whole.len() {
            try_all(&whole[..index]);
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[index] ^= 1 << bit;
                try_all(&damaged);
            }
        }
    }
}
