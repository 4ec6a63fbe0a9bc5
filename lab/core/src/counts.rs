//! The counts of hardware counters, by name.

use crate::metric::Metric;
use crate::sample::Meters;

/// Generates everything that names the events one by one, from one line per event.
macro_rules! events {
    ($($(#[$doc:meta])* $event:ident: $metric:ident),* $(,)?) => {
        /// A value for each event that hardware counters count.
        #[repr(C)]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Counts<T> {
            $($(#[$doc])* pub $event: T),*
        }

        impl Counts<Metric> {
            /// The metric of each event.
            pub const METRICS: Counts<Metric> = Counts { $($event: Metric::$metric),* };
        }

        impl<T> Counts<T> {
            /// Applies `of` to the value of each event, in the order of the events.
            pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> Counts<U> {
                Counts { $($event: of(self.$event)),* }
            }

            /// Pairs the values of each event.
            pub fn zip<U>(self, other: Counts<U>) -> Counts<(T, U)> {
                Counts { $($event: (self.$event, other.$event)),* }
            }

            /// Returns a reference to each value.
            pub fn as_ref(&self) -> Counts<&T> {
                Counts { $($event: &self.$event),* }
            }

            /// Returns the values in the order of the events.
            pub fn to_vec(self) -> Vec<T> {
                vec![$(self.$event),*]
            }
        }

        impl<T: Copy> Counts<T> {
            /// Returns the same value for each event.
            pub fn all(value: T) -> Counts<T> {
                Counts { $($event: value),* }
            }
        }

        impl Meters {
            /// Returns the counts among the meters.
            pub fn counts(&self) -> Counts<Option<u64>> {
                Counts { $($event: self.$event),* }
            }

            /// Returns the meters with these counts.
            #[must_use]
            pub fn with_counts(self, counts: Counts<Option<u64>>) -> Meters {
                Meters { $($event: counts.$event,)* ..self }
            }
        }
    };
}

events! {
    /// CPU cycles.
    cycles: Cycles,
    /// Instructions retired.
    instructions: Instructions,
    /// Mispredicted branches.
    branch_misses: BranchMisses,
    /// Misses of the last cache level.
    cache_misses: CacheMisses,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_keep_their_names() {
        let counts = Counts { cycles: 1, instructions: 2, branch_misses: 3, cache_misses: 4 };
        assert_eq!(counts.map(|count| count * 2).to_vec(), [2, 4, 6, 8]);
        assert_eq!(counts.zip(Counts::METRICS).cache_misses, (4, Metric::CacheMisses));
        let meters =
            Meters { energy_nj: Some(9), ..Meters::default() }.with_counts(counts.map(Some));
        assert_eq!((meters.branch_misses, meters.energy_nj), (Some(3), Some(9)));
        assert_eq!(meters.counts(), counts.map(Some));
        let names = Counts::METRICS.map(Metric::name).to_vec();
        assert_eq!(names, ["cycles", "instructions", "branch misses", "cache misses"]);
    }
}
