//! A contestant's or an oracle's library: loads it, and checks its table before it is used. Sinks,
//! which take their outputs, and the worker as the oracle, which makes inputs and knows answers.

use crate::wire::mapping::Mapping;
use crate::wire::message::{Question, Refusal, Reply, Sizes};
use crate::worker_process::features;
use crate::workers::Facts;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::error::Error;
use std::ffi::{CStr, CString, c_char};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use tiebreak_abi as abi;
use tiebreak_abi::{RawRequest, RawSink};

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

    /// Returns the content of its table.
    pub(super) fn facts(&self) -> Facts {
        Facts {
            name: text(self.table.name),
            needs: features(&text(self.table.needs)),
            has_reset: self.reset.is_some(),
            allocates: self.allocates(),
            input_slack_bytes: self.table.input_slack_bytes,
            output_slack_bytes: self.table.output_slack_bytes,
            alignment_bytes: self.alignment_bytes() as u32,
        }
    }
}

#[cfg(test)]
impl Contestant {
    /// Creates a contestant without a library, for tests.
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
}

/// A loaded oracle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Oracle {
    generate: unsafe extern "C" fn(*const abi::RawRequest, *const abi::RawSink) -> libc::c_int,
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

type Count = unsafe extern "C" fn(*const abi::RawRequest, *const u8, u64) -> u64;

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

/// The number of bytes that are buffered.
const BUFFER_BYTES: usize = 64 << 10;

/// Takes bytes by the C ABI.
pub(super) struct Sink {
    file: Option<File>,
    buffer: Vec<u8>,
    failed: Option<std::io::Error>,
}

impl Sink {
    /// Creates a sink that writes to this file, or discards everything.
    pub(super) fn new(file: Option<OwnedFd>) -> Sink {
        Sink::with_buffer(file, Sink::buffer())
    }

    /// Creates a sink with an existing buffer: one from [`Sink::buffer`], or from the sink that
    /// used it before.
    pub(super) fn with_buffer(file: Option<OwnedFd>, buffer: Vec<u8>) -> Sink {
        Sink { file: file.map(File::from), buffer, failed: None }
    }

    /// Allocates a buffer.
    pub(super) fn buffer() -> Vec<u8> {
        Vec::with_capacity(BUFFER_BYTES)
    }

    /// Returns the sink for the C side; it must not outlive `self`.
    pub(super) fn raw(&mut self) -> RawSink {
        RawSink { context: std::ptr::from_mut(self).cast(), write }
    }

    /// Writes the rest, and returns the buffer.
    ///
    /// # Errors
    /// Returns the error of the first write that failed.
    pub(super) fn finish(mut self) -> std::io::Result<Vec<u8>> {
        self.flush();
        self.failed.map_or(Ok(self.buffer), Err)
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.file.is_none() {
            return;
        }
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush();
        }
        if bytes.len() >= BUFFER_BYTES {
            self.write(bytes);
        } else {
            self.buffer.extend(bytes);
        }
    }

    fn flush(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer);
        self.buffer = buffer;
        self.buffer.clear();
    }

    fn write(&mut self, bytes: &[u8]) {
        if let (Some(file), None) = (&mut self.file, &self.failed) {
            self.failed = file.write_all(bytes).err();
        }
    }
}

unsafe extern "C" fn write(context: *mut libc::c_void, bytes: *const libc::c_void, count: u64) {
    if count == 0 {
        return;
    }
    // SAFETY: the context is the sink that `raw` was called on, which is alive and not used
    // elsewhere during the call; the caller guarantees that this many bytes are readable.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize);
        (*context.cast::<Sink>()).take(bytes);
    }
}

