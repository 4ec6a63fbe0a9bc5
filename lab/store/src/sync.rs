//! Durability: the possible loss in a power cut.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The most work that a power cut should cost.
const AT_MOST_NS: u64 = 1_000_000_000;

/// The times of the syncs of the log to the disk.
#[derive(Debug, Default)]
pub(crate) struct Syncs {
    /// Whether something was committed since.
    pub(crate) pending: bool,
    pub(crate) last_sync_ns: Option<u64>,
    last_call_ns: Option<u64>,
}

impl Syncs {
    /// Returns whether to sync now: whether more than a second of work would be at stake at the
    /// next call, if the interval to it equals the last interval.
    pub(crate) fn due(&mut self, now_ns: u64) -> bool {
        let step_ns = now_ns.saturating_sub(self.last_call_ns.unwrap_or(now_ns));
        self.last_call_ns = Some(now_ns);
        let next_ns = now_ns.saturating_add(step_ns);
        let fresh =
            self.last_sync_ns.is_some_and(|last| next_ns.saturating_sub(last) <= AT_MOST_NS);
        self.pending && !fresh
    }
}

/// Syncs the log. Every commit is in the log or, since SQLite moved the log's contents, synced in
/// the main file. The process holds no locks on the log, so opening and closing it here drops none.
pub(crate) fn sync_log(path: &Path, with_folder: bool) -> io::Result<()> {
    match File::open(beside(path, "-wal")) {
        Ok(log) => log.sync_data()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match path.parent() {
        // The names of new files are data of their folder.
        Some(folder) if with_folder => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Returns the path with this ending added to the file's name.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(step_ns: u64, calls: u64, expected: u64) {
        let mut syncs = Syncs { pending: true, ..Syncs::default() };
        let mut done = 0;
        for call in 0..calls {
            let now_ns = 77 + call * step_ns;
            if syncs.due(now_ns) {
                done += 1;
                let at_stake = now_ns - syncs.last_sync_ns.unwrap_or(now_ns);
                assert!(at_stake <= AT_MOST_NS.max(step_ns), "{at_stake} ns at stake");
                syncs.last_sync_ns = Some(now_ns);
            }
        }
        assert_eq!(done, expected, "{calls} rounds of {step_ns} ns");
    }

    #[test]
    fn syncs_about_once_a_second_and_after_every_long_round() {
        check(1_000_000, 10_000, 10);
        check(400_000_000, 100, 50);
        check(600_000_000, 100, 100);
        check(60_000_000_000, 100, 100);
    }

    #[test]
    fn nothing_new_is_not_synced() {
        let mut syncs = Syncs::default();
        assert!(!syncs.due(0) && !syncs.due(u64::MAX));
    }
}
