//! Ends what a contestant left behind.
//!
//! The launcher is a subreaper: when a process below it ends, the children of that process become
//! the launcher's. After a contestant has been reaped, every remaining child comes from it. When
//! the launcher has no child, nothing is left.

use super::message::Reply;
use std::time::Duration;
use tiebreak_machine::clock;

/// How long the launcher tries. A process that cannot be ended by then waits in the kernel for a
/// device.
const PATIENCE_NS: u64 = 2_000_000_000;
const PAUSE: Duration = Duration::from_micros(200);

/// Ends and reaps all children, and counts them in the reply.
///
/// Cost if there is none: one system call.
pub(super) fn end_all(reply: &mut Reply) {
    let mut deadline_ns = None;
    loop {
        // SAFETY: no place for a result is given. All our children are to be reaped.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            -1 => return,
            // The end of a child makes its own children ours: check again.
            pid if pid > 0 => continue,
            _ => {}
        }
        let now_ns = clock::monotonic_ns();
        if now_ns > *deadline_ns.get_or_insert(now_ns + PATIENCE_NS) {
            return;
        }
        for (child, name) in living_children() {
            if reply.left_behind == 0 {
                let length = name.len().min(reply.left_name.len() - 1);
                reply.left_name[..length].copy_from_slice(&name.as_bytes()[..length]);
            }
            // SAFETY: the process is a child of ours that was not reaped, so the number names
            // nothing else.
            if unsafe { libc::kill(child, libc::SIGKILL) } == 0 {
                reply.left_behind += 1;
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// Returns the numbers and names of the launcher's children that still run.
///
/// It reads the whole process list, because not every kernel lists the children of a process.
fn living_children() -> Vec<(i32, String)> {
    let own = std::process::id();
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read(entry.path().join("stat")) else {
            continue;
        };
        match parse(&String::from_utf8_lossy(&stat)) {
            Some((name, state, parent)) if parent == own && state != 'Z' => {
                children.push((pid, name));
            }
            _ => {}
        }
    }
    children
}

/// Parses name, state and parent from the text of `/proc/PID/stat`.
fn parse(stat: &str) -> Option<(String, char, u32)> {
    let (start, rest) = stat.rsplit_once(") ")?;
    let name = start.split_once(" (")?.1.to_owned();
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((name, state, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_a_process_is_read_whatever_its_name() {
        let check = |stat: &str, name: &str, state: char, parent: u32| {
            assert_eq!(parse(stat), Some((name.to_owned(), state, parent)));
        };
        check("7 (sleep) S 3 7 7 0", "sleep", 'S', 3);
        check("7 (a) R 1 (b) Z 12 7", "a) R 1 (b", 'Z', 12);
        assert_eq!(parse("7 (cut"), None);
    }
}
