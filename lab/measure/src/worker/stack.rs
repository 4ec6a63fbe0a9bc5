//! Moves the stack down by a number of bytes that was drawn.

use std::hint::black_box;
use std::mem::MaybeUninit;

/// Calls `work` with a stack that lies at least this many bytes lower, in steps of 16.
///
/// Each power of two in the number is a frame of that many bytes, plus the small overhead of any
/// frame. The offset is therefore a function of the number and grows with it, up to 8 KiB.
pub(super) fn lower<R>(bytes: u32, work: &mut dyn FnMut() -> R) -> R {
    match bytes {
        4096.. => frame::<4096, R>(bytes.min(8191) - 4096, work),
        2048.. => frame::<2048, R>(bytes - 2048, work),
        1024.. => frame::<1024, R>(bytes - 1024, work),
        512.. => frame::<512, R>(bytes - 512, work),
        256.. => frame::<256, R>(bytes - 256, work),
        128.. => frame::<128, R>(bytes - 128, work),
        64.. => frame::<64, R>(bytes - 64, work),
        32.. => frame::<32, R>(bytes - 32, work),
        16.. => frame::<16, R>(bytes - 16, work),
        _ => work(),
    }
}

#[inline(never)]
fn frame<const BYTES: usize, R>(left: u32, work: &mut dyn FnMut() -> R) -> R {
    let mut room = MaybeUninit::<[u8; BYTES]>::uninit();
    black_box(room.as_mut_ptr());
    let result = lower(left, work);
    // Also used after the work, so that the frame exists during the work.
    black_box(room.as_mut_ptr());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stack_moves_down() {
        let mut here = || {
            let local = 0_u8;
            black_box(&raw const local) as usize
        };
        let top = lower(0, &mut here);
        for bytes in [16, 100, 1000, 2048, 4095, 8191, u32::MAX] {
            let moved = top - lower(bytes, &mut here);
            let least = bytes.min(8191) as usize / 16 * 16;
            assert!(moved >= least && moved < least + 4096, "{bytes}: {moved}");
        }
    }
}
