//! The trait of a contestant in Rust.

use crate::sink::Sink;
use crate::workload::Workload;
use core::ffi::CStr;

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
                match unsafe { $crate::boundary::prepare::<$type>(workload) } {
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

            $crate::boundary::contestant::<$type>(prepare, release)
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
