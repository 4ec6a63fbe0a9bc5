//! The tables as `tiebreak.h` lays them out.

use core::ffi::{c_char, c_int, c_void};

/// The version of the tables; one of another version is refused.
pub const ABI: u32 = 1;
/// The first word of every table: `tieb`.
pub const MAGIC: u32 = 0x6265_6974;
/// Flag of a contestant: `run` allocates memory.
pub const ALLOCATES: u32 = 1;
/// The symbol of a contestant's table.
pub const CONTESTANT_SYMBOL: &core::ffi::CStr = c"tiebreak_contestant_table";
/// The symbol of an oracle's table.
pub const ORACLE_SYMBOL: &core::ffi::CStr = c"tiebreak_oracle_table";

/// What a contestant works on. `input` and `output` belong to the laboratory and outlive the state.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawWorkload {
    /// The size of this struct.
    pub struct_bytes: u32,
    /// 0.
    pub reserved: u32,
    /// Never written.
    pub input: *const u8,
    /// Bytes of the input, slack not counted.
    pub input_bytes: u64,
    /// Writable, null if the study has none.
    pub output: *mut u8,
    /// Bytes of the output, slack not counted.
    pub output_bytes: u64,
    /// How many items the study counts in this input.
    pub items: u64,
}

/// Takes bytes; `write` may be called any number of times.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawSink {
    /// Passed to `write`.
    pub context: *mut c_void,
    /// Takes so many bytes.
    pub write: unsafe extern "C" fn(*mut c_void, *const c_void, u64),
}

/// A contestant's table.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawContestant {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`ABI`].
    pub abi: u32,
    /// The size of this struct.
    pub struct_bytes: u32,
    /// [`ALLOCATES`], or 0.
    pub flags: u32,
    /// For messages.
    pub name: *const c_char,
    /// CPU features as `/proc/cpuinfo` spells them, by commas; null or empty for none.
    pub needs: *const c_char,
    /// Bytes past the end of the input that `run` may read.
    pub input_slack_bytes: u32,
    /// Bytes past the end of the output that `run` may write.
    pub output_slack_bytes: u32,
    /// Alignment of input and output: a power of two up to 4096, 0 for 64.
    pub alignment_bytes: u32,
    /// 0.
    pub reserved: u32,
    /// Makes the state, untimed; null says that it cannot.
    pub prepare: Option<unsafe extern "C" fn(*const RawWorkload) -> *mut c_void>,
    /// Puts a changed input back, untimed, before each run; none if runs change nothing.
    pub reset: Option<unsafe extern "C" fn(*mut c_void)>,
    /// Does the whole workload once, timed, and gives the checksum.
    pub run: Option<unsafe extern "C" fn(*mut c_void) -> u64>,
    /// Writes the answer in the study's canonical form, untimed, after a run.
    pub dump: Option<unsafe extern "C" fn(*mut c_void, *const RawSink)>,
    /// Frees the state, untimed.
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// What is asked of an oracle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawRequest {
    /// The size of this struct.
    pub struct_bytes: u32,
    /// 0.
    pub reserved: u32,
    /// The workload's name.
    pub workload: *const c_char,
    /// Its distribution.
    pub distribution: *const c_char,
    /// Of `answer`: the contract of the contestant that is judged.
    pub contract: *const c_char,
    /// The workload's size.
    pub size: u64,
    /// Equal requests give equal bytes.
    pub seed: u64,
    /// Which part of an exhaustive input, from 0.
    pub part: u64,
    /// How many parts it has.
    pub parts: u64,
}

/// An oracle's table: functions that return an integer give 0 where all is well.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RawOracle {
    /// [`MAGIC`].
    pub magic: u32,
    /// [`ABI`].
    pub abi: u32,
    /// The size of this struct.
    pub struct_bytes: u32,
    /// 0.
    pub reserved: u32,
    /// Writes an input.
    pub generate: Option<unsafe extern "C" fn(*const RawRequest, *const RawSink) -> c_int>,
    /// Counts the items of an input.
    pub items: Option<unsafe extern "C" fn(*const RawRequest, *const u8, u64) -> u64>,
    /// How large an output contestants need; none if they need none.
    pub output_bytes: Option<unsafe extern "C" fn(*const RawRequest, *const u8, u64) -> u64>,
    /// Writes the answer, a line an item, and gives the checksum.
    pub answer: Option<
        unsafe extern "C" fn(*const RawRequest, *const u8, u64, *const RawSink, *mut u64) -> c_int,
    >,
}

// SAFETY: a table is constant data and pointers to constant data and functions.
unsafe impl Sync for RawContestant {}
// SAFETY: as above.
unsafe impl Sync for RawOracle {}
