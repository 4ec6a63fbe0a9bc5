//! A contestant's or an oracle's library: loads it, and checks its table before it is used. A sink,
//! which takes their outputs.

use crate::wire::mapping::Mapping;
use crate::wire::message::{Facts, Question, Sizes, Trouble};
use crate::worker_process::features;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::error::Error;
use std::ffi::{CStr, c_char};
use std::fs::File;
use std::io::{self, BufWriter, Write};
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
    pub(super) prepare: abi::Prepare,
    pub(super) reset: Option<abi::Reset>,
    pub(super) run: abi::Run,
    pub(super) dump: abi::Dump,
    pub(super) release: abi::Release,
}

impl Contestant {
    /// Loads a contestant: binds all of its symbols now, and exports none to other libraries.
    pub(super) fn load(path: &Path) -> Result<Contestant, Trouble> {
        let (table, functions) = table::<abi::RawContestant>(path, abi::CONTESTANT_SYMBOL)?;
        let (prepare, run, dump, release) = functions;
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
        prepare: abi::Prepare,
        run: abi::Run,
        dump: abi::Dump,
        release: abi::Release,
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

/// A loaded oracle. It is never unloaded either.
#[derive(Clone, Copy, Debug)]
pub(super) struct Oracle {
    generate: abi::Generate,
    items: abi::Count,
    output_bytes: Option<abi::Count>,
    answer: abi::Answer,
}

impl Oracle {
    pub(super) fn load(path: &Path) -> Result<Oracle, Trouble> {
        let (table, functions) = table::<abi::RawOracle>(path, abi::ORACLE_SYMBOL)?;
        let (generate, items, answer) = functions;
        Ok(Oracle { generate, items, output_bytes: table.output_bytes, answer })
    }

    /// Makes an input into the file if `is_made` is set, and measures it.
    ///
    /// # Errors
    /// Fails if a system call fails, or if the oracle refuses.
    pub(super) fn input(
        &self,
        question: &Question,
        [file]: [OwnedFd; 1],
        is_made: bool,
    ) -> Result<Sizes, Trouble> {
        let request = &request(question);
        if is_made {
            // SAFETY: the table determines what it takes; request and sink outlive the call.
            let status = Sink::new()
                .fill(Some(file.try_clone()?), |sink| unsafe { (self.generate)(request, sink) })?;
            succeeded("generate", status)?;
        }
        let bytes = File::from(file.try_clone()?).metadata()?.len();
        let mapping = Mapping::input(&file, bytes as usize, 0)?;
        let input = mapping.start().as_ptr();
        // SAFETY: the table determines what they take; the input has that many bytes.
        let (items, output_bytes) = unsafe {
            let items = (self.items)(request, input, bytes);
            (items, self.output_bytes.map_or(0, |count| count(request, input, bytes)))
        };
        Ok(Sizes { bytes, items, output_bytes })
    }

    /// Answers for an input, the first of the files, and writes the text to the second one, if
    /// there is one. Returns the checksum.
    ///
    /// # Errors
    /// Fails if a system call fails, or if the oracle refuses.
    pub(super) fn answer(
        &self,
        question: &Question,
        input_bytes: u64,
        files: Vec<OwnedFd>,
    ) -> Result<u64, Trouble> {
        let mut files = files.into_iter();
        let input = files.next().ok_or(io::Error::from(io::ErrorKind::InvalidInput))?;
        let mapping = Mapping::input(&input, input_bytes as usize, 0)?;
        let request = request(question);
        let mut checksum = 0;
        let status = Sink::new().fill(files.next(), |sink| {
            let input = mapping.start().as_ptr();
            // SAFETY: the table determines what it takes; all that it points to outlives the call.
            unsafe {
                (self.answer)(&raw const request, input, input_bytes, sink, &raw mut checksum)
            }
        })?;
        succeeded("answer", status).map(|()| checksum)
    }
}

fn succeeded(function: &str, status: i32) -> Result<(), Trouble> {
    match status {
        0 => Ok(()),
        _ => Err(Trouble::Failed(format!("its '{function}' gave {status}"))),
    }
}

/// Returns a question for the C side; it must not outlive the question.
fn request(question: &Question) -> RawRequest {
    RawRequest {
        struct_bytes: size_of::<RawRequest>() as u32,
        reserved: 0,
        workload: question.workload.as_ptr(),
        distribution: question.distribution.as_ptr(),
        contract: question.contract.as_ptr(),
        size: question.size,
        seed: question.seed,
        part: question.part,
        parts: question.parts,
    }
}

/// Loads a library, which is never unloaded, and returns its table, if the handshake accepts it,
/// with the functions that every table has.
fn table<T: abi::Table>(path: &Path, symbol: &CStr) -> Result<(&'static T, T::Functions), Trouble> {
    // SAFETY: the library's constructors may do anything; the worker exists to contain that.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|error| {
        // The message of the system's linker.
        let why = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Trouble::Unusable(format!("it cannot be loaded: {why}"))
    })?;
    // SAFETY: only the address is taken here; the check below decides whether it is a table.
    let found = unsafe { library.get::<*const T>(symbol.to_bytes_with_nul()) };
    let table = found.map_or(std::ptr::null(), |symbol| symbol.as_raw_ptr().cast_const().cast());
    std::mem::forget(library);
    // SAFETY: the symbol points to it; even if it is not a table and shorter than a table's first
    // words, these would lie in a page of the library.
    let functions = unsafe { abi::check::<T>(table) };
    let functions = functions.map_err(|refusal| Trouble::Unusable(refusal.to_string()))?;
    // SAFETY: it is a table of this version with at least its length, it lies in a library that is
    // never unloaded, and it is constant.
    Ok((unsafe { &*table }, functions))
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

/// Takes bytes by the C ABI, and writes them to a file through a buffer.
pub(super) struct Sink {
    writer: BufWriter<Target>,
    failed: Option<io::Error>,
}

/// A file, or nothing.
struct Target(Option<File>);

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink {
    /// Creates a sink, with its buffer. Its use allocates nothing.
    pub(super) fn new() -> Sink {
        Sink { writer: BufWriter::with_capacity(BUFFER_BYTES, Target(None)), failed: None }
    }

    /// Lets `work` write to this file, or to nothing. The sink that it gets lives until it returns.
    ///
    /// # Errors
    /// Returns the error of the first write that failed.
    pub(super) fn fill<R>(
        &mut self,
        file: Option<OwnedFd>,
        work: impl FnOnce(*const RawSink) -> R,
    ) -> io::Result<R> {
        self.writer.get_mut().0 = file.map(File::from);
        let raw = RawSink { context: std::ptr::from_mut(self).cast(), write };
        let result = work(&raw const raw);
        let flushed = self.writer.flush();
        self.writer.get_mut().0 = None;
        self.failed.take().map_or(flushed, Err).map(|()| result)
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.writer.write_all(bytes).err();
        }
    }
}

unsafe extern "C" fn write(context: *mut libc::c_void, bytes: *const libc::c_void, count: u64) {
    if count == 0 {
        return;
    }
    // SAFETY: the context is the sink that `fill` was called on, which is alive and not used
    // elsewhere during the call; the caller guarantees that this many bytes are readable.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), count as usize);
        (*context.cast::<Sink>()).take(bytes);
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
        let mut expected = Vec::new();
        let mut write_all = |raw: *const RawSink| {
            for length in [3, 0, BUFFER_BYTES, 1, BUFFER_BYTES - 1, 2, 3 * BUFFER_BYTES, 5] {
                let part: Vec<u8> = (0..length).map(|at| (at + expected.len()) as u8).collect();
                // SAFETY: the sink is alive, and the part has as many bytes.
                unsafe { ((*raw).write)((*raw).context, part.as_ptr().cast(), part.len() as u64) };
                expected.extend(part);
            }
        };
        Sink::new().fill(Some(file.try_clone().unwrap().into()), &mut write_all).unwrap();
        let mut got = vec![0; expected.len()];
        file.read_exact_at(&mut got, 0).unwrap();
        assert_eq!(got, expected);
        assert_eq!(file.metadata().unwrap().len(), expected.len() as u64);
    }
}
