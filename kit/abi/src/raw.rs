//! The tables in the layout of `tiebreak.h`.

use core::ffi::{c_char, c_int, c_void};

/// The version of the tables; a table of another version is refused.
pub const ABI: u32 = 1;
/// The first word of every table: `tieb`.
pub const MAGIC: u32 = 0x6265_6974;
/// The flag of a contestant whose `run` allocates memory.
pub const ALLOCATES: u32 = 1;
/// The symbol of a contestant's table.
pub const CONTESTANT_SYMBOL: &core::ffi::CStr = c"tiebreak_contestant_table";
/// The symbol of an oracle's table.
pub const ORACLE_SYMBOL: &core::ffi::CStr = c"tiebreak_oracle_table";

/// What a contestant works on. The laboratory owns `input` and `output`, and they outlive the
/// state.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawWorkload {
    /// The size of this struct in bytes.
    pub struct_bytes: u32,
    /// Always 0.
    pub reserved: u32,
    /// The input; never written.
    pub input: *const u8,
    /// The size of the input in bytes, without slack.
    pub input_bytes: u64,
    /// The output, writable; null if the study has none.
    pub output: *mut u8,
    /// The size of the output in bytes, without slack.
    pub output_bytes: u64,
    /// The number of items that the study counts in this input.
    pub items: u64,
}

/// A receiver of bytes; `write` may be called any number of times.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawSink {
    /// The first argument of `write`.
    pub context: *mut c_void,
    /// Takes a number of bytes.
    pub write: unsafe extern "C" fn(*mut c_void, *const c_void, u64),
}

/// Makes a state for a workload.
pub type Prepare = unsafe extern "C" fn(*const RawWorkload) -> *mut c_void;
/// Restores a changed input.
pub type Reset = unsafe extern "C" fn(*mut c_void);
/// Does the whole workload once, and returns the checksum.
pub type Run = unsafe extern "C" fn(*mut c_void) -> u64;
/// Writes the answer.
pub type Dump = unsafe extern "C" fn(*mut c_void, *const RawSink);
/// Frees a state.
pub type Release = unsafe extern "C" fn(*mut c_void);

/// A contestant's table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawContestant {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`ABI`].
    pub abi: u32,
    /// The size of this struct in bytes.
    pub struct_bytes: u32,
    /// [`ALLOCATES`], or 0.
    pub flags: u32,
    /// The name in messages.
    pub name: *const c_char,
    /// CPU features as `/proc/cpuinfo` spells them, separated by commas; null or empty for none.
    pub needs: *const c_char,
    /// Bytes past the end of the input that `run` may read.
    pub input_slack_bytes: u32,
    /// Bytes past the end of the output that `run` may write.
    pub output_slack_bytes: u32,
    /// Alignment of input and output in bytes: a power of two up to 4096, or 0 for 64.
    pub alignment_bytes: u32,
    /// Always 0.
    pub reserved: u32,
    /// Makes the state, untimed. Returns null if it cannot.
    pub prepare: Option<Prepare>,
    /// Restores a changed input, untimed, before each run; null if runs change nothing.
    pub reset: Option<Reset>,
    /// Does the whole workload once, timed, and returns the checksum.
    pub run: Option<Run>,
    /// Writes the answer in the study's canonical form, untimed, after a run.
    pub dump: Option<Dump>,
    /// Frees the state, untimed.
    pub release: Option<Release>,
}

/// A request to an oracle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawRequest {
    /// The size of this struct in bytes.
    pub struct_bytes: u32,
    /// Always 0.
    pub reserved: u32,
    /// The workload's name.
    pub workload: *const c_char,
    /// Its distribution.
    pub distribution: *const c_char,
    /// The contract of the contestant that is judged; only for `answer`.
    pub contract: *const c_char,
    /// The workload's size.
    pub size: u64,
    /// The seed. Equal requests give equal bytes.
    pub seed: u64,
    /// The index of the part of an exhaustive input, from 0.
    pub part: u64,
    /// The number of parts.
    pub parts: u64,
}

/// Writes an input, and returns 0 on success.
pub type Generate = unsafe extern "C" fn(*const RawRequest, *const RawSink) -> c_int;
/// Counts something of an input of this many bytes.
pub type Count = unsafe extern "C" fn(*const RawRequest, *const u8, u64) -> u64;
/// Writes the answer for an input of this many bytes, and the checksum, and returns 0 on success.
pub type Answer =
    unsafe extern "C" fn(*const RawRequest, *const u8, u64, *const RawSink, *mut u64) -> c_int;

/// An oracle's table. Functions that return `int` return 0 on success.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawOracle {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`ABI`].
    pub abi: u32,
    /// The size of this struct in bytes.
    pub struct_bytes: u32,
    /// Always 0.
    pub reserved: u32,
    /// Writes an input.
    pub generate: Option<Generate>,
    /// Counts the items of an input.
    pub items: Option<Count>,
    /// Returns the size in bytes of the output that contestants need; null if they need none.
    pub output_bytes: Option<Count>,
    /// Writes the answer, one line per item, and the checksum.
    pub answer: Option<Answer>,
}

// SAFETY: a table is constant data with pointers to constant data and functions.
unsafe impl Sync for RawContestant {}
// SAFETY: as above.
unsafe impl Sync for RawOracle {}
