//! Pages as people see them, kept as snapshots, and rules that hold for all of them.

use crate::look::Look;
use crate::tests::fixture::shares::*;
use crate::tests::fixture::*;
use crate::{live, sentence, small_print, terminal};
use tiebreak_core::claim::Relation;
use tiebreak_core::journal::StopReason;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Centre, Gate, Scope};
use tiebreak_core::result::{
    BesideResult, ClaimResult, EffectResult, OneFactorResult, RatioRow, RunResult, Statistic,
};
use tiebreak_core::verdict::{Fault, Verdict};
use unicode_width::UnicodeWidthStr;

const LOOK: Look = Look { width: 80, color: false, unicode: true };

mod checks;
mod comparisons;
mod data;
pub(crate) mod fixture;
mod html;
mod machine;
mod pages;
mod pictures;
mod sentences;
mod studies;
mod study_data;
mod suites;

/// Every kind of result, by name.
fn all_results() -> Vec<(&'static str, RunResult)> {
    let mut running =
        compared(vec![question(Verdict::Undecided, None, [Some(0.97), Some(1.1), None])]);
    running.stopped = None;
    running.eta_seconds = Some(8.3);
    let mut results = vec![
        ("empty", empty()),
        ("running", running),
        ("three", three()),
        ("nothing known", nothing_known()),
        ("servers", fixture::served()),
        ("long names", long_names()),
        ("no bias", self_checked(0, [0.0, 0.0, 0.087])),
        ("bias", self_checked(9, [0.07, 0.225, 0.45])),
    ];
    results.extend(sentences::questions().map(|claim| ("question", compared(vec![claim]))));
    results.extend(sentences::claims().map(|claim| ("claim", compared(vec![claim]))));
    results.push(("no factor", compared(vec![pages::no_factor()])));
    let properties = properties();
    let all: Vec<_> = properties.iter().map(|(_, claim)| claim.clone()).collect();
    results.extend(properties.into_iter().map(|(name, claim)| (name, judged(vec![claim]))));
    results.push(("many properties", judged(all)));
    results.push(("failures", with_failures()));
    for gate in [Gate::OpenUnlessRefuted, Gate::ClosedUnlessHolds] {
        let claims = [Verdict::TooClose, Verdict::Undecided].map(|verdict| gated(verdict, gate));
        results.push(("gates", compared(claims.to_vec())));
    }
    results.push(("many", compared(sentences::claims().to_vec())));
    results
}
