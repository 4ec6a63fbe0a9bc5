//! What the daemon may still do once it runs, and what it says where it may not begin.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use super::running::{PROGRAM, Running, is_root};

#[test]
fn it_has_given_up_every_right() {
    let Some(daemon) = Running::start() else { return };
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.child.id())).unwrap();
    let line = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        line.unwrap_or_default().split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    for (name, expected) in [
        ("CapInh:", "0000000000000000"),
        ("CapPrm:", "0000000000000000"),
        ("CapEff:", "0000000000000000"),
        ("CapAmb:", "0000000000000000"),
        ("NoNewPrivs:", "1"),
        ("Seccomp:", "2"),
    ] {
        assert_eq!(line(name), expected, "{name}");
    }
    if is_root() {
        assert_eq!(line("Uid:"), "65534 65534 65534 65534");
        assert_eq!((line("Gid:"), line("Groups:")), ("65534 65534 65534 65534".into(), "".into()));
    }
    if is_root() {
        use std::os::unix::fs::MetadataExt;
        // Else a program of that user could listen there in its place.
        for path in [daemon.socket.parent().unwrap(), &daemon.socket] {
            assert_eq!(path.metadata().unwrap().uid(), 0, "{}", path.display());
        }
    }
    assert!(daemon.words[2].contains("without capabilities"), "{:?}", daemon.words);
}

fn code_and_words(output: Output) -> (Option<i32>, String) {
    let words = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&words).into_owned())
}

#[test]
fn without_rights_it_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    let program = folder.path().join("barrierd");
    std::fs::copy(PROGRAM, &program).unwrap();
    for arguments in [["check"].as_slice(), &["cost"], &["run", "--socket", "/tmp/none/socket"]] {
        let mut command = Command::new(&program);
        command.args(arguments);
        if is_root() {
            command.uid(65534);
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                return println!("not tested here: the user nobody cannot start it: {error}");
            }
        };
        let (code, words) = code_and_words(output);
        if code == Some(0) {
            println!("not tested here: this user may use bpf(2)");
            return;
        }
        assert_eq!(code, Some(2), "{words}");
        assert!(words.contains("CAP_BPF and CAP_PERFMON"), "{arguments:?}: {words}");
    }
}

/// A filter under which `bpf(2)` fails with an error.
fn refuse_bpf(error: libc::c_int) -> [libc::sock_filter; 4] {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_bpf as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

#[test]
fn a_filter_that_refuses_bpf_is_named() {
    for (error, expected) in [(libc::EPERM, "CAP_BPF"), (libc::ENOSYS, "has no bpf(2)")] {
        let mut filter = refuse_bpf(error);
        let mut command = Command::new(PROGRAM);
        command.arg("check");
        // SAFETY: between fork and exec only two system calls are made, with memory that was made
        // before the fork.
        unsafe {
            command.pre_exec(move || {
                let program = libc::sock_fprog { len: 4, filter: filter.as_mut_ptr() };
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                match libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => return println!("not tested here: no filters: {error}"),
        };
        let (code, words) = code_and_words(output);
        assert_eq!(code, Some(2), "{words}");
        assert!(words.contains(expected), "{words}");
    }
}
