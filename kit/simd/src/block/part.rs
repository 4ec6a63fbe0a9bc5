//! Fewer bytes than a register has, read without a byte beyond them.

use core::arch::x86_64::{__m128i, _mm_set_epi64x};

/// Loads one to fifteen bytes into the low end of a register; what is above is 0.
///
/// # Safety
/// So many bytes can be read.
#[inline(always)]
pub(super) unsafe fn up_to_15(from: *const u8, count: usize) -> __m128i {
    // Two reads that overlap have every byte: each is shifted to its place. SAFETY: no read begins
    // before `from` or ends after its `count` bytes.
    let (low, high) = unsafe {
        match count {
            8.. => {
                let low = from.cast::<u64>().read_unaligned();
                let last = from.add(count - 8).cast::<u64>().read_unaligned();
                // Of the last eight bytes, those above the first eight.
                (low, last >> (8 * (15 - count)) >> 8)
            }
            4.. => {
                let low = u64::from(from.cast::<u32>().read_unaligned());
                let last = u64::from(from.add(count - 4).cast::<u32>().read_unaligned());
                (low | last << (8 * (count - 4)), 0)
            }
            _ => {
                let middle = u64::from(*from.add(count / 2)) << (8 * (count / 2));
                let last = u64::from(*from.add(count - 1)) << (8 * (count - 1));
                (u64::from(*from) | middle | last, 0)
            }
        }
    };
    // SAFETY: every x86-64 has SSE2.
    unsafe { _mm_set_epi64x(high as i64, low as i64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_is_lost_and_none_is_made_up() {
        let bytes: [u8; 15] = core::array::from_fn(|at| 0xf0 + at as u8);
        for count in 1..=15 {
            // SAFETY: so many bytes are there; a register is 16 bytes.
            let found: [u8; 16] = unsafe { core::mem::transmute(up_to_15(bytes.as_ptr(), count)) };
            assert_eq!(found[..count], bytes[..count]);
            assert_eq!(found[count..], [0; 16][count..]);
        }
    }
}
