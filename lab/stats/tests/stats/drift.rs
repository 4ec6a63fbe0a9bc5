//! How often a drift is seen where there is none, in runs that stop by their evidence. Seeds are
//! fixed.

use crate::common::noise::{Noise, SCENARIOS};
use crate::common::race::{RESOLUTION, Race};
use crate::common::rates::{Cell, Form, Rate};
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::drift::FALSE_ALARMS;
use tiebreak_stats::ratio_test::RatioTest;

const FORM: Form = Form { streams: 400, rounds: 300, error: 0.01 };

/// How often a question about a race of this ratio shows a drift when it is settled.
fn seen(noise: Noise, truth: f64) -> Rate {
    let what = format!("a drift is seen, truth {truth}");
    let cell = Cell::new(what, noise.name, "M3r", move |form, seed, stream| {
        let (relation, centre) = (Relation::Order, Centre::Factor);
        let mut test = RatioTest::new(relation, centre, form.error, RESOLUTION, Adjust::NONE);
        let rounds = Race::new(noise, truth).rounds(seed, stream).take(form.rounds);
        for d in rounds {
            if test.observe(d, &Conditions::UNKNOWN).is_some() {
                break;
            }
        }
        test.drift().is_some()
    });
    cell.measure(FORM)
}

#[test]
fn no_drift_is_seen_where_there_is_none() {
    for noise in SCENARIOS {
        for truth in [0.0, 0.005, 0.02] {
            let none = seen(noise, truth);
            assert!(!none.is_proven_above(FALSE_ALARMS), "{}", none.line());
        }
    }
}
