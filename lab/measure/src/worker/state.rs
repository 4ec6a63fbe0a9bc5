//! A contestant's state, with the memory that it works on.

use super::library::Contestant;
use super::memory::{Mapping, PAGE_BYTES};
use super::message::Sizes;
use std::io;
use tiebreak_abi::RawWorkload;

/// A contestant with a state of its own.
#[derive(Clone, Copy)]
pub(super) struct Prepared {
    pub(super) contestant: Contestant,
    pub(super) state: *mut libc::c_void,
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
        // SAFETY: the table says that this prepares a state from a workload, and what the workload
        // points to lives as long as the state: the input as the caller says, the output with the
        // mapping that is given back.
        let state = unsafe { (contestant.prepare)(&raw const workload) };
        Ok((!state.is_null()).then_some((Prepared { contestant, state }, mapping)))
    }

    /// One call after a reset.
    pub(super) fn call(&self) -> u64 {
        self.reset();
        // SAFETY: the state is what this contestant has prepared.
        unsafe { (self.contestant.run)(self.state) }
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
