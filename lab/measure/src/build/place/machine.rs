//! The processors whose relocations are known.

use super::aarch64::Aarch64;
use super::parts::{Relocation, Section};
use super::relocate::{AtLoad, Fixup, Need};
use super::x86_64::X86_64;
use object::elf;
use std::fmt::Debug;

/// A processor: its relocations, and how its code calls functions of other libraries.
pub(super) trait Machine: Debug + Sync {
    /// Returns what a relocation in a section needs; `None` if its kind is not known.
    fn need(&self, section: &Section, one: &Relocation) -> Option<Need>;

    /// Writes a relocation. Fails if the value does not fit.
    fn fix(&self, image: &mut [u8], fixup: &Fixup) -> Option<()>;

    /// Returns the sizes of the first entry of the procedure linkage table, and of each further
    /// one.
    fn call_bytes(&self) -> (u64, u64);

    /// Writes a procedure linkage table with `count` entries, and its words. `table` and `words`
    /// are the addresses of both. The first three words belong to the system's linker.
    fn write_calls(&self, image: &mut [u8], table: u64, words: u64, count: u64) -> Option<()>;

    /// Returns the number of a relocation at load.
    fn number(&self, what: AtLoad) -> elf::RelocationType;

    /// Returns the size of a procedure linkage table with this many entries.
    fn calls_bytes(&self, count: u64) -> u64 {
        if count == 0 { 0 } else { self.call(0, count) }
    }

    /// Returns the address of an entry of a procedure linkage table.
    fn call(&self, table: u64, number: u64) -> u64 {
        let (first, further) = self.call_bytes();
        table + first + further * number
    }
}

/// Returns the processor with this number of ELF; `None` if it is not known.
pub(super) fn of(number: elf::Machine) -> Option<&'static dyn Machine> {
    match number {
        elf::EM_X86_64 => Some(&X86_64),
        elf::EM_AARCH64 => Some(&Aarch64),
        _ => None,
    }
}

/// Writes bytes at a place. Fails if they do not fit.
pub(super) fn put(image: &mut [u8], at: usize, bytes: &[u8]) -> Option<()> {
    image.get_mut(at..at.checked_add(bytes.len())?)?.copy_from_slice(bytes);
    Some(())
}
