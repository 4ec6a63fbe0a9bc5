//! The adapters between the tables and the traits. The macros use them; contestants do not.
//!
//! A panic that reaches an `extern "C"` function ends the process, however the contestant was
//! built. So no panic crosses into the laboratory.

use crate::contestant::Contestant;
use crate::oracle::{Oracle, Request, Unknown};
use crate::raw::{ABI, ALLOCATES, MAGIC};
use crate::raw::{RawContestant, RawOracle, RawRequest, RawSink, RawWorkload};
use crate::sink::Sink;
use crate::workload::Workload;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::slice;

type Prepare = unsafe extern "C" fn(*const RawWorkload) -> *mut c_void;
type Release = unsafe extern "C" fn(*mut c_void);

/// Returns the table of a contestant.
pub const fn contestant<C: Contestant>(prepare: Prepare, release: Release) -> RawContestant {
    RawContestant {
        magic: MAGIC,
        abi: ABI,
        struct_bytes: size_of::<RawContestant>() as u32,
        flags: if C::ALLOCATES { ALLOCATES } else { 0 },
        name: C::NAME.as_ptr(),
        needs: C::NEEDS.as_ptr(),
        input_slack_bytes: C::INPUT_SLACK_BYTES,
        output_slack_bytes: C::OUTPUT_SLACK_BYTES,
        alignment_bytes: C::ALIGNMENT_BYTES,
        reserved: 0,
        prepare: Some(prepare),
        reset: if C::RESETS { Some(reset::<C>) } else { None },
        run: Some(run::<C>),
        dump: Some(dump::<C>),
        release: Some(release),
    }
}

/// Makes the state for a workload.
///
/// # Safety
/// `workload` points to a workload, and its memory outlives the state.
pub unsafe fn prepare<'w, C: Contestant>(workload: *const RawWorkload) -> Option<C::State<'w>> {
    // SAFETY: the caller's promise.
    C::prepare(unsafe { Workload::new(*workload) })
}

unsafe extern "C" fn reset<C: Contestant>(state: *mut c_void) {
    // SAFETY: `prepare` gave this state, and nothing else uses it during this call.
    C::reset(unsafe { &mut *state.cast::<C::State<'_>>() });
}

unsafe extern "C" fn run<C: Contestant>(state: *mut c_void) -> u64 {
    // SAFETY: as in `reset`.
    C::run(unsafe { &mut *state.cast::<C::State<'_>>() })
}

unsafe extern "C" fn dump<C: Contestant>(state: *mut c_void, sink: *const RawSink) {
    // SAFETY: as in `reset`; the sink lives for this call.
    unsafe { C::dump(&mut *state.cast::<C::State<'_>>(), &mut Sink::new(&*sink)) }
}

/// Returns the table of an oracle.
pub const fn oracle<O: Oracle>() -> RawOracle {
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
        match answered {
            Ok(sum) => {
                checksum.write(sum);
                0
            }
            Err(Unknown) => 1,
        }
    }
}

/// # Safety
/// `raw` points to a request. It and its strings live for as long as `'a`.
unsafe fn request<'a>(raw: *const RawRequest) -> Result<Request<'a>, Unknown> {
    // SAFETY: the caller's promise.
    let raw = unsafe { &*raw };
    let text = |at: *const c_char| {
        if at.is_null() {
            return Ok("");
        }
        // SAFETY: the caller's promise.
        unsafe { CStr::from_ptr(at) }.to_str().map_err(|_| Unknown)
    };
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

/// # Safety
/// `count` bytes at `at` may be read for as long as `'a`.
unsafe fn input<'a>(at: *const u8, count: u64) -> &'a [u8] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(at, count as usize) }
}
