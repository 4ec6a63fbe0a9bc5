//! Where a server runs: at a port that is free, with a folder that is empty.

use std::fs::DirBuilder;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use tiebreak_core::server::{FOLDER, PORT};

/// The first port. None of these is given to a connection that asks for any port, unless the system
/// was told to (`ip_local_port_range`), so a free one stays free until the server takes it.
const FIRST: u16 = 12_000;
/// The number of ports.
const COUNT: u16 = 20_000;
/// How many folders with the next names may be there already.
const TRIES: u32 = 1000;
/// The folders that this process has made.
static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// The ports of a process. Each is used once before the first is used again: connections of its
/// last server may linger for a minute.
#[derive(Debug)]
pub(super) struct Ports {
    next: u16,
}

impl Ports {
    /// Begins at a port that depends on the process, so that two of them rarely meet.
    pub(super) fn from(process: u32) -> Ports {
        // A multiple of the golden ratio puts neighbours far apart.
        let hash = process.wrapping_mul(0x9E37_79B9) >> 16;
        Ports { next: (hash % u32::from(COUNT)) as u16 }
    }

    /// Returns the next place: a port at which nothing listens, and a new folder.
    ///
    /// # Errors
    /// Fails if no port is free, or no folder can be made.
    pub(super) fn place(&mut self) -> io::Result<Place> {
        for _ in 0..COUNT {
            let port = FIRST + self.next;
            self.next = (self.next + 1) % COUNT;
            // On all addresses, as some servers listen on all.
            if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
                return Ok(Place { port, folder: new_folder()? });
            }
        }
        Err(io::Error::new(io::ErrorKind::AddrInUse, "no port from 12000 to 31999 is free"))
    }
}

/// Makes a folder that only this user can read.
fn new_folder() -> io::Result<PathBuf> {
    let mut tries = 0;
    loop {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("tiebreak-server-{}-{number}", std::process::id());
        let folder = std::path::absolute(std::env::temp_dir().join(name))?;
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            // One that a killed process of the same number has left.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

/// A place for one server. Its folder is removed with it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) port: u16,
    folder: PathBuf,
}

impl Place {
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a text with the port and the folder in it.
    pub(super) fn fill(&self, text: &str) -> String {
        let folder = self.folder.to_string_lossy();
        text.replace(PORT, &self.port.to_string()).replace(FOLDER, &folder)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What cannot be removed is left for the system's own cleaning.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_differ_and_leave_nothing() {
        let mut ports = Ports::from(7);
        let [one, other] = [ports.place().unwrap(), ports.place().unwrap()];
        assert_ne!(one.port, other.port);
        assert_ne!(one.folder(), other.folder());
        std::fs::write(one.folder().join("a"), "b").unwrap();
        let folder = one.folder().to_owned();
        assert!(folder.is_absolute() && folder.is_dir());
        let filled = one.fill("serve -p {port} {dir}/a {port} {else}");
        let expected = format!("serve -p {0} {1}/a {0} {{else}}", one.port, folder.display());
        assert_eq!(filled, expected);
        drop(one);
        assert!(!folder.exists() && other.folder().exists());
    }

    #[test]
    fn a_port_at_which_something_listens_is_passed_over() {
        let mut ports = Ports::from(11);
        let taken = FIRST + ports.next;
        let _listener = TcpListener::bind((Ipv4Addr::LOCALHOST, taken));
        assert_ne!(ports.place().unwrap().port, taken);
    }
}
