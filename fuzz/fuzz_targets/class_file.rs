//! One class file: parsing it, following every constant and decoding every method body must end
//! in a value or an error, never in a panic or in memory that the input does not justify.
//!
//! Good seeds are real classes: `fuzz/corpus/class_file` may be filled from any jar.

#![no_main]

use std::sync::Arc;

use classes::{ClassFile, PoolIndex, bytecode, descriptor};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let class = match ClassFile::parse(Arc::from(data)) {
        Ok(class) => class,
        Err(error) => {
            assert!(error.offset <= data.len(), "{error}");
            return;
        }
    };
    // One number more than there are constants.
    for number in 0..=class.pool.count() {
        if let Ok(number) = u16::try_from(number) {
            let _ = class.pool.get(PoolIndex(number));
            let _ = class.pool.member_ref(PoolIndex(number));
            let _ = class.pool.dynamic(PoolIndex(number));
        }
    }
    for field in &class.fields {
        let _ = descriptor::parse_field(&field.descriptor);
    }
    for method in &class.methods {
        let _ = descriptor::parse_method(&method.descriptor);
        if let Some(code) = &method.code {
            let bytes = class.code_bytes(code);
            assert!(code.handlers.iter().all(|handler| handler.end as usize <= bytes.len()));
            let _ = bytecode::decode_all(bytes);
        }
    }
});
