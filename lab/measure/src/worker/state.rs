//! A contestant's state, with the memory that it works on, and a stack that was moved by a number
//! of bytes that was drawn.

use super::library::{Contestant, Sink};
use crate::wire::mapping::{Mapping, PAGE_BYTES};
use crate::wire::message::Sizes;
use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
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
#[derive(Clone, Copy)]
pub(super) struct Prepared {
    pub(super) contestant: Contestant,
    pub(super) state: *mut libc::c_void,
    /// The address of its output, and its length without slack.
    output: (*mut u8, usize),
    /// How long `prepare` was on a CPU.
    pub(super) prepare_ns: u64,
}

impl Prepared {
    /// Prepares a state on the calling thread, after padding in its heap, with its own output;
    /// `None` if the contestant reports that it cannot. The mapping holds the output.
    ///
    /// # Errors
    /// Fails if there is no memory for the output.
    ///
    /// # Safety
    /// The input must be mapped, with the slack that the contestant needs, as long as the state
    /// lives.
    pub(super) unsafe fn new(
        contestant: Contestant,
        sizes: &Sizes,
        input: *const u8,
        padding: u32,
    ) -> io::Result<Option<(Prepared, Option<Mapping>)>> {
        let (mapping, place) = match output(&contestant, sizes, padding)? {
            Some((mapping, place)) => (Some(mapping), place),
            None => (None, std::ptr::null_mut()),
        };
        pad_heap(padding);
        let workload = workload(sizes, input, place);
        let begun_ns = clock::thread_cpu_ns();
        // SAFETY: the table says that this prepares a state from a workload. What the workload
        // points to lives as long as the state: the input by the caller's guarantee, the output by
        // the returned mapping.
        let state = unsafe { (contestant.prepare)(&raw const workload) };
        let prepare_ns = clock::thread_cpu_ns().saturating_sub(begun_ns);
        let output = (place, if mapping.is_some() { sizes.output_bytes as usize } else { 0 });
        let prepared = Prepared { contestant, state, output, prepare_ns };
        Ok((!state.is_null()).then_some((prepared, mapping)))
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

    /// Lets it dump its answer to a file through a buffer, and returns the buffer.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub(super) fn dump(&self, file: OwnedFd, buffer: Vec<u8>) -> io::Result<Vec<u8>> {
        self.dump_to(Sink::with_buffer(Some(file), buffer))
    }

    /// Lets it dump its answer, and returns the buffer of the sink.
    ///
    /// # Errors
    /// Fails if the sink cannot be written.
    pub(super) fn dump_to(&self, mut sink: Sink) -> io::Result<Vec<u8>> {
        let raw = sink.raw();
        // SAFETY: the state is what this contestant has prepared, and the sink outlives the call.
        unsafe { (self.contestant.dump)(self.state, &raw const raw) };
        sink.finish()
    }

    /// Restores what a run has changed, if the contestant has a reset.
    pub(super) fn reset(&self) {
        if let Some(reset) = self.contestant.reset {
            // SAFETY: the state is what this contestant has prepared.
            unsafe { reset(self.state) };
        }
    }
}

/// Returns a contestant's own output, at an offset within its page that was drawn with its padding;
/// `None` if it needs none.
fn output(
    contestant: &Contestant,
    sizes: &Sizes,
    padding: u32,
) -> io::Result<Option<(Mapping, *mut u8)>> {
    let bytes = sizes.output_bytes as usize + contestant.output_slack_bytes();
    if bytes == 0 {
        return Ok(None);
    }
    let offset = padding as usize % PAGE_BYTES;
    let offset = offset - offset % contestant.alignment_bytes();
    let mapping = Mapping::private(bytes + offset)?;
    let place = mapping.start().as_ptr().wrapping_add(offset);
    Ok(Some((mapping, place)))
}

/// Takes this much of the heap, as long as the process lives.
fn pad_heap(bytes: u32) {
    // SAFETY: the memory is never used; the address is only kept from being optimised away.
    std::hint::black_box(unsafe { libc::malloc(bytes as usize) });
}

pub(super) fn workload(sizes: &Sizes, input: *const u8, output: *mut u8) -> RawWorkload {
    RawWorkload {
        struct_bytes: size_of::<RawWorkload>() as u32,
        reserved: 0,
        input,
        input_bytes: sizes.bytes,
        output,
        output_bytes: sizes.output_bytes,
        items: sizes.items,
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
