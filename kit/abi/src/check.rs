//! The handshake: the checks that a loader makes before it uses a table.

use crate::raw::{ABI, MAGIC, RawContestant, RawOracle};
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
pub trait Table: sealed::Sealed + Sized {
    /// Checks the fields of a table of the right version.
    ///
    /// # Errors
    /// Fails with the first fault of the fields.
    fn check_fields(&self) -> Result<(), Refusal>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::raw::RawContestant {}
    impl Sealed for crate::raw::RawOracle {}
}

/// Checks whether a table can be used. `Ok` means that all its fields may be read, that every
/// required function is present, and that the laboratory can provide what the table asks for.
///
/// # Errors
/// Fails with the reason why the table is refused.
///
/// # Safety
/// `table` is null or the address of the table's symbol. The function reads no further than the
/// size that the table states.
pub unsafe fn check<T: Table>(table: *const T) -> Result<(), Refusal> {
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
    unsafe { &*table }.check_fields()
}

impl Table for RawContestant {
    fn check_fields(&self) -> Result<(), Refusal> {
        self.prepare.ok_or(Refusal::NoFunction("prepare"))?;
        self.run.ok_or(Refusal::NoFunction("run"))?;
        self.dump.ok_or(Refusal::NoFunction("dump"))?;
        self.release.ok_or(Refusal::NoFunction("release"))?;
        match self.alignment_bytes {
            0 => Ok(()),
            bytes if bytes.is_power_of_two() && bytes <= ALIGNMENT_BYTES_MAX => Ok(()),
            bytes => Err(Refusal::Alignment(bytes)),
        }
    }
}

impl Table for RawOracle {
    fn check_fields(&self) -> Result<(), Refusal> {
        self.generate.ok_or(Refusal::NoFunction("generate"))?;
        self.items.ok_or(Refusal::NoFunction("items"))?;
        self.answer.map(drop).ok_or(Refusal::NoFunction("answer"))
    }
}
