//! A daemon that was started for a test, and is ended with it.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tiebreak_sync::interrupts::Client;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_barrierd");

pub struct Running {
    pub child: Child,
    pub socket: PathBuf,
    /// What it printed when it had started.
    pub words: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Running {
    /// Starts one; nothing, and a line of why, where that cannot be.
    pub fn start() -> Option<Running> {
        let folder = tempfile::tempdir().unwrap();
        // Others than its owner may pass through, as through /run.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), mode).unwrap();
        let socket = folder.path().join("made/socket");
        let mut child = command(&socket).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let words: Vec<String> = lines.by_ref().take(3).map_while(Result::ok).collect();
        if words.len() == 3 {
            return Some(Running { child, socket, words, _folder: folder });
        }
        let mut why = String::new();
        child.stderr.take().unwrap().read_to_string(&mut why).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "{why}");
        println!("not tested here: {}", why.trim());
        None
    }

    pub fn client(&self) -> Client {
        Client::connect_to(&self.socket).unwrap()
    }

    /// As `kill` does.
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: the process is a child that was not waited for, so the number is still its
        // own.
        assert_eq!(unsafe { libc::kill(self.child.id() as libc::pid_t, signal) }, 0);
    }
}

/// `barrierd run`.
pub fn command(socket: &std::path::Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["run", "--socket"]).arg(socket).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the tests run as root, who may become others.
pub fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}
