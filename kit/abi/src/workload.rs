//! What a contestant works on.

use crate::raw::RawWorkload;
use core::marker::PhantomData;
use core::slice;

/// An input and, if the study has one, an output. Both belong to the laboratory and outlive `'w`;
/// the output's contents are arbitrary before a run.
#[derive(Debug)]
pub struct Workload<'w> {
    raw: RawWorkload,
    memory: PhantomData<(&'w [u8], &'w mut [u8])>,
}

/// Numbers of which every pattern of bits is one.
///
/// # Safety
/// The type has no padding, no invalid value and no interior mutability.
pub unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($type:ty),*) => { $(
        // SAFETY: a number.
        unsafe impl Plain for $type {}
    )* };
}
plain!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64);

impl<'w> Workload<'w> {
    /// A workload over the laboratory's.
    ///
    /// # Safety
    /// `raw` describes memory that outlives `'w`: an input that nobody writes and an output that
    /// nobody else touches.
    pub unsafe fn new(raw: RawWorkload) -> Workload<'w> {
        Workload { raw, memory: PhantomData }
    }

    /// How many items the study counts in the input.
    pub fn items(&self) -> usize {
        self.raw.items as usize
    }

    /// The input, without slack.
    pub fn input(&self) -> &'w [u8] {
        self.input_as()
    }

    /// The input as numbers in this machine's order of bytes, as many as are whole.
    ///
    /// # Panics
    /// The contestant declared an alignment that is too small for the type; 0 suits all.
    pub fn input_as<T: Plain>(&self) -> &'w [T] {
        let count = count::<T>(self.raw.input, self.raw.input_bytes);
        if count == 0 {
            return &[];
        }
        // SAFETY: readable for 'w and aligned; every pattern of bits is a T.
        unsafe { slice::from_raw_parts(self.raw.input.cast(), count) }
    }

    /// The output, without slack; empty if the study has none.
    pub fn output(&mut self) -> &mut [u8] {
        self.output_as()
    }

    /// The output as numbers in this machine's order of bytes, as many as are whole.
    ///
    /// # Panics
    /// The contestant declared an alignment that is too small for the type; 0 suits all.
    pub fn output_as<T: Plain>(&mut self) -> &mut [T] {
        self.split_as::<u8, T>().1
    }

    /// Both at once.
    ///
    /// # Panics
    /// As [`Workload::output_as`].
    pub fn split_as<I: Plain, O: Plain>(&mut self) -> (&'w [I], &mut [O]) {
        let input = self.input_as();
        let count = count::<O>(self.raw.output, self.raw.output_bytes);
        if count == 0 {
            return (input, &mut []);
        }
        // SAFETY: writable for 'w, aligned, apart from the input, and this borrow of `self` is the
        // only way to it; the laboratory wrote it before, and every pattern of bits is an O.
        (input, unsafe { slice::from_raw_parts_mut(self.raw.output.cast(), count) })
    }

    /// What the header calls `tiebreak_workload`: for kernels that use declared slack.
    pub fn raw(&self) -> RawWorkload {
        self.raw
    }
}

/// How many whole numbers there are; 0 if there is no memory.
fn count<T: Plain>(pointer: *const u8, bytes: u64) -> usize {
    assert!(
        pointer.cast::<T>().is_aligned(),
        "the contestant declares an alignment that is too small for the numbers that it asks for"
    );
    if pointer.is_null() { 0 } else { bytes as usize / size_of::<T>() }
}
