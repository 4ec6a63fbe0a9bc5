//! The trait of a contestant in Rust, and the adapters between it and the table.
//!
//! A panic that reaches an `extern "C"` function ends the process, however the contestant was
//! built. So no panic crosses into the laboratory.

use crate::raw::{ABI, ALLOCATES, MAGIC, RawContestant, RawSink, RawWorkload};
use crate::sink::Sink;
use crate::workload::Workload;
use core::ffi::{CStr, c_void};

/// A contestant. `contestant!(Type);` exports it.
///
/// The header's rules for each function apply. Memory is safe: the state borrows the workload for
/// as long as it lives, and is dropped in place of `release`. A panic ends the process at the
/// boundary, and the laboratory reports that the contestant crashed.
pub trait Contestant {
    /// The name in messages; the study names contestants itself.
    const NAME: &'static CStr;
    /// CPU features as `/proc/cpuinfo` spells them, separated by commas.
    const NEEDS: &'static CStr = c"";
    /// Whether [`Contestant::run`] allocates.
    const ALLOCATES: bool = false;
    /// Bytes past the end of the input that `run` may read, through [`Workload::raw`].
    const INPUT_SLACK_BYTES: u32 = 0;
    /// Bytes past the end of the output that `run` may write, through [`Workload::raw`].
    const OUTPUT_SLACK_BYTES: u32 = 0;
    /// Alignment of input and output in bytes: a power of two up to 4096, or 0 for 64.
    const ALIGNMENT_BYTES: u32 = 0;
    /// Whether [`Contestant::reset`] must be called before each run.
    const RESETS: bool = false;

    /// The state that runs work on: often the [`Workload`] itself.
    type State<'w>;

    /// Makes the state, untimed. Returns `None` if it cannot.
    fn prepare(workload: Workload<'_>) -> Option<Self::State<'_>>;

    /// Restores what a run has changed of its state, untimed. Called only if
    /// [`Contestant::RESETS`].
    fn reset(_state: &mut Self::State<'_>) {}

    /// Does the whole workload once, timed, and returns the checksum that the study defines.
    fn run(state: &mut Self::State<'_>) -> u64;

    /// Writes the answer in the study's canonical form, untimed, after a run.
    fn dump(state: &mut Self::State<'_>, sink: &mut Sink<'_>);
}

/// Exports a [`Contestant`](crate::Contestant) as `tiebreak_contestant_table`, once per library.
#[macro_export]
macro_rules! contestant {
    ($type:ty) => {
        #[unsafe(no_mangle)]
        #[allow(non_upper_case_globals, missing_docs)]
        pub static tiebreak_contestant_table: $crate::RawContestant = {
            type State = <$type as $crate::Contestant>::State<'static>;

            // The contestant's crate allocates the state's memory: `tiebreak_abi` itself has no
            // allocator.
            unsafe extern "C" fn prepare(
                workload: *const $crate::RawWorkload,
            ) -> *mut ::core::ffi::c_void {
                // SAFETY: the laboratory calls this as the header says.
                match unsafe { $crate::prepare::<$type>(workload) } {
                    Some(state) => {
                        ::std::boxed::Box::into_raw(::std::boxed::Box::new(state)).cast()
                    }
                    None => ::core::ptr::null_mut(),
                }
            }

            unsafe extern "C" fn release(state: *mut ::core::ffi::c_void) {
                // SAFETY: `prepare` gave it, and the laboratory releases it once.
                drop(unsafe { ::std::boxed::Box::from_raw(state.cast::<State>()) });
            }

            $crate::contestant_table::<$type>(prepare, release)
        };
    };
}

/// Defines a function that the study calls for each item. It is a real call where the study says
/// `call = "separate"`, and may be inlined where it says `inlined` (the laboratory then builds with
/// `--cfg tiebreak_inlined`).
///
/// ```
/// tiebreak_abi::kernel! {
///     fn is_space(byte: u8) -> bool { byte == b' ' }
/// }
/// # assert!(is_space(b' '));
/// ```
#[macro_export]
macro_rules! kernel {
    ($($function:tt)*) => {
        #[allow(unexpected_cfgs)]
        #[cfg_attr(tiebreak_inlined, inline)]
        #[cfg_attr(not(tiebreak_inlined), inline(never))]
        $($function)*
    };
}

/// Returns the table of a contestant. For [`contestant!`](crate::contestant!), as is `prepare`.
pub const fn table<C: Contestant>(
    prepare: unsafe extern "C" fn(*const RawWorkload) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void),
) -> RawContestant {
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
