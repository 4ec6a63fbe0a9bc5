//! A contestant's state, with the memory that it works on.

use super::library::Contestant;
use super::memory::{Mapping, PAGE_BYTES};
use super::message::Sizes;
use super::sink::Sink;
use std::io;
use std::os::fd::OwnedFd;
use tiebreak_abi::{Random, RawWorkload};
use tiebreak_machine::clock;

/// An output of so many bytes is overwritten as a whole, a larger one in so many stretches.
const OVERWRITTEN_BYTES_MAX: usize = 16 << 10;
const STRETCHES: usize = 64;
const STRETCH_BYTES: usize = 64;
/// Or only one stretch is, of so many bytes at most.
const FEW_BYTES: usize = 8;

/// A contestant with a state of its own.
#[derive(Clone, Copy)]
pub(super) struct Prepared {
    pub(super) contestant: Contestant,
    pub(super) state: *mut libc::c_void,
    /// Where its output lies, and how long that is, without slack.
    output: (*mut u8, usize),
    /// How long `prepare` was on a CPU.
    pub(super) prepare_ns: u64,
}

impl Prepared {
    /// Prepares a state on the calling thread, after padding in its heap, with an output of its
    /// own; `None` if the contestant says that it cannot. The mapping holds the output.
    ///
    /// # Errors
    /// There is no memory for the output.
    ///
    /// # Safety
    /// The input is mapped, with the slack that the contestant wants, for as long as the state
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
        // SAFETY: the table says that this prepares a state from a workload, and what the workload
        // points to lives as long as the state: the input as the caller says, the output with the
        // mapping that is given back.
        let state = unsafe { (contestant.prepare)(&raw const workload) };
        let prepare_ns = clock::thread_cpu_ns().saturating_sub(begun_ns);
        let output = (place, if mapping.is_some() { sizes.output_bytes as usize } else { 0 });
        let prepared = Prepared { contestant, state, output, prepare_ns };
        Ok((!state.is_null()).then_some((prepared, mapping)))
    }

    /// One call after a reset.
    pub(super) fn call(&self) -> u64 {
        self.reset();
        self.run()
    }

    /// One call.
    pub(super) fn run(&self) -> u64 {
        // SAFETY: the state is what this contestant has prepared.
        unsafe { (self.contestant.run)(self.state) }
    }

    /// Overwrites the output, or stretches of it that are drawn if it is large, so that the caches
    /// keep what they hold; in half of all cases one stretch of a few bytes only, which whoever
    /// looks at some places of its output does not see. Each byte becomes another one.
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
                // SAFETY: the output has as many bytes, they are the contestant's to write, and it
                // does not run; a mapping of ours holds something at each of them.
                unsafe { place.add(at).write(place.add(at).read() ^ change) };
            }
        }
    }

    /// Has it dump its answer into a file, by way of a buffer, which it gives back.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn dump(&self, file: OwnedFd, buffer: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut sink = Sink::with_buffer(Some(file), buffer);
        let raw = sink.raw();
        // SAFETY: the state is what this contestant has prepared, and the sink outlives the call.
        unsafe { (self.contestant.dump)(self.state, &raw const raw) };
        sink.finish()
    }

    /// Puts back what a run has changed, if the contestant does that.
    pub(super) fn reset(&self) {
        if let Some(reset) = self.contestant.reset {
            // SAFETY: the state is what this contestant has prepared.
            unsafe { reset(self.state) };
        }
    }
}

/// A contestant's own output, at an offset within its page that was drawn with its padding; nothing
/// if it needs none.
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

/// Takes so much of the heap, for as long as the process lives.
fn pad_heap(bytes: u32) {
    // SAFETY: the memory is left alone, for good; the address is only kept from being optimised
    // away.
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
