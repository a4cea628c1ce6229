//! The smallest class files that serve a test, written byte by byte.

use std::sync::Arc;

use classes::ClassFile;

/// A class file under construction. Constants are added as they are needed.
pub(crate) struct TinyClass {
    constants: Vec<u8>,
    constant_count: u16,
}

impl TinyClass {
    pub(crate) fn new() -> TinyClass {
        TinyClass { constants: Vec::new(), constant_count: 1 }
    }

    pub(crate) fn constant(&mut self, tag: u8, content: &[u8]) -> u16 {
        self.constants.push(tag);
        self.constants.extend(content);
        self.constant_count += 1;
        self.constant_count - 1
    }

    pub(crate) fn text(&mut self, text: &str) -> u16 {
        let length = u16::try_from(text.len()).unwrap().to_be_bytes();
        self.constant(1, &[&length[..], text.as_bytes()].concat())
    }

    pub(crate) fn class(&mut self, name: &str) -> u16 {
        let name = self.text(name);
        self.constant(7, &name.to_be_bytes())
    }

    /// The bytes of the class, given its methods, each as the bytes of a `method_info`.
    pub(crate) fn finish(
        mut self,
        name: &str,
        version: (u16, u16),
        methods: &[Vec<u8>],
        class_attributes: &[Vec<u8>],
    ) -> Vec<u8> {
        let this = self.class(name);
        let parent = self.class("java/lang/Object");
        let mut bytes = vec![0xca, 0xfe, 0xba, 0xbe];
        let numbers = |bytes: &mut Vec<u8>, numbers: &[u16]| {
            numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
        };
        numbers(&mut bytes, &[version.1, version.0, self.constant_count]);
        bytes.extend(&self.constants);
        numbers(&mut bytes, &[0x21, this, parent, 0, 0]);
        numbers(&mut bytes, &[u16::try_from(methods.len()).unwrap()]);
        methods.iter().for_each(|method| bytes.extend(method));
        numbers(&mut bytes, &[u16::try_from(class_attributes.len()).unwrap()]);
        class_attributes.iter().for_each(|attribute| bytes.extend(attribute));
        bytes
    }
}

/// A class of this name and version, without members.
pub(crate) fn empty_class(name: &str, version: (u16, u16)) -> Vec<u8> {
    TinyClass::new().finish(name, version, &[], &[])
}

/// An attribute with its name and length.
pub(crate) fn attribute(name: u16, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&name.to_be_bytes()[..], &length, content].concat()
}

pub(crate) fn parse(bytes: &[u8]) -> Result<ClassFile, classes::ReadError> {
    ClassFile::parse(Arc::from(bytes))
}
