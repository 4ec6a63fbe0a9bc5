//! A random seed.

use std::fs::File;
use std::io::Read;

/// Returns sixteen hexadecimal digits from the system's generator: short enough to type again.
///
/// # Errors
/// Fails if the system has no `/dev/urandom`; the text says what to do.
pub fn from_system() -> Result<String, String> {
    let mut bytes = [0; 8];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| format!("cannot draw a seed from /dev/urandom ({error}): give --seed"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
