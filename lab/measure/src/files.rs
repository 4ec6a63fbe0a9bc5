//! Digests of the files that a run depends on, and files in memory, which receive a contestant's
//! output and are read after the clock has stopped.

use crate::system::{checked, owned};
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use tiebreak_core::journal::FileDigest;
use tiebreak_core::quantity::hexadecimal;
use tiebreak_core::sampler::OutputDigest;

/// Files longer than this are identified by their length and time of change.
const WHOLE_BYTES: u64 = 64 << 20;

/// Returns the digest of a file: its path, its length, and the SHA-256 of its content in
/// hexadecimal. Above 64 MiB, the hash is of the text `LENGTH SECONDS NANOSECONDS`: its length and
/// the time of its last change.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn digest_file(path: &Path) -> io::Result<FileDigest> {
    let file = File::open(path)?;
    let data = file.metadata()?;
    let mut hash = Sha256::new();
    let mut bytes = data.len();
    if bytes > WHOLE_BYTES {
        hash.update(format!("{bytes} {} {}", data.mtime(), data.mtime_nsec()));
    } else {
        bytes = hash_whole(&file, &mut hash)?;
    }
    let path = path.to_string_lossy().into_owned();
    Ok(FileDigest { path, bytes, digest: hexadecimal(&hash.finalize()) })
}

/// Adds the content of a file, whatever its current position, and returns its length.
fn hash_whole(file: &File, hash: &mut Sha256) -> io::Result<u64> {
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    while let length @ 1.. = file.read_at(&mut buffer, bytes)? {
        hash.update(&buffer[..length]);
        bytes += length as u64;
    }
    Ok(bytes)
}

/// Returns the files once each, in order.
pub(crate) fn without_repetition(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    files.retain(|file| seen.insert(file.clone()));
    files
}

/// Returns a whole file in memory.
pub(crate) fn content(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; file.metadata()?.len() as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// The most bytes of standard error that a fault quotes.
const TAIL_BYTES: u64 = 400;

/// Returns a new, empty file in memory that no other process has and that no `exec` inherits.
pub(crate) fn memory_file() -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name ends with a zero byte; the flags are valid; the call makes a descriptor.
    unsafe { owned(libc::memfd_create(c"tiebreak".as_ptr(), flags)) }.map(File::from)
}

/// How often a file is sealed again, and after which time, where the kernel holds one of its pages.
const SEAL_TRIES: u32 = 40;
const SEAL_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// Seals a file in memory, so that no descriptor or mapping can write to it any more, and opens it
/// again for reading from its start.
///
/// # Errors
/// Fails if the file has a writable mapping or is not a file in memory, or if `/proc` is missing.
pub(crate) fn sealed(file: &File) -> io::Result<File> {
    let mut tries = 0;
    // The kernel refuses also while it holds a page for itself, as when it moves memory.
    while let Err(error) = add_seals(file) {
        tries += 1;
        if error.kind() != io::ErrorKind::ResourceBusy || tries > SEAL_TRIES {
            return Err(error);
        }
        std::thread::sleep(SEAL_PAUSE);
    }
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn add_seals(file: &File) -> io::Result<()> {
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_GROW | libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL;
    // SAFETY: the descriptor is open, and seals are a number.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) }).map(|_| ())
}

/// Returns length and digest of a whole file, whatever its current position.
pub(crate) fn digest(file: &File) -> io::Result<OutputDigest> {
    let mut hash = Sha256::new();
    let bytes = hash_whole(file, &mut hash)?;
    let mut digest = hexadecimal(&hash.finalize());
    digest.truncate(32);
    Ok(OutputDigest { bytes, digest })
}

/// Returns the last lines of a file, at most 400 bytes. A longer text is cut at the start of a line
/// if possible. Control characters become spaces, so that a terminal can show it.
pub(crate) fn tail(file: &File) -> String {
    let length = file.metadata().map_or(0, |data| data.len());
    let start = length.saturating_sub(TAIL_BYTES);
    let mut bytes = vec![0; (length - start) as usize];
    let got = file.read_at(&mut bytes, start).unwrap_or(0);
    let mut bytes = &bytes[..got];
    if start > 0 {
        let line = bytes.iter().position(|byte| *byte == b'\n').map(|end| &bytes[end + 1..]);
        bytes = line.filter(|line| !line.is_empty()).unwrap_or(bytes);
    }
    let text = String::from_utf8_lossy(bytes);
    text.replace(|c: char| c.is_control() && c != '\n', " ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_digest_is_the_sha_256_of_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let found = digest_file(&path).unwrap();
        // FIPS 180-2, appendix B.1.
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((found.bytes, found.digest.as_str()), (3, digest));
        assert_eq!(found.path, path.to_str().unwrap());
        assert!(digest_file(&folder.path().join("b")).is_err());
        assert!(digest_file(folder.path()).is_err());
    }

    #[test]
    fn a_long_file_is_known_by_its_length_and_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        let file = File::create(&path).unwrap();
        file.set_len(WHOLE_BYTES + 1).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::new(5, 7);
        file.set_modified(time).unwrap();
        let found = digest_file(&path).unwrap();
        let text = format!("{} 5 7", WHOLE_BYTES + 1);
        assert_eq!(found.digest, hexadecimal(&Sha256::digest(text)));
        file.set_modified(time + std::time::Duration::from_secs(1)).unwrap();
        assert_ne!(digest_file(&path).unwrap().digest, found.digest);
    }

    fn holding(bytes: &[u8]) -> File {
        let mut file = memory_file().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn equal_outputs_have_equal_digests() {
        let digest_of = |bytes: &[u8]| digest(&holding(bytes)).unwrap();
        let abc = digest_of(b"abc");
        assert_eq!((abc.bytes, abc.digest.as_str()), (3, "ba7816bf8f01cfea414140de5dae2223"));
        assert_eq!(abc, digest_of(b"abc"));
        assert_ne!(abc, digest_of(b"abd"));
        let long = vec![7; 100_000];
        assert_eq!(digest_of(&long).bytes, 100_000);
        assert_ne!(digest_of(&long), digest_of(&long[1..]));
        assert_eq!(digest_of(b"").bytes, 0);
    }

    #[test]
    fn sealed_files_are_read_only_for_everybody() {
        let mut file = holding(b"abc");
        let mut sealed = sealed(&file).unwrap();
        let mut text = String::new();
        sealed.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
        let path = format!("/proc/self/fd/{}", sealed.as_raw_fd());
        let mut again = File::options().write(true).open(path).unwrap();
        for other in [&mut file, &mut sealed, &mut again] {
            assert!(other.write_all_at(b"x", 0).is_err() && other.set_len(1).is_err());
        }
        assert!(super::sealed(&file).is_err());
    }

    #[test]
    fn tails_are_short_and_plain() {
        let check = |bytes: &[u8], text: &str| assert_eq!(tail(&holding(bytes)), text);
        check(b"", "");
        check(b"one\ntwo\n", "one\ntwo");
        check(b"\x1b[31mred\x07\tx\n", "[31mred  x");
        check(b"\xffbad", "\u{fffd}bad");
        let mut long = vec![b'x'; 1000];
        long.extend(b"\nlast line\n");
        check(&long, "last line");
        check(&vec![b'y'; 1000], &"y".repeat(400));
    }
}
