//! The input and output of a contestant.

use crate::raw::RawWorkload;
use core::marker::PhantomData;
use core::slice;

/// An input and, if the study has one, an output. The laboratory owns both, and they outlive `'w`.
/// The output's contents are arbitrary before a run.
#[derive(Debug)]
pub struct Workload<'w> {
    raw: RawWorkload,
    memory: PhantomData<(&'w [u8], &'w mut [u8])>,
}

/// A number type for which every bit pattern is valid.
///
/// # Safety
/// The type has no padding, no invalid value and no interior mutability.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($type:ty),*) => { $(
        // SAFETY: a primitive number type.
        unsafe impl Plain for $type {}
    )* };
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64);

impl<'w> Workload<'w> {
    /// Wraps the laboratory's workload.
    ///
    /// # Safety
    /// `raw` describes memory that outlives `'w`: an input that nothing writes, and an output that
    /// nothing else accesses.
    pub unsafe fn new(raw: RawWorkload) -> Workload<'w> {
        Workload { raw, memory: PhantomData }
    }

    /// Returns the number of items that the study counts in the input.
    pub fn items(&self) -> usize {
        self.raw.items as usize
    }

    /// Returns the input, without slack.
    pub fn input(&self) -> &'w [u8] {
        self.input_as()
    }

    /// Returns the input as numbers in native byte order, without an incomplete last number.
    ///
    /// # Panics
    /// Panics if the contestant declared an alignment that is too small for the type; 0 suits all.
    pub fn input_as<T: Plain>(&self) -> &'w [T] {
        let count = count::<T>(self.raw.input, self.raw.input_bytes);
        if count == 0 {
            return &[];
        }
        // SAFETY: readable for 'w and aligned; every bit pattern is a T.
        unsafe { slice::from_raw_parts(self.raw.input.cast(), count) }
    }

    /// Returns the output, without slack; empty if the study has none.
    pub fn output(&mut self) -> &mut [u8] {
        self.output_as()
    }

    /// Returns the output as numbers in native byte order, without an incomplete last number.
    ///
    /// # Panics
    /// Panics if the contestant declared an alignment that is too small for the type; 0 suits all.
    pub fn output_as<T: Plain>(&mut self) -> &mut [T] {
        self.split_as::<u8, T>().1
    }

    /// Returns the input and the output as numbers.
    ///
    /// # Panics
    /// Panics if the contestant declared an alignment that is too small for either type.
    pub fn split_as<I: Plain, O: Plain>(&mut self) -> (&'w [I], &mut [O]) {
        let input = self.input_as();
        let count = count::<O>(self.raw.output, self.raw.output_bytes);
        if count == 0 {
            return (input, &mut []);
        }
        // SAFETY: writable for 'w, aligned, separate from the input, and this borrow of `self` is
        // the only access to it. The laboratory wrote it before, and every bit pattern is an O.
        (input, unsafe { slice::from_raw_parts_mut(self.raw.output.cast(), count) })
    }

    /// Returns the raw workload, the header's `tiebreak_workload`, for kernels that use declared
    /// slack.
    pub fn raw(&self) -> RawWorkload {
        self.raw
    }
}

/// Counts the whole numbers in the memory; 0 if there is no memory.
fn count<T: Plain>(pointer: *const u8, bytes: u64) -> usize {
    assert!(
        pointer.cast::<T>().is_aligned(),
        "the contestant declares an alignment that is too small for the numbers that it asks for"
    );
    if pointer.is_null() { 0 } else { bytes as usize / size_of::<T>() }
}
