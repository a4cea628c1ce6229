//! Which class an instruction needs to be initialised: a thread at such an instruction goes on only when it is.

/// The opcodes of `getstatic`, `putstatic`, `invokestatic` and `new`.
const NEED_INITIALISED_CLASS: [u8; 4] = [0xb2, 0xb3, 0xb8, 0xbb];

/// The class that the instruction at a place needs, by its internal name; nothing if it needs none. The code and the constants
/// are what the JVM says that a method and its class have.
pub(crate) fn awaited_class(code: &[u8], at: usize, constants: &[u8]) -> Option<String> {
    let opcode = code.get(at)?;
    if !NEED_INITIALISED_CLASS.contains(opcode) {
        return None;
    }
    let index = u16::from_be_bytes([*code.get(at + 1)?, *code.get(at + 2)?]);
    let pool = offsets(constants)?;
    let entry = |index: u16| pool.get(usize::from(index)).copied().flatten();
    let number = |offset: usize| {
        Some(u16::from_be_bytes([*constants.get(offset)?, *constants.get(offset + 1)?]))
    };
    // A member names its class first; a class names its name.
    let (tag, offset) = entry(index)?;
    let class = if tag == CLASS { offset } else { entry(number(offset)?)?.1 };
    let (tag, name) = entry(number(class)?)?;
    let length = usize::from(number(name)?);
    let bytes = constants.get(name + 2..name + 2 + length)?;
    (tag == UTF8).then(|| String::from_utf8_lossy(bytes).into_owned())
}

const UTF8: u8 = 1;
const CLASS: u8 = 7;

/// The tag of each constant, and where what follows it begins.
fn offsets(constants: &[u8]) -> Option<Vec<Option<(u8, usize)>>> {
    let mut offsets = vec![None];
    let mut at = 0;
    while at < constants.len() {
        let tag = constants[at];
        let after = at + 1;
        let length = match tag {
            UTF8 => {
                let length = [*constants.get(after)?, *constants.get(after + 1)?];
                2 + usize::from(u16::from_be_bytes(length))
            }
            3 | 4 | 9..=12 | 17 | 18 => 4,
            5 | 6 => 8,
            CLASS | 8 | 16 | 19 | 20 => 2,
            15 => 3,
            _ => return None,
        };
        offsets.push(Some((tag, after)));
        if matches!(tag, 5 | 6) {
            offsets.push(None);
        }
        at = after + length;
    }
    Some(offsets)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 a long, 3 a class, 4 its name, 5 a field of it.
    const CONSTANTS: &[u8] =
        &[5, 0, 0, 0, 0, 0, 0, 0, 1, 7, 0, 4, 1, 0, 3, b'p', b'/', b'A', 9, 0, 3, 0, 9];

    #[test]
    fn instructions_that_need_a_class_name_it() {
        let awaited = |code: &[u8], at| awaited_class(code, at, CONSTANTS);
        assert_eq!(awaited(&[0x00, 0xb2, 0, 5], 1).as_deref(), Some("p/A"));
        assert_eq!(awaited(&[0xbb, 0, 3], 0).as_deref(), Some("p/A"));
        assert_eq!(awaited(&[0xb4, 0, 5], 0), None, "an instance exists already");
        assert_eq!(awaited(&[0xb2, 0, 2], 0), None, "there is no such constant");
        assert_eq!(awaited(&[0xb2, 0], 0), None);
    }
}
