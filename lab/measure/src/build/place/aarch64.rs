//! The relocations of AArch64, and how it calls functions of other libraries.

use super::machine::{Machine, put};
use super::parts::{Relocation, Section};
use super::relocate::{AtLoad, Fixup, Need, Slot};
use object::elf;

/// AArch64, little-endian.
#[derive(Debug)]
pub(super) struct Aarch64;

impl Machine for Aarch64 {
    fn need(&self, _: &Section, one: &Relocation) -> Option<Need> {
        let got = |slot| Need::Got { slot, or_address: false };
        Some(match one.kind {
            elf::R_AARCH64_NONE | elf::R_AARCH64_TLSDESC_CALL => Need::Nothing,
            elf::R_AARCH64_ABS64 => Need::Word,
            elf::R_AARCH64_PREL32 | elf::R_AARCH64_PREL64 => Need::Address,
            elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => Need::Call,
            elf::R_AARCH64_ADR_GOT_PAGE | elf::R_AARCH64_LD64_GOT_LO12_NC => got(Slot::Address),
            elf::R_AARCH64_TLSGD_ADR_PAGE21 | elf::R_AARCH64_TLSGD_ADD_LO12_NC => {
                got(Slot::ThreadPair)
            }
            elf::R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21
            | elf::R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC => got(Slot::ThreadOffset),
            elf::R_AARCH64_TLSDESC_ADR_PAGE21
            | elf::R_AARCH64_TLSDESC_LD64_LO12
            | elf::R_AARCH64_TLSDESC_ADD_LO12 => got(Slot::ThreadDescriptor),
            kind => {
                field(kind)?;
                Need::Address
            }
        })
    }

    fn fix(&self, image: &mut [u8], fixup: &Fixup) -> Option<()> {
        let Fixup { at, kind, value, addend, .. } = *fixup;
        let address = value.wrapping_add(addend as u64);
        let relative = address.wrapping_sub(at as u64) as i64;
        match kind {
            elf::R_AARCH64_ABS64 => return put(image, at, &address.to_le_bytes()),
            elf::R_AARCH64_PREL64 => return put(image, at, &relative.to_le_bytes()),
            elf::R_AARCH64_PREL32 => {
                return put(image, at, &i32::try_from(relative).ok()?.to_le_bytes());
            }
            _ => {}
        }
        let field = field(kind)?;
        let number = match field.of {
            Of::Distance => relative,
            Of::Pages => page(address).wrapping_sub(page(at as u64)) as i64,
            Of::InPage => (address % PAGE) as i64,
        };
        if number & ((1 << field.scale) - 1) != 0 {
            return None;
        }
        let number = number >> field.scale;
        if field.of != Of::InPage && number >> (field.bits - 1) != number >> 63 {
            return None;
        }
        let word = image.get(at..at + 4)?.try_into().ok()?;
        put(image, at, &field.write(u32::from_le_bytes(word), number).to_le_bytes())
    }

    fn call_bytes(&self) -> (u64, u64) {
        (32, 16)
    }

    fn write_calls(&self, image: &mut [u8], table: u64, words: u64, count: u64) -> Option<()> {
        put_words(image, table, &[PUSH_X16_X30])?;
        self.jump(image, table + 4, words + 16)?;
        put_words(image, table + 20, &[NOP; 3])?;
        for number in 0..count {
            let word = words + 8 * (number + 3);
            self.jump(image, self.call(table, number), word)?;
            put(image, word as usize, &table.to_le_bytes())?;
        }
        Some(())
    }

    fn number(&self, what: AtLoad) -> elf::RelocationType {
        match what {
            AtLoad::Relative => elf::R_AARCH64_RELATIVE,
            AtLoad::Word => elf::R_AARCH64_ABS64,
            AtLoad::Address => elf::R_AARCH64_GLOB_DAT,
            AtLoad::Call => elf::R_AARCH64_JUMP_SLOT,
            AtLoad::Module => elf::R_AARCH64_TLS_DTPMOD,
            AtLoad::OffsetInModule => elf::R_AARCH64_TLS_DTPREL,
            AtLoad::ThreadOffset => elf::R_AARCH64_TLS_TPREL,
            AtLoad::ThreadDescriptor => elf::R_AARCH64_TLSDESC,
        }
    }
}

