//! How large what users get may be.

use std::path::Path;
use std::{fs, io};

use anyhow::{Context, Result, bail};

use crate::builds::{COMMAND, LIBRARY};

/// The limits in bytes. They are for files without debug symbols.
const LIMITS: [(&str, u64); 2] = [(COMMAND, 15_000_000), (LIBRARY, 6_000_000)];

/// Fails when a file is larger than it may be. Of a file that has its symbols, what a system loads is counted.
pub(crate) fn check(file: &Path) -> Result<()> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let limit = LIMITS.iter().find(|(limited, _)| *limited == name);
    let (_, limit) = limit.with_context(|| format!("`{name}` has no limit"))?;
    let bytes = fs::read(file).with_context(|| file.display().to_string())?;
    let size = loaded_bytes(&bytes).with_context(|| format!("`{name}` is no ELF file"))?;
    if size > *limit {
        bail!(
            "`{name}` has {size} bytes without its symbols, and may have {limit}: find out what has grown"
        );
    }
    Ok(())
}

/// The bytes of all sections that are loaded, which is what is left when a file is stripped.
fn loaded_bytes(elf: &[u8]) -> io::Result<u64> {
    const ALLOCATED: u64 = 2;
    const OCCUPIES_NO_FILE: u64 = 8;
    let number = |at: usize, width: usize| -> io::Result<u64> {
        let bytes = elf.get(at..at + width).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    let index = |number: u64| usize::try_from(number).map_err(|_| io::ErrorKind::InvalidData);
    if !elf.starts_with(b"\x7fELF\x02\x01") {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let (table, entry, count) =
        (index(number(0x28, 8)?)?, index(number(0x3a, 2)?)?, index(number(0x3c, 2)?)?);
    let mut size = 0;
    for section in (0..count).map(|section| table + section * entry) {
        let (kind, flags) = (number(section + 4, 4)?, number(section + 8, 8)?);
        if flags & ALLOCATED != 0 && kind != OCCUPIES_NO_FILE {
            size += number(section + 0x20, 8)?;
        }
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one section of each kind, and nothing in them.
    fn elf(sections: &[(u32, u64, u64)]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02\x01".to_vec();
        bytes.resize(0x40, 0);
        bytes[0x28] = 0x40;
        bytes[0x3a] = 0x40;
        bytes[0x3c] = u8::try_from(sections.len()).unwrap();
        for (kind, flags, size) in sections {
            let mut header = [0; 0x40];
            header[4..8].copy_from_slice(&kind.to_le_bytes());
            header[8..16].copy_from_slice(&flags.to_le_bytes());
            header[0x20..0x28].copy_from_slice(&size.to_le_bytes());
            bytes.extend(header);
        }
        bytes
    }

    #[test]
    fn only_what_is_loaded_counts() {
        let (code, zeroed, symbols) = ((1, 6, 1000), (8, 3, 4000), (1, 0, 70_000));
        assert_eq!(loaded_bytes(&elf(&[code, zeroed, symbols, code])).unwrap(), 2000);
        assert!(loaded_bytes(b"#!/bin/sh").is_err());
        assert!(loaded_bytes(&elf(&[code])[..100]).is_err());
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let folder = std::env::temp_dir().join(format!("scission-sizes-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(COMMAND);
        fs::write(&file, elf(&[(1, 2, 15_000_000)])).unwrap();
        check(&file).unwrap();
        fs::write(&file, elf(&[(1, 2, 15_000_001)])).unwrap();
        assert!(check(&file).unwrap_err().to_string().contains("may have 15000000"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
