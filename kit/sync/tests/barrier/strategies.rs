//! Each strategy of the barriers against the store buffer of a real CPU.

use crate::alone;
use crate::litmus::{Limit, controls, store_buffering, two_cpus};
use tiebreak_sync::barrier::{Barrier, Strategy};

#[test]
fn no_strategy_shows_the_forbidden_outcome() {
    let _alone = alone();
    let cpus = match two_cpus() {
        Ok(cpus) => cpus,
        Err(reason) => return println!("skipped: {reason}"),
    };
    if let Err(reason) = controls(cpus) {
        println!("{reason}");
    }
    for strategy in Strategy::ALL {
        let barrier = match Barrier::with(strategy) {
            Ok(barrier) => barrier,
            Err(refused) => {
                println!("skipped: {refused}");
                continue;
            }
        };
        let outcomes =
            store_buffering(cpus, || barrier.light(), || barrier.heavy(), Limit::of_a_run());
        println!("{strategy}: {outcomes}");
        assert_eq!(outcomes.forbidden, 0, "{strategy}");
        assert!(outcomes.rounds > 0);
    }
}
