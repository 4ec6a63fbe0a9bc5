//! A contestant's or an oracle's library: loaded, and its table looked at before it is believed.

use super::message::{Refusal, Table};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::error::Error;
use std::ffi::{CStr, c_char};
use std::path::Path;
use tiebreak_abi as abi;

/// The alignment of inputs and outputs where a table says none.
const DEFAULT_ALIGNMENT_BYTES: u32 = 64;
/// The largest alignment that a table may ask for: a page.
const MOST_ALIGNMENT_BYTES: u32 = 4096;

/// The first three words of any table of any version.
#[repr(C)]
#[derive(Clone, Copy)]
struct Start {
    magic: u32,
    abi: u32,
    struct_bytes: u32,
}

/// A loaded contestant. It is never unloaded: a worker ends with what it has loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contestant {
    table: &'static abi::RawContestant,
    pub(super) prepare: Prepare,
    pub(super) reset: Option<Reset>,
    pub(super) run: Run,
    pub(super) dump: Dump,
    pub(super) release: Reset,
}

pub(super) type Prepare = unsafe extern "C" fn(*const abi::RawWorkload) -> *mut libc::c_void;
pub(super) type Reset = unsafe extern "C" fn(*mut libc::c_void);
pub(super) type Run = unsafe extern "C" fn(*mut libc::c_void) -> u64;
pub(super) type Dump = unsafe extern "C" fn(*mut libc::c_void, *const abi::RawSink);

impl Contestant {
    /// Loads a contestant: all of its symbols are bound now, and none is seen by others.
    pub(super) fn load(path: &Path) -> Result<Contestant, Refusal> {
        let start = table(path, abi::CONTESTANT_SYMBOL)?;
        check_size(start, size_of::<abi::RawContestant>())?;
        // SAFETY: the table says that it is of this version and of this size, it lies in a library
        // that is never unloaded, and it is constant.
        let table = unsafe { &*start.cast::<abi::RawContestant>() };
        let missing = |name: &str| Refusal::Missing(name.to_owned());
        let contestant = Contestant {
            table,
            prepare: table.prepare.ok_or_else(|| missing("prepare"))?,
            reset: table.reset,
            run: table.run.ok_or_else(|| missing("run"))?,
            dump: table.dump.ok_or_else(|| missing("dump"))?,
            release: table.release.ok_or_else(|| missing("release"))?,
        };
        let alignment = contestant.alignment_bytes();
        if alignment.is_power_of_two() && alignment as u32 <= MOST_ALIGNMENT_BYTES {
            Ok(contestant)
        } else {
            Err(Refusal::Alignment(table.alignment_bytes))
        }
    }

    pub(super) fn input_slack_bytes(&self) -> usize {
        self.table.input_slack_bytes as usize
    }

    pub(super) fn output_slack_bytes(&self) -> usize {
        self.table.output_slack_bytes as usize
    }

    pub(super) fn alignment_bytes(&self) -> usize {
        match self.table.alignment_bytes {
            0 => DEFAULT_ALIGNMENT_BYTES as usize,
            bytes => bytes as usize,
        }
    }

    pub(super) fn says(&self) -> Table {
        Table {
            name: text(self.table.name),
            needs: text(self.table.needs),
            has_reset: self.reset.is_some(),
            allocates: self.table.flags & abi::ALLOCATES != 0,
            input_slack_bytes: self.table.input_slack_bytes,
            output_slack_bytes: self.table.output_slack_bytes,
            alignment_bytes: self.alignment_bytes() as u32,
        }
    }
}

/// A loaded oracle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Oracle {
    pub(super) generate:
        unsafe extern "C" fn(*const abi::RawRequest, *const abi::RawSink) -> libc::c_int,
    pub(super) items: Count,
    pub(super) output_bytes: Option<Count>,
    pub(super) answer: unsafe extern "C" fn(
        *const abi::RawRequest,
        *const u8,
        u64,
        *const abi::RawSink,
        *mut u64,
    ) -> libc::c_int,
}

pub(super) type Count = unsafe extern "C" fn(*const abi::RawRequest, *const u8, u64) -> u64;

impl Oracle {
    pub(super) fn load(path: &Path) -> Result<Oracle, Refusal> {
        let start = table(path, abi::ORACLE_SYMBOL)?;
        check_size(start, size_of::<abi::RawOracle>())?;
        // SAFETY: as for a contestant's table.
        let table = unsafe { &*start.cast::<abi::RawOracle>() };
        let missing = |name: &str| Refusal::Missing(name.to_owned());
        Ok(Oracle {
            generate: table.generate.ok_or_else(|| missing("generate"))?,
            items: table.items.ok_or_else(|| missing("items"))?,
            output_bytes: table.output_bytes,
            answer: table.answer.ok_or_else(|| missing("answer"))?,
        })
    }
}

/// Loads a library and finds the start of its table, of whatever version.
fn table(path: &Path, symbol: &CStr) -> Result<*const Start, Refusal> {
    // SAFETY: what its constructors do is the library's affair; the worker is there to die of it.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| Refusal::NotLoaded(words(&error)))?;
    // SAFETY: only the address is taken here; whether a table lies there is looked at below.
    let found = unsafe { library.get::<*const Start>(symbol.to_bytes_with_nul()) };
    let start = found.map(|symbol| symbol.as_raw_ptr().cast_const().cast::<Start>());
    let start = start.map_err(|_| Refusal::NoTable);
    std::mem::forget(library);
    let start = start?;
    if start.is_null() || !start.is_aligned() {
        return Err(Refusal::NotATable);
    }
    Ok(start)
}

fn check_size(start: *const Start, bytes: usize) -> Result<(), Refusal> {
    // SAFETY: the symbol is there and aligned, and any object that has this name is a table, whose
    // first words are the same in every version; one that is shorter would still lie in a page of
    // the library.
    let start = unsafe { *start };
    match start {
        Start { magic, .. } if magic != abi::MAGIC => Err(Refusal::NotATable),
        Start { abi: version, .. } if version != abi::ABI => Err(Refusal::Version(version)),
        Start { struct_bytes, .. } if struct_bytes as usize != bytes => {
            Err(Refusal::Size(struct_bytes))
        }
        _ => Ok(()),
    }
}

/// What the system's linker said.
fn words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// A text of a table; nothing where there is none.
fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a table's texts end with a zero byte and are constant.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
