//! Two ways to see a line by flushing. Of x86 alone, where any program may flush.
//!
//! 1. Flushed together: two addresses are loaded, the first is flushed, the second is timed. It is
//!    slow if it was flushed along with the first. No prefetcher has a part in it.
//! 2. Loaded together: both are flushed, the first is loaded, the second is timed. It is fast if it
//!    came along with the first: on its line, or fetched ahead.

use crate::FlushPoint;

#[cfg(target_arch = "x86_64")]
mod x86;

/// What was seen by both ways, near offsets first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlushObservation {
    /// After the start of the line was flushed.
    pub flushed: Vec<FlushPoint>,
    /// After the start of the line was loaded.
    pub loaded: Vec<FlushPoint>,
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::measure;

/// Says that nothing can be seen so.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn measure(
    _: std::time::Duration,
    _: &mut crate::tools::Budget<'_>,
) -> Result<FlushObservation, String> {
    Err("no program may flush a line on this architecture".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Budget, Duration};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_offset_is_looked_at() {
        let flag = AtomicBool::new(false);
        let mut quiet = |_| ();
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        match measure(Duration::from_millis(200), &mut budget) {
            Err(why) => assert!(!why.is_empty()),
            Ok(seen) => [seen.flushed, seen.loaded].into_iter().for_each(|points| {
                assert!(points.is_sorted_by_key(|point| point.offset_bytes));
                assert!(points.iter().all(|point| point.slow <= point.loads));
                assert!(points.iter().all(|point| point.loads > 0));
                assert!(!points.is_empty());
            }),
        }
    }
}
