//! The relocations of x86-64, and how it calls functions of other libraries.

use super::machine::{Machine, put};
use super::parts::{Relocation, Section};
use super::relocate::{AtLoad, Fixup, Need, Slot};
use object::elf;

/// x86-64.
#[derive(Debug)]
pub(super) struct X86_64;

impl Machine for X86_64 {
    fn need(&self, section: &Section, one: &Relocation) -> Option<Need> {
        Some(match one.kind {
            elf::R_X86_64_NONE | elf::R_X86_64_TLSDESC_CALL => Need::Nothing,
            elf::R_X86_64_PC32 | elf::R_X86_64_PC64 => Need::Address,
            elf::R_X86_64_PLT32 => Need::Call,
            elf::R_X86_64_64 => Need::Word,
            elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
                let at = (one.offset as usize).checked_sub(2);
                let before = at.and_then(|at| section.bytes.get(at..)?.first_chunk());
                // With another addend, the instruction reads a part of the address.
                let is_whole = one.addend == -4;
                let short = before.filter(|_| is_whole).and_then(|two| shortened(one.kind, *two));
                Need::Got { slot: Slot::Address, or_address: short.is_some() }
            }
            elf::R_X86_64_GOTTPOFF => Need::Got { slot: Slot::ThreadOffset, or_address: false },
            elf::R_X86_64_TLSGD => Need::Got { slot: Slot::ThreadPair, or_address: false },
            elf::R_X86_64_GOTPC32_TLSDESC => {
                Need::Got { slot: Slot::ThreadDescriptor, or_address: false }
            }
            elf::R_X86_64_TLSLD => Need::Got { slot: Slot::OwnModule, or_address: false },
            elf::R_X86_64_DTPOFF32 | elf::R_X86_64_DTPOFF64 => Need::InModule,
            _ => return None,
        })
    }

    fn fix(&self, image: &mut [u8], fixup: &Fixup) -> Option<()> {
        let Fixup { at, kind, value, addend, is_direct } = *fixup;
        let relative = value.wrapping_add(addend as u64).wrapping_sub(at as u64) as i64;
        match kind {
            elf::R_X86_64_NONE => {}
            elf::R_X86_64_64 | elf::R_X86_64_DTPOFF64 => {
                put(image, at, &(value.wrapping_add(addend as u64)).to_le_bytes())?;
            }
            elf::R_X86_64_PC64 => put(image, at, &relative.to_le_bytes())?,
            elf::R_X86_64_DTPOFF32 => {
                let value = value.wrapping_add(addend as u64) as i64;
                put(image, at, &i32::try_from(value).ok()?.to_le_bytes())?;
            }
            _ => {
                let (mut at, mut relative) = (at, relative);
                if is_direct {
                    let opcode = at.checked_sub(2)?;
                    let short = shortened(kind, *image.get(opcode..)?.first_chunk()?)?;
                    put(image, opcode, &short)?;
                    if short[0] == JUMP {
                        // The address lies a byte earlier, and a nop follows.
                        put(image, at + 3, &[0x90])?;
                        (at, relative) = (at - 1, relative + 1);
                    }
                }
                put(image, at, &i32::try_from(relative).ok()?.to_le_bytes())?;
            }
        }
        Some(())
    }

    fn call_bytes(&self) -> (u64, u64) {
        (16, 16)
    }

    fn write_calls(&self, image: &mut [u8], table: u64, words: u64, count: u64) -> Option<()> {
        let relative = |to: u64, from: u64| (to.wrapping_sub(from) as i32).to_le_bytes();
        let at = table as usize;
        put(image, at, &[0xff, 0x35])?;
        put(image, at + 2, &relative(words + 8, table + 6))?;
        put(image, at + 6, &[0xff, 0x25])?;
        put(image, at + 8, &relative(words + 16, table + 12))?;
        put(image, at + 12, &[0x0f, 0x1f, 0x40, 0x00])?;
        for number in 0..count {
            let entry = self.call(table, number);
            let (word, at) = (words + 8 * (number + 3), entry as usize);
            put(image, at, &[0xff, 0x25])?;
            put(image, at + 2, &relative(word, entry + 6))?;
            put(image, at + 6, &[0x68])?;
            put(image, at + 7, &(number as u32).to_le_bytes())?;
            put(image, at + 11, &[0xe9])?;
            put(image, at + 12, &relative(table, entry + 16))?;
            put(image, word as usize, &(entry + 6).to_le_bytes())?;
        }
        Some(())
    }

    fn number(&self, what: AtLoad) -> elf::RelocationType {
        match what {
            AtLoad::Relative => elf::R_X86_64_RELATIVE,
            AtLoad::Word => elf::R_X86_64_64,
            AtLoad::Address => elf::R_X86_64_GLOB_DAT,
            AtLoad::Call => elf::R_X86_64_JUMP_SLOT,
            AtLoad::Module => elf::R_X86_64_DTPMOD64,
            AtLoad::OffsetInModule => elf::R_X86_64_DTPOFF64,
            AtLoad::ThreadOffset => elf::R_X86_64_TPOFF64,
            AtLoad::ThreadDescriptor => elf::R_X86_64_TLSDESC,
        }
    }
}

/// Returns the two bytes with which an instruction that reads an address from the GOT computes the
/// address itself: `mov` becomes `lea`, and an indirect call or jump a direct one.
fn shortened(kind: elf::RelocationType, before: [u8; 2]) -> Option<[u8; 2]> {
    match (before, kind) {
        ([MOV, register], _) => Some([LEA, register]),
        ([0xff, 0x15], elf::R_X86_64_GOTPCRELX) => Some([0x67, 0xe8]),
        ([0xff, 0x25], elf::R_X86_64_GOTPCRELX) => Some([JUMP, 0]),
        _ => None,
    }
}

const MOV: u8 = 0x8b;
const LEA: u8 = 0x8d;
const JUMP: u8 = 0xe9;
