//! The handshake: the checks that a loader makes before it uses a table.

use crate::raw::{
    ABI, Answer, Count, Dump, Generate, MAGIC, Prepare, RawContestant, RawOracle, Release, Run,
};
use core::fmt::{self, Display};

const ALIGNMENT_BYTES_MAX: u32 = 4096;

/// The reason why a table is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no table.
    Missing,
    /// The memory does not begin as a table does, but with this word.
    NotATable(u32),
    /// The table is of another version, which is this.
    OtherVersion(u32),
    /// The table has fewer fields than its version has: it states the first size in bytes and must
    /// have the second.
    TooShort(u32, u32),
    /// A function that every table must have is null.
    NoFunction(&'static str),
    /// The alignment that the table asks for, in bytes, is not a power of two up to 4096.
    Alignment(u32),
}

impl Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Missing => out.write_str(
                "the library exports no table: define it with TIEBREAK_CONTESTANT or \
                 TIEBREAK_ORACLE of tiebreak.h, or with contestant! or oracle! in Rust",
            ),
            Refusal::NotATable(magic) => write!(
                out,
                "the table begins with {magic:#010x}, not with TIEBREAK_MAGIC: define it with the \
                 macros of tiebreak.h"
            ),
            Refusal::OtherVersion(abi) => write!(
                out,
                "the table is of version {abi} and this tiebreak speaks version {ABI}: build it \
                 again with the tiebreak.h of this tiebreak"
            ),
            Refusal::TooShort(struct_bytes, expected_bytes) => write!(
                out,
                "the table says that it has {struct_bytes} bytes where its version has \
                 {expected_bytes}: build it again with the tiebreak.h of this tiebreak"
            ),
            Refusal::NoFunction(name) => {
                write!(out, "the table's `{name}` is null: every table needs that function")
            }
            Refusal::Alignment(bytes) => write!(
                out,
                "the table asks for an alignment of {bytes} bytes: it must be a power of two up \
                 to {ALIGNMENT_BYTES_MAX}, or 0 for 64"
            ),
        }
    }
}

impl core::error::Error for Refusal {}

/// A table that [`check`] can check.
pub trait Table: Sized {
    /// The functions that every table of this kind must have.
    type Functions;

    /// Checks the fields of a table of the right version, and returns those functions.
    ///
    /// # Errors
    /// Fails with the first fault of the fields.
    fn functions(&self) -> Result<Self::Functions, Refusal>;
}

/// Checks whether a table can be used, and returns its required functions. `Ok` means that all its
/// fields may be read, and that the laboratory can provide what the table asks for.
///
/// # Errors
/// Fails with the reason why the table is refused.
///
/// # Safety
/// `table` is null or the address of the table's symbol. The function reads no further than the
/// size that the table states.
pub unsafe fn check<T: Table>(table: *const T) -> Result<T::Functions, Refusal> {
    if table.is_null() || !table.is_aligned() {
        return Err(Refusal::Missing);
    }
    let words = table.cast::<u32>();
    // SAFETY: every table of every version begins with these three words. Anything else is at least
    // a symbol's memory, and only its first word is read.
    let magic = unsafe { words.read() };
    if magic != MAGIC {
        return Err(Refusal::NotATable(magic));
    }
    // SAFETY: as above.
    let (abi, struct_bytes) = unsafe { (words.add(1).read(), words.add(2).read()) };
    if abi != ABI {
        return Err(Refusal::OtherVersion(abi));
    }
    let expected_bytes = size_of::<T>() as u32;
    if struct_bytes < expected_bytes {
        return Err(Refusal::TooShort(struct_bytes, expected_bytes));
    }
    // SAFETY: it is a table of this version and as long as one.
    unsafe { &*table }.functions()
}

/// Returns a function that a table must have.
fn required<F>(function: Option<F>, name: &'static str) -> Result<F, Refusal> {
    function.ok_or(Refusal::NoFunction(name))
}

impl Table for RawContestant {
    type Functions = (Prepare, Run, Dump, Release);

    fn functions(&self) -> Result<Self::Functions, Refusal> {
        let functions = (
            required(self.prepare, "prepare")?,
            required(self.run, "run")?,
            required(self.dump, "dump")?,
            required(self.release, "release")?,
        );
        match self.alignment_bytes {
            0 => Ok(functions),
            bytes if bytes.is_power_of_two() && bytes <= ALIGNMENT_BYTES_MAX => Ok(functions),
            bytes => Err(Refusal::Alignment(bytes)),
        }
    }
}

impl Table for RawOracle {
    type Functions = (Generate, Count, Answer);

    fn functions(&self) -> Result<Self::Functions, Refusal> {
        let generate = required(self.generate, "generate")?;
        Ok((generate, required(self.items, "items")?, required(self.answer, "answer")?))
    }
}
