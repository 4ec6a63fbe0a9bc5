//! The print of a machine: everything that was found in one go, and how it is taken.

use crate::figure::Figure;
use crate::finding::Options;
use crate::tools::Budget;
use crate::{MachinePrint, Probe};
use std::sync::atomic::AtomicBool;
use std::time::{Instant, SystemTime};
use tiebreak_machine::fingerprint;

/// Makes the list of probes, the fields of a print and what shows each from the registry's entries.
/// The module of an entry has `probe`, which measures, and `show`.
macro_rules! probes {
    ($(
        $field:ident: $finding:ident, $words:literal,
        $quick_ms:literal ms, $thorough_ms:expr,
        $help:literal;
    )*) => {
        $(
            pub use $field::*;

            impl $crate::finding::Finding for $finding {
                fn figures(&self) -> Vec<$crate::Figure> {
                    self.figures()
                }

                fn rows(&self) -> Vec<$crate::show::Row> {
                    $field::show::rows(self)
                }

                fn page(&self, look: &$crate::show::Look) -> String {
                    $field::show::page(self, look)
                }

                fn svg(&self) -> String {
                    $field::show::svg(self)
                }
            }
        )*

        /// A probe, by what it finds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "what each finds has its own documentation")]
        pub enum Probe {
            $($finding),*
        }

        impl Probe {
            /// All of them, in the order in which they run.
            pub const ALL: [Probe; [$(stringify!($field)),*].len()] = [$(Probe::$finding),*];

            /// Returns what `tiebreak machine` calls it, and its key in a print.
            pub fn name(self) -> &'static str {
                [$(stringify!($field)),*][self as usize]
            }

            /// In words.
            pub fn words(self) -> &'static str {
                [$($words),*][self as usize]
            }

            /// Returns what it finds, for the list of commands.
            pub fn help(self) -> &'static str {
                [$($help),*][self as usize]
            }

            /// Returns how long it would like to take on this number of CPUs, or for a short look:
            /// all short looks together take less than half a minute.
            pub fn budget(self, cpus: usize, is_quick: bool) -> std::time::Duration {
                let entries: [(u64, fn(u64) -> u64); _] = [$(($quick_ms, $thorough_ms)),*];
                let (quick_ms, thorough_ms) = entries[self as usize];
                let ms = if is_quick { quick_ms } else { thorough_ms(cpus as u64) };
                std::time::Duration::from_millis(ms)
            }
        }

        /// Everything that was found about a machine in one go; a probe that was not asked for is
        /// absent.
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct MachinePrint {
            /// `tiebreak/machine/1`.
            pub schema: String,
            /// When the first probe began, in milliseconds since 1970 (UTC).
            pub taken_unix_ms: u64,
            /// How long all probes took, in nanoseconds.
            pub took_ns: u64,
            /// Whether each probe had only a short look.
            pub is_quick: bool,
            /// Whether it was stopped before the last probe had ended.
            pub interrupted: bool,
            /// What the machine says of itself.
            pub machine: tiebreak_core::fingerprint::Fingerprint,
            $(
                #[doc = concat!("What the probe of ", stringify!($field), " found.")]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<Probed<$finding>>,
            )*
        }

        impl MachinePrint {
            /// Returns what a probe found; `None` if it was not asked for.
            pub(crate) fn found(
                &self,
                asked: Probe,
            ) -> Option<Probed<Box<dyn $crate::finding::Finding>>> {
                match asked {
                    $(Probe::$finding => {
                        let found = self.$field.clone()?;
                        Some(found.map(|value, _| Box::new(value) as _))
                    })*
                }
            }

            fn measure(
                &mut self,
                asked: Probe,
                options: &Options<'_>,
                budget: &mut $crate::tools::Budget<'_>,
            ) {
                match asked {
                    $(Probe::$finding => self.$field = Some($field::probe(options, budget)),)*
                }
            }
        }
    };
}
pub(crate) use probes;

impl MachinePrint {
    /// What the `schema` field of this version says.
    pub const SCHEMA: &'static str = "tiebreak/machine/1";

    /// Returns what became of a probe: its state in a word; `None` if it was not asked for.
    pub fn state(&self, probe: Probe) -> Option<&'static str> {
        self.found(probe).map(|found| found.state())
    }

    /// Returns the numbers by which two machines can be compared, probe by probe.
    pub fn figures(&self) -> Vec<Figure> {
        let found = Probe::ALL.into_iter().filter_map(|probe| self.found(probe));
        found.flat_map(|found| found.value().map_or(Vec::new(), |value| value.figures())).collect()
    }
}

/// Runs these probes one after the other, in the order of all probes, and keeps what there is when
/// the user stops it. `watch` gets which probe runs and how far it is, never while something is
/// being timed.
pub fn take(
    probes: &[Probe],
    options: &Options<'_>,
    interrupted: &AtomicBool,
    watch: &mut dyn FnMut(Probe, f64),
) -> MachinePrint {
    let begin = Instant::now();
    let mut print = empty(options.is_quick);
    for probe in Probe::ALL.into_iter().filter(|probe| probes.contains(probe)) {
        let mut progress = |share: f64| watch(probe, share);
        progress(0.0);
        let length = options.each.unwrap_or(probe.budget(options.cpus.len(), options.is_quick));
        let mut budget = Budget::new(length, interrupted, &mut progress);
        print.measure(probe, options, &mut budget);
        if budget.is_interrupted() {
            print.interrupted = true;
            break;
        }
    }
    print.took_ns = begin.elapsed().as_nanos() as u64;
    print
}

/// Returns a print of now without any probe.
pub(crate) fn empty(is_quick: bool) -> MachinePrint {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    MachinePrint {
        schema: MachinePrint::SCHEMA.to_owned(),
        taken_unix_ms: since_1970.as_millis() as u64,
        is_quick,
        machine: fingerprint::read(),
        ..MachinePrint::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_quick_print_fits_in_half_a_minute() {
        let all: Duration = Probe::ALL.iter().map(|probe| probe.budget(64, true)).sum();
        assert!(all <= Duration::from_secs(28), "{all:?}");
        assert!(Probe::Cores.budget(2, false) >= Duration::from_secs(30));
    }
}
