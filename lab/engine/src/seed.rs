//! A seed that nobody chose.

use std::fs::File;
use std::io::Read;

/// Sixteen hexadecimal digits from the system's generator: short enough to type again.
///
/// # Errors
/// The system has no `/dev/urandom`; the text says what to do.
pub fn from_system() -> Result<String, String> {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| format!("cannot draw a seed from /dev/urandom ({error}): give --seed"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
