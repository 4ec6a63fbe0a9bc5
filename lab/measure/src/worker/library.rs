//! A contestant's or an oracle's library: loads it, and checks its table before it is used.

use super::message::{Refusal, Table};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::error::Error;
use std::ffi::{CStr, c_char};
use std::path::Path;
use tiebreak_abi as abi;

/// The alignment of inputs and outputs if a table gives none.
const DEFAULT_ALIGNMENT_BYTES: u32 = 64;

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
    /// Loads a contestant: binds all of its symbols now, and exports none to other libraries.
    pub(super) fn load(path: &Path) -> Result<Contestant, Refusal> {
        let table = table::<abi::RawContestant>(path, abi::CONTESTANT_SYMBOL)?;
        let functions = (table.prepare, table.run, table.dump, table.release);
        let (Some(prepare), Some(run), Some(dump), Some(release)) = functions else {
            // Not reached: the handshake has checked that they exist.
            return Err(refused(abi::Refusal::Missing));
        };
        Ok(Contestant { table, prepare, reset: table.reset, run, dump, release })
    }

    /// Creates a contestant without a library, for tests.
    #[cfg(test)]
    pub(super) fn of_functions(
        prepare: Prepare,
        run: Run,
        dump: Dump,
        release: Reset,
    ) -> Contestant {
        let table = abi::RawContestant {
            magic: abi::MAGIC,
            abi: abi::ABI,
            struct_bytes: size_of::<abi::RawContestant>() as u32,
            flags: 0,
            name: c"test".as_ptr(),
            needs: std::ptr::null(),
            input_slack_bytes: 0,
            output_slack_bytes: 0,
            alignment_bytes: 0,
            reserved: 0,
            prepare: Some(prepare),
            reset: None,
            run: Some(run),
            dump: Some(dump),
            release: Some(release),
        };
        let table = Box::leak(Box::new(table));
        Contestant { table, prepare, reset: None, run, dump, release }
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

    pub(super) fn allocates(&self) -> bool {
        self.table.flags & abi::ALLOCATES != 0
    }

    pub(super) fn says(&self) -> Table {
        Table {
            name: text(self.table.name),
            needs: text(self.table.needs),
            has_reset: self.reset.is_some(),
            allocates: self.allocates(),
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
        let table = table::<abi::RawOracle>(path, abi::ORACLE_SYMBOL)?;
        let functions = (table.generate, table.items, table.answer);
        let (Some(generate), Some(items), Some(answer)) = functions else {
            // As for a contestant.
            return Err(refused(abi::Refusal::Missing));
        };
        Ok(Oracle { generate, items, output_bytes: table.output_bytes, answer })
    }
}

/// Loads a library, which is never unloaded, and returns its table, if the handshake accepts it.
fn table<T: abi::Table>(path: &Path, symbol: &CStr) -> Result<&'static T, Refusal> {
    // SAFETY: the library's constructors may do anything; the worker exists to contain that.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| Refusal::NotLoaded(words(&error)))?;
    // SAFETY: only the address is taken here; the check below decides whether it is a table.
    let found = unsafe { library.get::<*const T>(symbol.to_bytes_with_nul()) };
    let found = found.map(|symbol| symbol.as_raw_ptr().cast_const().cast::<T>());
    let table = found.map_err(|_| refused(abi::Refusal::Missing));
    std::mem::forget(library);
    let table = table?;
    // SAFETY: the symbol points to it; even if it is not a table and shorter than a table's first
    // words, these would lie in a page of the library.
    unsafe { abi::check(table) }.map_err(refused)?;
    // SAFETY: it is a table of this version with at least its length, it lies in a library that is
    // never unloaded, and it is constant.
    Ok(unsafe { &*table })
}

fn refused(refusal: abi::Refusal) -> Refusal {
    Refusal::BadTable(refusal.to_string())
}

/// Returns the message of the system's linker.
fn words(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns a text of a table; an empty one if there is none.
fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: a table's texts end with a zero byte and are constant.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
