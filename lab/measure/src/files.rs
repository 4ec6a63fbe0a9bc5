//! Digests of the files that a run depends on.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tiebreak_core::journal::FileDigest;

/// Files longer than this are identified by their length and time of change.
const WHOLE_BYTES: u64 = 64 << 20;

/// Returns the digest of a file: its path, its length, and the SHA-256 of its content in
/// hexadecimal. Above 64 MiB, the hash is of the text `LENGTH SECONDS NANOSECONDS`: its length and
/// the time of its last change.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn print_file(path: &Path) -> io::Result<FileDigest> {
    let mut file = File::open(path)?;
    let data = file.metadata()?;
    let mut hash = Sha256::new();
    let mut bytes = data.len();
    if bytes > WHOLE_BYTES {
        hash.update(format!("{bytes} {} {}", data.mtime(), data.mtime_nsec()));
    } else {
        bytes = 0;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let length = file.read(&mut buffer)?;
            if length == 0 {
                break;
            }
            hash.update(&buffer[..length]);
            bytes += length as u64;
        }
    }
    let path = path.to_string_lossy().into_owned();
    Ok(FileDigest { path, bytes, digest: hexadecimal(&hash.finalize()) })
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect()
}

fn digit(value: u8) -> char {
    char::from_digit(u32::from(value), 16).unwrap_or('?')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_print_is_the_sha_256_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let print = print_file(&path).unwrap();
        // FIPS 180-2, appendix B.1.
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((print.bytes, print.digest.as_str()), (3, digest));
        assert_eq!(print.path, path.to_str().unwrap());
        assert!(print_file(&folder.path().join("b")).is_err());
        assert!(print_file(folder.path()).is_err());
    }

    #[test]
    fn a_long_file_is_known_by_its_length_and_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        let file = File::create(&path).unwrap();
        file.set_len(WHOLE_BYTES + 1).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(5, 7);
        file.set_modified(time).unwrap();
        let print = print_file(&path).unwrap();
        let text = format!("{} 5 7", WHOLE_BYTES + 1);
        assert_eq!(print.digest, hexadecimal(&Sha256::digest(text)));
        file.set_modified(time + std::time::Duration::from_secs(1)).unwrap();
        assert_ne!(print_file(&path).unwrap().digest, print.digest);
    }
}
