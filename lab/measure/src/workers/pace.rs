//! Detects times that no core can reach.
//!
//! The bounds are measured where the contestants run (`worker/pace.rs`): a call of an empty
//! function, in the same loop, and a load from each cache line of an input that every run has to
//! read, from the nearest cache. No call is shorter than the first. No core loads more bytes at
//! once than a cache line has, nor more lines in a cycle than the loop of independent loads. The
//! fastest measurement of the run counts, and a fourth of it is the bound: another thread on the
//! same core halves the measured speed, and the clock of the core may change.

use crate::worker::area::Record;

/// How many times as fast as the measurement a contestant may be.
const TIMES: u64 = 4;
const LINE_BYTES: u64 = 64;

/// The fastest measurements of a run so far, in picoseconds; `None` before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    empty_call_ps: Option<u64>,
    line_ps: Option<u64>,
}

impl Pace {
    /// Takes the measurement after a batch, if there is one.
    pub(super) fn take(&mut self, record: &Record) {
        let faster = |so_far: Option<u64>, ps: u64| match (so_far, ps) {
            (so_far, 0) => so_far,
            (so_far, ps) => Some(so_far.map_or(ps, |so_far| so_far.min(ps))),
        };
        self.empty_call_ps = faster(self.empty_call_ps, record.empty_call_ps);
        self.line_ps = faster(self.line_ps, record.line_ps);
    }

    /// Returns what is wrong with a batch of this many calls with this duration, each of which has
    /// to read this many bytes; `None` if a core can do that.
    pub(super) fn refuses(&self, wall_ns: u64, calls: u64, bytes: u64) -> Option<String> {
        let call_ps = wall_ns.saturating_mul(1000) / calls.max(1);
        let ns = |ps: u64| ps as f64 / 1000.0;
        // A clock that did not move says nothing.
        let is_below = |least_ps: &u64| wall_ns > 0 && call_ps < least_ps / TIMES;
        if let Some(empty_ps) = self.empty_call_ps.filter(is_below) {
            return Some(format!(
                "took {:.2} ns for a call, and a call of a function that does nothing takes this \
                 CPU {:.2} ns: its calls were not made, or not timed",
                ns(call_ps),
                ns(empty_ps)
            ));
        }
        let whole_ps = self.line_ps.map(|line_ps| line_ps * (bytes / LINE_BYTES));
        whole_ps.filter(is_below).map(|whole_ps| {
            format!(
                "took {:.1} ns for a call that has to read {bytes} bytes, and one load from each \
                 of their cache lines alone takes this CPU {:.1} ns, from its nearest cache: it \
                 did not read them",
                ns(call_ps),
                ns(whole_ps)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_core_can_do_is_refused() {
        let mut pace = Pace::default();
        assert_eq!(pace.refuses(1, 1000, 1 << 20), None, "nothing was measured");
        for (empty_call_ps, line_ps) in [(0, 0), (1600, 0), (1200, 400), (3000, 200)] {
            pace.take(&Record { empty_call_ps, line_ps, ..Record::default() });
        }
        assert_eq!(pace, Pace { empty_call_ps: Some(1200), line_ps: Some(200) });
        let check = |wall_ns, calls, bytes, contains: Option<&str>| {
            let said = pace.refuses(wall_ns, calls, bytes);
            assert_eq!(said.is_some(), contains.is_some(), "{said:?}");
            assert!(said.unwrap_or_default().contains(contains.unwrap_or_default()));
        };
        check(300, 1000, 0, None);
        check(299, 1000, 0, Some("0.30 ns for a call, and a call of a function"));
        check(0, 1000, 1 << 20, None);
        // 100 lines of 0.2 ns.
        check(5000, 1000, 6400, None);
        check(4999, 1000, 6400, Some("has to read 6400 bytes"));
        check(4999, 1000, 63, None);
    }
}