/// `stp x16, x30, [sp, #-16]!`, which the system's linker expects.
const PUSH_X16_X30: u32 = 0xa9bf_7bf0;
const NOP: u32 = 0xd503_201f;

impl Aarch64 {
    /// Writes a jump to where a word says, with the address of the word in `x16`.
    fn jump(&self, image: &mut [u8], at: u64, word: u64) -> Option<()> {
        // adrp x16, WORD; ldr x17, [x16, WORD]; add x16, x16, WORD; br x17
        put_words(image, at, &[0x9000_0010, 0xf940_0211, 0x9100_0210, 0xd61f_0220])?;
        let parts = [
            elf::R_AARCH64_ADR_PREL_PG_HI21,
            elf::R_AARCH64_LDST64_ABS_LO12_NC,
            elf::R_AARCH64_ADD_ABS_LO12_NC,
        ];
        for (at, kind) in (at as usize..).step_by(4).zip(parts) {
            self.fix(image, &Fixup { at, kind, value: word, addend: 0, is_direct: false })?;
        }
        Some(())
    }
}

const PAGE: u64 = 4096;

fn page(address: u64) -> u64 {
    address & !(PAGE - 1)
}

/// A field of an instruction, and what it holds.
struct Field {
    of: Of,
    /// How many bits at the end are left out.
    scale: u32,
    bits: u32,
    /// The lowest bit of the field; those of `adr` lie in two parts.
    shift: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The distance from the instruction.
    Distance,
    /// The distance of the pages.
    Pages,
    /// The offset in the page.
    InPage,
}

impl Field {
    fn write(&self, word: u32, number: i64) -> u32 {
        let mask = (1_u32 << self.bits) - 1;
        let number = number as u32 & mask;
        if self.shift == ADR {
            let mask = 3 << 29 | (mask >> 2) << 5;
            return word & !mask | (number & 3) << 29 | (number >> 2) << 5;
        }
        word & !(mask << self.shift) | number << self.shift
    }
}

/// Stands for the two parts of the field of `adr`.
const ADR: u32 = u32::MAX;

/// Returns the field that a relocation writes.
fn field(kind: elf::RelocationType) -> Option<Field> {
    let (of, scale, bits, shift) = match kind {
        elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => (Of::Distance, 2, 26, 0),
        elf::R_AARCH64_CONDBR19 | elf::R_AARCH64_LD_PREL_LO19 => (Of::Distance, 2, 19, 5),
        elf::R_AARCH64_TSTBR14 => (Of::Distance, 2, 14, 5),
        elf::R_AARCH64_ADR_PREL_LO21 => (Of::Distance, 0, 21, ADR),
        elf::R_AARCH64_ADR_PREL_PG_HI21
        | elf::R_AARCH64_ADR_GOT_PAGE
        | elf::R_AARCH64_TLSGD_ADR_PAGE21
        | elf::R_AARCH64_TLSIE_ADR_GOTTPREL_PAGE21
        | elf::R_AARCH64_TLSDESC_ADR_PAGE21 => (Of::Pages, 12, 21, ADR),
        elf::R_AARCH64_ADD_ABS_LO12_NC
        | elf::R_AARCH64_LDST8_ABS_LO12_NC
        | elf::R_AARCH64_TLSGD_ADD_LO12_NC
        | elf::R_AARCH64_TLSDESC_ADD_LO12 => (Of::InPage, 0, 12, 10),
        elf::R_AARCH64_LDST16_ABS_LO12_NC => (Of::InPage, 1, 12, 10),
        elf::R_AARCH64_LDST32_ABS_LO12_NC => (Of::InPage, 2, 12, 10),
        elf::R_AARCH64_LDST64_ABS_LO12_NC
        | elf::R_AARCH64_LD64_GOT_LO12_NC
        | elf::R_AARCH64_TLSIE_LD64_GOTTPREL_LO12_NC
        | elf::R_AARCH64_TLSDESC_LD64_LO12 => (Of::InPage, 3, 12, 10),
        elf::R_AARCH64_LDST128_ABS_LO12_NC => (Of::InPage, 4, 12, 10),
        _ => return None,
    };
    Some(Field { of, scale, bits, shift })
}

fn put_words(image: &mut [u8], at: u64, words: &[u32]) -> Option<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    put(image, at as usize, &bytes)
}
