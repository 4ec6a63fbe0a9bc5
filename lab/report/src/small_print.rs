//! The small print of a verdict: the meaning of its error, and what it does not cover.

use crate::prelude::*;
use crate::property;
use crate::sentence::of_a_family;
use crate::study;
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::load::{LoadEnd, Pace};
use tiebreak_core::plan::Centre;
use tiebreak_core::quantity::format_ns;
use tiebreak_core::server::ServerPlan;

/// The small print of a run's verdicts: a few sentences, one an entry, without styles; empty if
/// every verdict is void.
///
/// Questions and `within` use both limits at once, at half the error each; a claim with one side
/// spends all of its error on each limit, so that what is said jointly is said at twice the error.
/// Of shares it says what one observation is and how many they need at the least, and where
/// failures come in bursts that nothing is promised. Of a study's run it is what holds of all of
/// it.
pub fn small_print(run: &RunResult) -> Vec<String> {
    if let Some(study) = &run.study {
        let promise = study::promise_of(run.error, "run");
        return vec![promise, study::not_covered(study.workload.is_drawn)];
    }
    let said = run.verdicts.iter().filter(|claim| claim.verdict != Verdict::Void);
    let said: Vec<&ClaimResult> = said.collect();
    let several = said.len() > 1;
    let mut lines: Vec<String> = Vec::new();
    for claim in &said {
        lines.extend(property::small_print(claim, several));
        lines.push(match run.false_share {
            _ if property::is_bursty(claim) => property::unpromised(claim).to_owned(),
            Some(share) => of_a_family(share),
            None => error(claim, several),
        });
    }
    let mut lines = each_once(lines);
    if lines.is_empty() {
        return lines;
    }
    lines.extend(run.servers.as_deref().map(of_servers));
    if run.adjust.slot && said.iter().any(|claim| claim.statement.relation().is_some()) {
        lines.push(
            "What running second costs is taken out once it is clear: exact for a constant factor."
                .to_owned(),
        );
    }
    lines.push("Stopping inflates the estimate: quote the interval.".to_owned());
    lines.extend(not_covered(&said));
    lines.extend(without_primer(run));
    lines
}

/// Returns what a run of servers is.
fn of_servers(plan: &ServerPlan) -> String {
    let (noun, traffic) = (plan.traffic.message_noun(), &plan.traffic);
    let what = match plan.end {
        LoadEnd::Messages(messages) => count(messages, noun),
        LoadEnd::DurationNs(ns) => format!("{noun}s for {}", format_ns(ns as f64)),
    };
    let pace = match plan.pace {
        Pace::Open { rate_per_second, .. } => format!("at {rate_per_second} a second"),
        Pace::Closed { .. } => {
            "in a closed loop, in which a server that stops has no latencies of \
                                that time"
                .to_owned()
        }
    };
    format!(
        "Each run is a fresh start of a server, with a tenth of its load before, untimed; the load \
         is {what} {pace}. Its time is from the first send to the last {}.",
        traffic.arrival_noun()
    )
}

/// Returns what rounds without a primer do not cover, if there are any.
fn without_primer(run: &RunResult) -> Option<String> {
    let rounds = run.rounds_without_primer;
    (rounds > 0).then(|| {
        format!(
            "{rounds} of {} began without an untimed run, so what a run gains by following one of \
             the same contestant is not covered either ('--primer always' covers it).",
            count(run.rounds, "round")
        )
    })
}

/// Returns what the verdicts do not cover.
fn not_covered(claims: &[&ClaimResult]) -> Vec<String> {
    let mut lines = Vec::new();
    let (ratios, others): (Vec<&ClaimResult>, Vec<&ClaimResult>) =
        claims.iter().partition(|claim| claim.statement.relation().is_some());
    for centre in [Centre::Median, Centre::Factor, Centre::Mean] {
        if ratios.iter().any(|claim| claim.centre == centre) {
            lines.push(what_a_ratio_is(centre).to_owned());
        }
    }
    if !ratios.is_empty() {
        let not = "Not covered: other machines and inputs, fixed paths and environment names.";
        lines.push(not.to_owned());
    }
    if !others.is_empty() {
        let none = "No coin protects a claim about rates, quantiles or means: it speaks of the \
                    conditions in which they were measured.";
        lines.push(none.to_owned());
    }
    lines
}

/// Returns the meaning of a verdict's ratio.
fn what_a_ratio_is(centre: Centre) -> &'static str {
    match centre {
        Centre::Median => {
            "A ratio is the median of the rounds' ratios, not the ratio of the means: rare slow \
             runs do not move it."
        }
        Centre::Factor => {
            "A ratio is one factor for all rounds; if there is none, it is not the ratio of the \
             means."
        }
        Centre::Mean => "A ratio is that of the mean times, not the median of the rounds' ratios.",
    }
}

fn error(claim: &ClaimResult, several: bool) -> String {
    let two_sided = matches!(
        claim.statement,
        Statement::Ratio(Relation::Order | Relation::Measure { .. } | Relation::Within { .. })
    );
    if two_sided {
        let right = percent(1.0 - claim.error, Rounding::Down);
        let what =
            if several { "a verdict and its interval" } else { "the verdict and the interval" };
        return format!(
            "With probability at least {right} {what} are both right, whenever the run stops."
        );
    }
    let one = percent(claim.error, Rounding::Up);
    let both = percent(2.0 * claim.error, Rounding::Up);
    format!(
        "Whenever the run stops: verdict wrong at most {one}; each limit wrong at most {one}; \
         everything at once at most {both}."
    )
}
