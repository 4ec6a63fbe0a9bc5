//! The nouns of tiebreak.
//!
//! A claim becomes a plan, a plan becomes a schedule of coins, coins become samples, samples become
//! evidence, and evidence becomes a verdict. Each of these is a plain data type here; each other
//! crate turns one into the next. Nothing in this crate reads a clock, a file or a random number.

#![forbid(unsafe_code)]

/// Gives each variant of an enumeration its name.
macro_rules! names {
    ($type:ident: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            /// All variants, in the order of the enumeration.
            pub const ALL: [$type; [$($name),+].len()] = [$($type::$variant),+];

            /// Returns the words by which people know it.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name),+
                }
            }
        }
    };
}

pub mod claim;
pub mod counts;
pub mod evidence;
pub mod fingerprint;
pub mod float;
pub mod forecast;
pub mod hex;
pub mod journal;
pub mod language;
pub mod load;
pub mod metric;
pub mod plan;
pub mod quantity;
pub mod resampling;
pub mod result;
pub mod sample;
pub mod sampler;
pub mod schedule;
pub mod server;
pub mod study;
mod terms;
pub mod transitions;
pub mod verdict;
pub mod warning;
pub mod watch;
pub mod worded;
