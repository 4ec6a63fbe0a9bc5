//! The identities behind what is taken out of the noise: fair bets, and swapping the contestants.

use proptest::prelude::*;
use proptest::sample::select;
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::observation::LogRatio;
use tiebreak_stats::ratio_test::RatioTest;

const SLOT: Adjust = Adjust { slot: true, strata: false };
const STRATA: Adjust = Adjust { slot: false, strata: true };
const BOTH: Adjust = Adjust { slot: true, strata: true };
const ALL: [Adjust; 4] = [Adjust::NONE, SLOT, STRATA, BOTH];

/// No run of a test is so lucky that this error settles it.
const NEVER: f64 = 1e-200;

fn test(relation: Relation, centre: Centre, error: f64, adjust: Adjust) -> RatioTest {
    RatioTest::new(relation, centre, error, 0.01, adjust)
}

/// The same by version 2 of the engine: its evidence never rises with the bar, and it looks for a
/// verdict in each round that may bring one.
fn without_learners(relation: Relation, centre: Centre, error: f64, adjust: Adjust) -> RatioTest {
    RatioTest::by_version(2, relation, centre, error, 0.01, adjust)
}

/// What the slots of fifteen rounds do: mostly a slower second slot; half of them are disturbed.
const SLOTS: [(f64, f64); 15] = [
    (0.041, 0.0),
    (0.037, 0.5),
    (-0.12, 0.2),
    (0.044, 0.001),
    (0.039, 0.01),
    (0.3, 0.8),
    (0.046, 0.0),
    (-0.002, 0.3),
    (0.0435, 0.0),
    (0.061, 0.4),
    (0.021, 0.019),
    (0.05, 0.7),
    (0.033, 0.0),
    (0.17, 0.6),
    (0.029, 0.9),
];

/// What comes of all orders of these rounds.
#[derive(Default)]
struct Means {
    /// The mean of what the bets at the bar have won above it, and below it.
    above: f64,
    below: f64,
    /// How often slots were taken out, and rounds weighed less.
    active: u32,
    weighted: u64,
}

impl Means {
    /// Goes through all orders of the rounds at this true log ratio.
    fn of(truth: f64, relation: Relation, adjust: Adjust) -> Means {
        let mut means = Means::default();
        means.add(&test(relation, Centre::Factor, NEVER, adjust), truth, &SLOTS);
        means
    }

    /// Goes on with either order of the first of the rounds that are left. Orders that begin alike
    /// share what they have in common.
    fn add(&mut self, test: &RatioTest, truth: f64, rounds: &[(f64, f64)]) {
        let Some(((difference, delay), rounds)) = rounds.split_first() else {
            let orders = f64::from(1u32 << SLOTS.len());
            self.weighted += test.weighted_rounds();
            self.above += test.evidence().0 / orders;
            self.below += test.evidence().1 / orders;
            return;
        };
        for slot in [-1.0, 1.0] {
            let mut test = test.clone();
            let conditions = Conditions { slot, delay: Some(*delay), ..Conditions::UNKNOWN };
            test.observe(LogRatio::exact(truth + slot * difference), &conditions);
            self.active += u32::from(test.slot_effect().is_some_and(|effect| effect.is_active));
            self.add(&test, truth, rounds);
        }
    }
}

/// At the bar the bets are fair to the last bit that counts; where the truth lies on the wrong side
/// of it they lose. The slots, and with them every covariate, are the same in all orders.
#[test]
fn mean_wealth_over_all_orders_is_one_at_the_bar_and_less_beyond() {
    let bar = libm::log(1.5);
    let relation = Relation::AtLeast { factor: 1.5 };
    for adjust in ALL {
        let Means { above, below, active, weighted } = Means::of(bar, relation, adjust);
        for mean in [above, below] {
            assert!(mean <= 1.0 + 1e-12 && mean > 1.0 - 1e-11, "{adjust:?}: {mean}");
        }
        assert_eq!((active > 0, weighted > 0), (adjust.slot, adjust.strata), "{adjust:?}");
        let off = 0.02;
        let above = Means::of(bar - off, relation, adjust).above;
        let below = Means::of(bar + off, relation, adjust).below;
        assert!(above < 1.0 && below < 1.0, "{adjust:?}, {off} off: {above} {below}");
    }
}

/// Log ratios, some of them open on a side: a time-out of either contestant, or of both.
fn log_ratio() -> impl Strategy<Value = LogRatio> {
    const INF: f64 = f64::INFINITY;
    prop_oneof![
        8 => (-0.1..0.12f64).prop_map(LogRatio::exact),
        2 => (-3i32..=3).prop_map(|step| LogRatio::exact(f64::from(step) * 0.01)),
        1 => (-0.1..0.1f64).prop_map(|d| LogRatio { low: d, high: d + 0.02 }),
        1 => (-0.1..0.1f64).prop_map(|d| LogRatio { low: d, high: INF }),
        1 => (-0.1..0.1f64).prop_map(|d| LogRatio { low: -INF, high: d }),
        1 => Just(LogRatio { low: -INF, high: INF }),
    ]
}

