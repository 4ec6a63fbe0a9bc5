//! The trait of an oracle in Rust, and the adapters between it and the table.

use crate::raw::{ABI, MAGIC, RawOracle, RawRequest, RawSink};
use crate::sink::Sink;
use core::ffi::{CStr, c_char, c_int};
use core::fmt::{self, Display};
use core::slice;

/// A request to an oracle.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The workload's name in study.toml.
    pub workload: &'a str,
    /// Its distribution.
    pub distribution: &'a str,
    /// The contract of the contestant that is judged; only for [`Oracle::answer`].
    pub contract: &'a str,
    /// The workload's size.
    pub size: u64,
    /// The seed. Equal requests give equal bytes, on every machine.
    pub seed: u64,
    /// The index of the part of an exhaustive input, from 0.
    pub part: u64,
    /// The number of parts.
    pub parts: u64,
}

/// The error of a request that names something that this oracle does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

impl Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the oracle does not know this distribution, size or contract")
    }
}

impl core::error::Error for Unknown {}

/// A study's oracle. `oracle!(Type);` exports it. It runs in its own process and is never timed.
/// Its answer is text with one line per item. A correct contestant dumps the same text, byte for
/// byte.
pub trait Oracle {
    /// Whether the laboratory gives contestants an output buffer.
    const HAS_OUTPUT: bool = false;

    /// Writes the input.
    ///
    /// # Errors
    /// Fails if the oracle does not know the request.
    fn generate(request: &Request<'_>, sink: &mut Sink<'_>) -> Result<(), Unknown>;

    /// Counts the items of this input.
    fn items(request: &Request<'_>, input: &[u8]) -> u64;

    /// Returns the size in bytes of the output that contestants need. Called only if
    /// [`Oracle::HAS_OUTPUT`].
    fn output_bytes(_request: &Request<'_>, _input: &[u8]) -> u64 {
        0
    }

    /// Writes the answer and returns the checksum.
    ///
    /// # Errors
    /// Fails if the oracle does not know the request.
    fn answer(request: &Request<'_>, input: &[u8], sink: &mut Sink<'_>) -> Result<u64, Unknown>;
}

/// Exports an [`Oracle`](crate::Oracle) as `tiebreak_oracle_table`, once per library.
#[macro_export]
macro_rules! oracle {
    ($type:ty) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, missing_docs)]
        pub static tiebreak_oracle_table: $crate::RawOracle = $crate::oracle_table::<$type>();
    };
}

/// Returns the table of an oracle. For [`oracle!`](crate::oracle!).
pub const fn table<O: Oracle>() -> RawOracle {
    RawOracle {
        magic: MAGIC,
        abi: ABI,
        struct_bytes: size_of::<RawOracle>() as u32,
        reserved: 0,
        generate: Some(generate::<O>),
        items: Some(items::<O>),
        output_bytes: if O::HAS_OUTPUT { Some(output_bytes::<O>) } else { None },
        answer: Some(answer::<O>),
    }
}

unsafe extern "C" fn generate<O: Oracle>(raw: *const RawRequest, sink: *const RawSink) -> c_int {
    // SAFETY: the laboratory's request and sink live for this call.
    let done = unsafe { request(raw).map(|it| O::generate(&it, &mut Sink::new(&*sink))) };
    c_int::from(!matches!(done, Ok(Ok(()))))
}

unsafe extern "C" fn items<O: Oracle>(raw: *const RawRequest, at: *const u8, count: u64) -> u64 {
    // SAFETY: as in `generate`; the input lives for this call too.
    unsafe { request(raw).map_or(0, |request| O::items(&request, input(at, count))) }
}

unsafe extern "C" fn output_bytes<O: Oracle>(
    raw: *const RawRequest,
    at: *const u8,
    count: u64,
) -> u64 {
    // SAFETY: as in `items`.
    unsafe { request(raw).map_or(0, |request| O::output_bytes(&request, input(at, count))) }
}

unsafe extern "C" fn answer<O: Oracle>(
    raw: *const RawRequest,
    at: *const u8,
    count: u64,
    sink: *const RawSink,
    checksum: *mut u64,
) -> c_int {
    // SAFETY: as in `items`; the checksum's place may be written.
    unsafe {
        let answered = request(raw)
            .and_then(|request| O::answer(&request, input(at, count), &mut Sink::new(&*sink)));
        c_int::from(answered.map(|sum| checksum.write(sum)).is_err())
    }
}

/// # Safety
/// `raw` points to a request. It and its strings live for as long as `'a`.
unsafe fn request<'a>(raw: *const RawRequest) -> Result<Request<'a>, Unknown> {
    // SAFETY: the caller's promise.
    unsafe {
        let raw = &*raw;
        Ok(Request {
            workload: text(raw.workload)?,
            distribution: text(raw.distribution)?,
            contract: text(raw.contract)?,
            size: raw.size,
            seed: raw.seed,
            part: raw.part,
            parts: raw.parts,
        })
    }
}

/// # Safety
/// `at` is null or the start of a string that lives for as long as `'a`.
unsafe fn text<'a>(at: *const c_char) -> Result<&'a str, Unknown> {
    if at.is_null() {
        return Ok("");
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_str().map_err(|_| Unknown)
}

/// # Safety
/// `count` bytes at `at` may be read for as long as `'a`.
unsafe fn input<'a>(at: *const u8, count: u64) -> &'a [u8] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(at, count as usize) }
}