/// Makes an input into the file if `is_made` is set, and measures it.
///
/// # Errors
/// Fails if a system call fails; a refusal of the oracle is a reply.
pub(super) fn input(
    oracle: &Oracle,
    question: &Question,
    file: OwnedFd,
    is_made: bool,
) -> io::Result<Reply> {
    let asked = QuestionText::new(question)?;
    let raw = asked.raw();
    if is_made {
        let mut sink = Sink::new(Some(file.try_clone()?));
        let raw_sink = sink.raw();
        // SAFETY: the table determines what it takes; request and sink outlive the call.
        let status = unsafe { (oracle.generate)(&raw const raw, &raw const raw_sink) };
        sink.finish()?;
        if status != 0 {
            return Ok(failed("generate", status));
        }
    }
    let bytes = File::from(file.try_clone()?).metadata()?.len();
    let mapping = Mapping::input(&file, bytes as usize, 0)?;
    let input = mapping.start().as_ptr();
    // SAFETY: the table determines what they take; the input has that many bytes.
    let (items, output_bytes) = unsafe {
        let count = |count: Count| count(&raw const raw, input, bytes);
        (count(oracle.items), oracle.output_bytes.map_or(0, count))
    };
    Ok(Reply::Sized(Sizes { bytes, items, output_bytes }))
}

/// Answers, and writes the text to the file if there is one.
///
/// # Errors
/// Fails if a system call fails; a refusal of the oracle is a reply.
pub(super) fn answer(
    oracle: &Oracle,
    question: &Question,
    input: &OwnedFd,
    input_bytes: u64,
    text: Option<OwnedFd>,
) -> io::Result<Reply> {
    let asked = QuestionText::new(question)?;
    let raw = asked.raw();
    let mapping = Mapping::input(input, input_bytes as usize, 0)?;
    let mut sink = Sink::new(text);
    let raw_sink = sink.raw();
    let mut checksum = 0;
    // SAFETY: the table determines what it takes; everything that it points to outlives the call.
    let status = unsafe {
        let input = mapping.start().as_ptr();
        let sink = &raw const raw_sink;
        (oracle.answer)(&raw const raw, input, input_bytes, sink, &raw mut checksum)
    };
    sink.finish()?;
    Ok(if status == 0 { Reply::Checksum(checksum) } else { failed("answer", status) })
}

fn failed(function: &str, status: i32) -> Reply {
    Reply::Failed(format!("its '{function}' gave {status}"))
}

/// A question whose texts end with zero bytes.
struct QuestionText<'a> {
    workload: CString,
    distribution: CString,
    contract: CString,
    question: &'a Question,
}

impl QuestionText<'_> {
    fn new(question: &Question) -> io::Result<QuestionText<'_>> {
        Ok(QuestionText {
            workload: CString::new(question.workload.as_str())?,
            distribution: CString::new(question.distribution.as_str())?,
            contract: CString::new(question.contract.as_str())?,
            question,
        })
    }

    /// Returns the question for the C side; it must not outlive `self`.
    fn raw(&self) -> RawRequest {
        RawRequest {
            struct_bytes: size_of::<RawRequest>() as u32,
            reserved: 0,
            workload: self.workload.as_ptr(),
            distribution: self.distribution.as_ptr(),
            contract: self.contract.as_ptr(),
            size: self.question.size,
            seed: self.question.seed,
            part: self.question.part,
            parts: self.question.parts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::memory_file;
    use std::os::unix::fs::FileExt;

    #[test]
    fn bytes_of_any_number_arrive_in_order() {
        let file = memory_file().unwrap();
        let mut sink = Sink::new(Some(file.try_clone().unwrap().into()));
        let raw = sink.raw();
        let mut expected = Vec::new();
        for length in [3, 0, BUFFER_BYTES, 1, BUFFER_BYTES - 1, 2, 3 * BUFFER_BYTES, 5] {
            let part: Vec<u8> = (0..length).map(|at| (at + expected.len()) as u8).collect();
            // SAFETY: the sink is alive, and the part has as many bytes.
            unsafe { (raw.write)(raw.context, part.as_ptr().cast(), part.len() as u64) };
            expected.extend(part);
        }
        sink.finish().unwrap();
        let mut got = vec![0; expected.len()];
        file.read_exact_at(&mut got, 0).unwrap();
        assert_eq!(got, expected);
        assert_eq!(file.metadata().unwrap().len(), expected.len() as u64);
    }
}
