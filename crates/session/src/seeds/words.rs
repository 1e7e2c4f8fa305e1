//! Words of a program: the short strings among its constants. Parsers compare their input with keywords; a mutant with one of them in its place gets
//! behind the comparison, however the program compares (Fioraldi et al., "AFL++", WOOT 2020, section 3: dictionaries taken from the program).

use std::collections::BTreeSet;

use wryneck_exec::Image;
use wryneck_ir::global_flags::READ_ONLY;
use wryneck_machine::Elf;

/// Bytes of a word. Longer strings are messages more often than keywords.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=24;
/// Most words; of more, the shortest.
const MOST: usize = 512;

/// The words of the program itself, without those of its libraries.
pub fn words(image: &Image, elf: Option<&Elf>) -> Vec<Box<[u8]>> {
    let units = image.program.units.iter().filter(|unit| !unit.library);
    let constants = units.flat_map(|unit| {
        let constants = unit.module.globals.iter().filter(|global| global.flags & READ_ONLY != 0);
        constants.map(|global| unit.module.bytes.range(global.init))
    });
    let segments = elf.into_iter().flat_map(|elf| &elf.segments).filter(|segment| !segment.executable && !segment.writable);
    let sections = segments.filter(|segment| segment.name.starts_with(".rodata")).map(|segment| &segment.bytes[..]);
    let mut all: Vec<Box<[u8]>> = constants.chain(sections).flat_map(of_bytes).collect::<BTreeSet<_>>().into_iter().collect();
    all.sort_by_key(|word| word.len());
    all.truncate(MOST);
    all
}

/// What stands between zeros, if it is a word.
fn of_bytes(bytes: &[u8]) -> impl Iterator<Item = Box<[u8]>> {
    let parts = bytes.split(|byte| *byte == 0);
    parts.filter(|part| LENGTHS.contains(&part.len()) && part.iter().all(u8::is_ascii_graphic)).map(Box::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_short_and_have_no_spaces() {
        let found: Vec<Box<[u8]>> = of_bytes(b"true\0x\0a message\0\x01\x02\0%YAML").collect();
        assert_eq!(found, [Box::from(&b"true"[..]), Box::from(&b"%YAML"[..])]);
    }
}
