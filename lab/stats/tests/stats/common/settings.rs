//! The settings of what is taken out of the noise, and what each is worth.

use super::neighbour::Neighbour;
use super::rates::count;
use super::settle_adjusted;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::coins::Seed;
use tiebreak_stats::ratio_test::RatioTest;

/// A setting by its name.
pub type Setting = (&'static str, Adjust);

pub const NONE: Setting = ("none", Adjust::NONE);
pub const SLOT: Setting = ("slot", Adjust { slot: true, strata: false });
pub const STRATA: Setting = ("strata", Adjust { slot: false, strata: true });
pub const BOTH: Setting = ("both", Adjust { slot: true, strata: true });

/// All of them.
pub const SETTINGS: [Setting; 4] = [NONE, SLOT, STRATA, BOTH];

/// The most rounds of a stream of [`rounds_needed`].
const ROUNDS_MAX: usize = 3000;

/// Rounds until it is told which of two is faster, in a world: in half of the streams, and in nine
/// of ten; `None` if that is more than 3 000.
pub fn rounds_needed(world: Neighbour, adjust: Adjust, streams: u64) -> [Option<u64>; 2] {
    let seed = Seed::from_text("sooner");
    let all = Mutex::new(Vec::new());
    count(0..streams, |stream| {
        let test = RatioTest::new(Relation::Order, Centre::Factor, 0.01, 0.0, adjust);
        let settled = settle_adjusted(test, world.rounds(seed, stream).take(ROUNDS_MAX));
        all.lock().unwrap().push(settled.map_or(u64::MAX, |(_, rounds)| rounds));
        true
    });
    let mut all = all.into_inner().unwrap();
    all.sort_unstable();
    let at = |place: usize| Some(all[place]).filter(|rounds| *rounds < u64::MAX);
    [at(all.len() / 2), at(all.len() * 9 / 10)]
}

/// In how many streams a claim whose bar is the factor between the two alone ever holds, and in how
/// many it is ever refuted: both are wrong if they come more often than the error, 1%.
pub fn verdicts_at_the_bar(world: Neighbour, adjust: Adjust, streams: u64) -> [u64; 2] {
    let factor = world.alone_ms[1] / world.alone_ms[0];
    let seed = Seed::from_text(&format!("at the bar {factor}"));
    let refuted = AtomicU64::new(0);
    let settled = count(0..streams, |stream| {
        let relation = Relation::AtLeast { factor };
        let test = RatioTest::new(relation, Centre::Factor, 0.01, 0.0, adjust);
        let settled = settle_adjusted(test, world.rounds(seed, stream).take(1000));
        let verdict = settled.map(|(settled, _)| settled.verdict);
        refuted.fetch_add(u64::from(verdict == Some(Verdict::Refuted)), Ordering::Relaxed);
        matches!(verdict, Some(Verdict::Holds | Verdict::Refuted))
    });
    let refuted = refuted.into_inner();
    [settled - refuted, refuted]
}