fn conditions() -> impl Strategy<Value = Conditions> {
    let slot = select(vec![1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 0.0]);
    let delay = select(vec![None, Some(0.0), Some(0.05), Some(0.051), Some(0.5), Some(1.0)]);
    (slot, delay).prop_map(|(slot, delay)| Conditions { slot, delay, ..Conditions::UNKNOWN })
}

/// Rounds in which the second slot is slower, so that there is something to take out.
fn rounds() -> impl Strategy<Value = Vec<(LogRatio, Conditions)>> {
    let round = (log_ratio(), conditions())
        .prop_map(|(d, conditions)| (d.less(-0.06 * conditions.slot), conditions));
    prop::collection::vec(round, 0..100)
}

fn relation() -> impl Strategy<Value = Relation> {
    select(vec![
        Relation::Order,
        Relation::AtLeast { factor: 1.03 },
        Relation::Within { fraction: 0.03 },
    ])
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn swapping_the_contestants_mirrors_everything(
        adjust in select(ALL.to_vec()), centre in select(vec![Centre::Factor, Centre::Median]),
        question in select(vec![Relation::Order, Relation::Within { fraction: 0.03 }]),
        rounds in rounds(),
    ) {
        let mut a = test(question, centre, 0.2, adjust);
        let mut b = a.clone();
        for (d, conditions) in rounds {
            let one = a.observe(d, &conditions);
            let other = b.observe(d.mirrored(), &conditions.mirrored());
            prop_assert_eq!(one.map(|s| s.verdict), other.map(|s| s.verdict));
            let wins = other.and_then(|s| s.left_wins);
            prop_assert_eq!(one.and_then(|s| s.left_wins), wins.map(|wins| !wins));
            prop_assert_eq!(a.slot_effect(), b.slot_effect());
        }
        prop_assert_eq!(a.weighted_rounds(), b.weighted_rounds());
        let (a_limits, b_limits) = (a.limits(), b.limits());
        prop_assert_eq!(a_limits.low, b_limits.high.map(|limit| -limit));
        prop_assert_eq!(a_limits.high, b_limits.low.map(|limit| -limit));
        let (a, b) = (a.evidence(), b.evidence());
        prop_assert_eq!(a, if question == Relation::Order { (b.1, b.0) } else { b });
    }

    /// The limits come from the history, the bets at a bar do not: both must see the same rounds.
    #[test]
    fn limits_stand_where_the_bets_at_a_bar_have_won(
        adjust in select(ALL.to_vec()), centre in select(vec![Centre::Factor, Centre::Median]),
        rounds in rounds(),
    ) {
        let replay = |relation| {
            let mut test = without_learners(relation, centre, NEVER, adjust);
            for (d, conditions) in &rounds {
                test.observe(*d, conditions);
            }
            test
        };
        let limits = replay(Relation::Order).limits_at(0.1);
        let at = |log: f64| replay(Relation::AtLeast { factor: libm::exp(log) }).evidence();
        let (inside, outside) = (1e-9, -1e-9);
        if let Some(low) = limits.low {
            prop_assert!(at(low + outside).0 >= 10.0 && at(low + inside).0 < 10.0 + 1e-9);
        }
        if let Some(high) = limits.high {
            prop_assert!(at(high - outside).1 >= 10.0 && at(high - inside).1 < 10.0 + 1e-9);
        }
    }

    #[test]
    fn without_adjustments_conditions_are_not_looked_at(rounds in rounds()) {
        let mut told = test(Relation::Order, Centre::Factor, 0.05, Adjust::NONE);
        let mut untold = told.clone();
        for (d, conditions) in rounds {
            let settled = told.observe(d, &conditions);
            prop_assert_eq!(settled, untold.observe(d, &Conditions::UNKNOWN));
        }
        prop_assert_eq!(told.summary(), untold.summary());
    }

    #[test]
    fn where_nothing_is_known_nothing_is_adjusted(rounds in rounds()) {
        let mut plain = test(Relation::Order, Centre::Factor, 0.05, Adjust::NONE);
        let mut both = test(Relation::Order, Centre::Factor, 0.05, BOTH);
        for (d, _) in rounds {
            let settled = plain.observe(d, &Conditions::UNKNOWN);
            prop_assert_eq!(settled, both.observe(d, &Conditions::UNKNOWN));
        }
        prop_assert_eq!(plain.summary(), both.summary());
    }

    /// What would be settled at another error is what a test with that error has settled, as long
    /// as it had not settled before.
    #[test]
    fn evidence_settles_at_another_error_what_a_test_with_that_error_settles(
        adjust in select(ALL.to_vec()), relation in relation(), rounds in rounds(),
        error in 0.02..0.4f64,
    ) {
        let mut patient = without_learners(relation, Centre::Factor, NEVER, adjust);
        let mut eager = without_learners(relation, Centre::Factor, error, adjust);
        for (d, conditions) in rounds {
            patient.observe(d, &conditions);
            let settled = eager.observe(d, &conditions);
            prop_assert_eq!(patient.settled_at(error), settled);
            if settled.is_some() {
                break;
            }
        }
    }
}
