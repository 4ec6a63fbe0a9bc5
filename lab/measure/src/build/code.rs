//! Whether two contestants are the same code.

use object::{Object, ObjectSection, SectionFlags, elf};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use tiebreak_core::quantity::hexadecimal;

/// Returns a hash of everything of a library that is loaded, except notes, which have the hash of
/// its whole file; `None` if it cannot be read. Libraries with the same hash do the same in the
/// same time.
pub fn print_of(library: &Path) -> Option<String> {
    let bytes = fs::read(library).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let mut hash = Sha256::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { return None };
        let name = section.name().ok()?;
        if sh_flags & u64::from(elf::SHF_ALLOC) == 0 || name.starts_with(".note") {
            continue;
        }
        let data = section.data().ok()?;
        hash.update(format!("{name} {} {}\n", section.size(), data.len()));
        hash.update(data);
    }
    Some(hexadecimal(&hash.finalize()))
}
