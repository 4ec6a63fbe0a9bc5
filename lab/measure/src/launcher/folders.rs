//! The folders that contestants run in.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An open folder for each contestant. Entering it resolves no path, so the folder may be moved.
pub(super) struct Folders(Vec<OwnedFd>);

impl Folders {
    /// Opens each contestant's folder, or the current one if it has none, and enters it to check
    /// that this is possible.
    ///
    /// # Errors
    /// Returns the index of the first contestant whose folder cannot be entered, and why.
    pub(super) fn open(directories: &[Option<PathBuf>]) -> Result<Folders, (usize, io::Error)> {
        let here = Path::new(".");
        let opened = directories.iter().enumerate().map(|(index, directory)| {
            open(directory.as_deref().unwrap_or(here)).map_err(|error| (index, error))
        });
        let folders = Folders(opened.collect::<Result<_, _>>()?);
        for index in 0..folders.0.len() {
            let error = |errno| (index, io::Error::from_raw_os_error(errno));
            folders.enter(index).map_err(error)?;
        }
        Ok(folders)
    }

    /// Makes a contestant's folder the current one, which started programs inherit. The error is an
    /// `errno`.
    pub(super) fn enter(&self, contestant: usize) -> Result<(), i32> {
        let Some(folder) = self.0.get(contestant) else {
            return Err(libc::EINVAL);
        };
        // SAFETY: the descriptor is open.
        match unsafe { libc::fchdir(folder.as_raw_fd()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
        }
    }
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // A folder that cannot be listed may still be entered.
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the path ends with a zero byte and is only read.
    let fd = unsafe { libc::open(path.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
