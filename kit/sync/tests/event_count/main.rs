//! Event counts of every kind: properties compared with a naive counter, edges, sleeps, and many
//! wake-ups.
#![cfg(not(loom))]

mod edges;
#[path = "../common/length.rs"]
mod length;
mod properties;
// Signals and /proc, of which Miri has neither.
#[cfg(not(miri))]
mod sleeping;
mod soak;
mod subject;

/// Runs `tests` for every kind of event count, each as a test of its own.
macro_rules! for_every_kind {
    ($($test:ident),+ $(,)?) => {
        crate::for_every_kind!(@kind single_32, EventCount32<Single>, $($test),+);
        crate::for_every_kind!(@kind single_64, EventCount64<Single>, $($test),+);
        crate::for_every_kind!(@kind multi_32, EventCount32<Multi>, $($test),+);
        crate::for_every_kind!(@kind multi_64, EventCount64<Multi>, $($test),+);
        crate::for_every_kind!(@kind two_word_32, EventCount32<TwoWord>, $($test),+);
        crate::for_every_kind!(@kind two_word_64, EventCount64<TwoWord>, $($test),+);
    };
    (@kind $name:ident, $kind:ty, $($test:ident),+) => {
        mod $name {
            use tiebreak_sync::event_count::*;
            $(
                #[test]
                fn $test() {
                    super::$test::<$kind>();
                }
            )+
        }
    };
}
pub(crate) use for_every_kind;
