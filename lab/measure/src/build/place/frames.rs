//! Frames: how functions are unwound, as DWARF describes it in `.eh_frame`, and the index by which
//! the unwinder finds the description of a function.

use super::parts::{Place, Section, Target};
use std::collections::HashMap;

/// The description of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Where it begins in the section.
    pub(super) at: u64,
    /// The section of the function, or its name.
    pub(super) of: Target,
}

/// The encoding of an address as a signed offset of 32 bits from its own place (DW_EH_PE_pcrel |
/// DW_EH_PE_sdata4), which compilers use for code that may lie anywhere.
const NEAR: u8 = 0x1b;
/// Where a description has the address of its function.
pub(super) const ADDRESS_AT: u64 = 8;

/// Reads the descriptions in a section.
pub(super) fn read(section: &Section) -> Result<Vec<Frame>, String> {
    let targets: HashMap<u64, Target> =
        section.relocations.iter().map(|one| (one.offset, one.target)).collect();
    let (bytes, mut at) = (section.bytes.as_slice(), 0);
    let (mut frames, mut is_near) = (Vec::new(), HashMap::new());
    while let Some(length) = word(bytes, at) {
        if length == 0 || length == u32::MAX {
            // The end; or a description of 4 GiB.
            break;
        }
        let end = at + 4 + length as usize;
        let common = word(bytes, at + 4).ok_or(CUT)?;
        if common == 0 {
            let encoding = encoding(bytes.get(at + 8..end).ok_or(CUT)?);
            is_near.insert(at, encoding == Some(NEAR));
        } else {
            let common = (at + 4).checked_sub(common as usize).ok_or(CUT)?;
            if is_near.get(&common) != Some(&true) {
                return Err("frames whose addresses are written in an unusual way".to_owned());
            }
            let target = targets.get(&(at as u64 + ADDRESS_AT));
            let nowhere = Target::Local(Place::Nowhere);
            frames.push(Frame { at: at as u64, of: target.copied().unwrap_or(nowhere) });
        }
        at = end;
    }
    Ok(frames)
}

const CUT: &str = "frames that end too early";

/// Returns the encoding of addresses that a common part, after its length and its mark, gives.
fn encoding(common: &[u8]) -> Option<u8> {
    let mut rest = common.get(1..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    let letters = &rest[..end];
    rest = &rest[end + 1..];
    let [b'z', letters @ ..] = letters else { return None };
    // The factors of code and data, the register of the return address, the length of what follows.
    let is_one_byte = common[0] == 1;
    for number in 0..4 {
        let length = rest.iter().position(|byte| byte & 0x80 == 0)? + 1;
        rest = &rest[if number == 2 && is_one_byte { 1 } else { length }..];
    }
    for letter in letters {
        match letter {
            b'R' => return rest.first().copied(),
            b'L' => rest = rest.get(1..)?,
            b'P' => {
                let bytes = match rest.first()? & 0x0f {
                    0x02 | 0x0a => 2,
                    0x03 | 0x0b => 4,
                    0x00 | 0x04 | 0x0c => 8,
                    _ => return None,
                };
                rest = rest.get(1 + bytes..)?;
            }
            b'S' | b'B' => {}
            _ => return None,
        }
    }
    None
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Returns the size of an index of this many descriptions.
pub(super) fn index_bytes(count: usize) -> u64 {
    12 + 8 * count as u64
}

/// Writes the index of descriptions, which are given by their addresses, in their relocated
/// section. `begin` is the address of the first section of frames.
pub(super) fn write_index(image: &mut [u8], at: u64, begin: u64, frames: &[u64]) -> Option<()> {
    let mut rows = Vec::with_capacity(frames.len());
    for frame in frames {
        let place = frame + ADDRESS_AT;
        let function = place.wrapping_add(word(image, place as usize)? as i32 as u64);
        let from_index = |address: u64| address.wrapping_sub(at) as i32;
        rows.push((from_index(function), from_index(*frame)));
    }
    rows.sort_unstable();
    // Its version; the encodings of the address, of the count and of the rows.
    let mut bytes = vec![1, NEAR, 0x03, 0x3b];
    bytes.extend((begin.wrapping_sub(at + 4) as i32).to_le_bytes());
    bytes.extend((frames.len() as u32).to_le_bytes());
    for (function, frame) in rows {
        bytes.extend(function.to_le_bytes());
        bytes.extend(frame.to_le_bytes());
    }
    image.get_mut(at as usize..at as usize + bytes.len())?.copy_from_slice(&bytes);
    Some(())
}
