//! A contestant's state, with the memory that it works on, and a stack that was moved by a number
//! of bytes that was drawn.

use super::library::{Contestant, Sink};
use crate::wire::mapping::{Mapping, PAGE_BYTES};
use crate::wire::message::{Sizes, Trouble};
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::ptr::null_mut;
use tiebreak_abi::{Random, RawWorkload};
use tiebreak_machine::clock;

/// Outputs up to this length are overwritten whole, a larger one in this many stretches of this
/// length.
const OVERWRITTEN_BYTES_MAX: usize = 16 << 10;
const STRETCHES: usize = 64;
const STRETCH_BYTES: usize = 64;
/// The most bytes of the stretch if only one is overwritten.
const FEW_BYTES: usize = 8;

/// A contestant with its own state.
pub(super) struct Prepared {
    pub(super) contestant: Contestant,
    pub(super) state: *mut libc::c_void,
    /// The address of its output, and its length without slack.
    output: (*mut u8, usize),
    /// Holds its output, if it owns that.
    _memory: Option<Mapping>,
    /// How long `prepare` was on a CPU.
    pub(super) prepare_ns: u64,
}

impl Prepared {
    /// Prepares a state on the calling thread, after padding in its heap, with its own output, at
    /// an offset within its page that was drawn with its padding.
    ///
    /// # Errors
    /// Fails if there is no memory for the output, or if the contestant reports that it cannot.
    ///
    /// # Safety
    /// The input must be mapped, with the slack that the contestant needs, as long as the state
    /// lives.
    pub(super) unsafe fn new(
        contestant: Contestant,
        sizes: &Sizes,
        input: *const u8,
        padding: u32,
    ) -> Result<Prepared, Trouble> {
        let bytes = sizes.output_bytes as usize + contestant.output_slack_bytes();
        let (mut memory, mut output) = (None, null_mut());
        if bytes > 0 {
            let offset = padding as usize % PAGE_BYTES;
            let offset = offset - offset % contestant.alignment_bytes();
            let mapping = Mapping::private(bytes + offset)?;
            output = mapping.start().as_ptr().wrapping_add(offset);
            memory = Some(mapping);
        }
        // SAFETY: the memory is never used; the address is only kept from being optimised away.
        black_box(unsafe { libc::malloc(padding as usize) });
        // SAFETY: the input lives long enough by the caller's guarantee, the output because what is
        // returned owns it.
        let prepared = unsafe { Prepared::with_output(contestant, sizes, input, output)? };
        Ok(Prepared { _memory: memory, ..prepared })
    }

    /// Prepares a state on the calling thread, with an output that the caller owns; null if the
    /// contestant needs none.
    ///
    /// # Errors
    /// Fails if the contestant reports that it cannot.
    ///
    /// # Safety
    /// Input and output must be mapped, with the slack that the contestant needs, as long as the
    /// state lives.
    pub(super) unsafe fn with_output(
        contestant: Contestant,
        sizes: &Sizes,
        input: *const u8,
        output: *mut u8,
    ) -> Result<Prepared, Trouble> {
        let workload = RawWorkload {
            struct_bytes: size_of::<RawWorkload>() as u32,
            reserved: 0,
            input,
            input_bytes: sizes.bytes,
            output,
            output_bytes: sizes.output_bytes,
            items: sizes.items,
        };
        let begun_ns = clock::thread_cpu_ns();
        // SAFETY: the table says that this prepares a state from a workload, whose memory lives as
        // long as the state by the caller's guarantee.
        let state = unsafe { (contestant.prepare)(&raw const workload) };
        let prepare_ns = clock::thread_cpu_ns().saturating_sub(begun_ns);
        if state.is_null() {
            return Err(Trouble::NotPrepared);
        }
        let output = (output, sizes.output_bytes as usize);
        Ok(Prepared { contestant, state, output, _memory: None, prepare_ns })
    }

    /// Makes one call after a reset.
    pub(super) fn call(&self) -> u64 {
        self.reset();
        self.run()
    }

    /// Makes one call.
    pub(super) fn run(&self) -> u64 {
        // SAFETY: the state is what this contestant has prepared.
        unsafe { (self.contestant.run)(self.state) }
    }

    /// Overwrites the output or, if it is large, drawn stretches of it, so that the caches keep
    /// their content. In half of all cases it overwrites only one stretch of a few bytes, which a
    /// contestant that checks some places of its output does not notice. Each byte changes.
    pub(super) fn overwrite_output(&self, noise: u64) {
        let (place, bytes) = self.output;
        let mut random = Random::new(noise);
        let few = 1 + random.below(FEW_BYTES as u64) as usize;
        let (stretches, length) = match random.below(2) {
            0 => (1, few.min(bytes)),
            _ if bytes <= OVERWRITTEN_BYTES_MAX => (1, bytes),
            _ => (STRETCHES, STRETCH_BYTES),
        };
        for _ in 0..stretches {
            let from = random.below((bytes - length) as u64 + 1) as usize;
            for at in from..from + length {
                let change = 1 + random.below(u64::from(u8::MAX)) as u8;
                // SAFETY: the output has that many bytes, the contestant may write them, and it
                // does not run; a mapping of ours holds an initialised byte at each of them.
                unsafe { place.add(at).write(place.add(at).read() ^ change) };
            }
        }
    }

    /// Lets it dump its answer to a file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn dump(&self, sink: &mut Sink, file: OwnedFd) -> io::Result<()> {
        // SAFETY: the state is what this contestant has prepared.
        sink.fill(Some(file), |sink| unsafe { (self.contestant.dump)(self.state, sink) })
    }

    /// Releases the state, and then the memory of its output.
    pub(super) fn release(self) {
        // SAFETY: the state is what this contestant has prepared, and is not used again.
        unsafe { (self.contestant.release)(self.state) };
    }

    /// Restores what a run has changed, if the contestant has a reset.
    pub(super) fn reset(&self) {
        if let Some(reset) = self.contestant.reset {
            // SAFETY: the state is what this contestant has prepared.
            unsafe { reset(self.state) };
        }
    }
}

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
