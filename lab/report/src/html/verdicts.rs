//! The verdicts on the claims.

use super::ink;
use super::sheet::{Sheet, list, section, sentence as cut, small};
use crate::check::effect;
use crate::prelude::*;
use crate::self_check;
use crate::sentence::{common_tail, head, of_bursts, sentence, tone, what_helps, whose};
use crate::study::claims;
use maud::{Markup, html};
use tiebreak_core::result::SelfCheckResult;

/// The most claims that have a sentence each.
const FEW: usize = 16;
/// The most claims that have a picture each.
const PICTURED: usize = 6;

/// Adds a sentence for each claim with its sign, and a picture where there are few claims, unfolded
/// up to `bytes` of the page; or the result of `tiebreak aa`.
pub(super) fn verdicts(sheet: &mut Sheet, run: &RunResult, bytes: usize) {
    if let Some(found) = &run.self_check {
        return checked(sheet, run, found);
    }
    let mut said: Vec<&ClaimResult> = claims(run).collect();
    // Those that did not pass are what the reader must see.
    if said.len() > FEW {
        said.sort_by_key(|claim| claim.outcome() == ClaimOutcome::Passed);
    }
    let all = said.iter().map(|claim| {
        let text = match said.len() {
            1 => sentence(run, claim),
            2..=FEW => whole(run, claim),
            _ => brief(claim),
        };
        verdict(run, claim, &text, said.len() <= PICTURED)
    });
    let all: Vec<Markup> = all.collect();
    let shown = sheet.fill(&all, bytes);
    if shown < all.len() {
        let title = format!("{} more claims", all.len() - shown);
        sheet.fold(&title, html! { @for one in &all[shown..] { (one) "\n" } });
    }
    if let Some(tail) = common_tail(run).filter(|_| said.len() > 1) {
        sheet.add(small(&tail));
    }
    if let Some(helps) = what_helps(run) {
        sheet.add(small(&letters(&helps)));
    }
}

/// Returns a sentence for each claim of a study, behind its sign.
pub(super) fn of_study(study: &StudyResult) -> Vec<Markup> {
    let all = study.runs.iter().flat_map(|run| claims(run).map(move |claim| (run, claim)));
    all.map(|(run, claim)| verdict(run, claim, &whole(run, claim), false)).collect()
}

/// Returns the sentence of a claim without what all of a run's claims have in common.
fn whole(run: &RunResult, claim: &ClaimResult) -> String {
    let mut spans = head(run, claim);
    spans.extend(of_bursts(claim));
    quotable(&spans) + "." + whose(claim).unwrap_or_default()
}

/// Returns a claim, its verdict and its numbers without a sentence, for pages with many claims.
fn brief(claim: &ClaimResult) -> String {
    let verdict = match claim.verdict {
        Verdict::Holds => String::new(),
        other => format!("{other}: "),
    };
    let whose = whose(claim).map_or(String::new(), |whose| format!(".{whose}"));
    format!("{verdict}{}: {}{whose}", plain(&claim.claim), effect(claim))
}

fn verdict(run: &RunResult, claim: &ClaimResult, text: &str, has_picture: bool) -> Markup {
    let quantity = Presented::of(claim);
    // Where the interval of a share lies says more than whether the claim holds.
    let sign = match (claim.verdict, Sign::of(&quantity)) {
        (Verdict::Holds, _) => '\u{2713}',
        (Verdict::Refuted, _) => '\u{2717}',
        (Verdict::Void, _) => '\u{2205}',
        (_, Some(share)) => share.glyph(),
        (Verdict::TooClose, None) => '\u{2248}',
        (Verdict::Undecided, None) => '?',
    };
    let picture =
        (has_picture && quantity.is_known()).then(|| ink::interval(&quantity, run.resolution));
    signed(run, tone(claim), sign, text, picture)
}

/// A sentence with its sign, a link to what the machine was on which it was reached, and a picture.
fn signed(run: &RunResult, tone: Tone, sign: char, text: &str, picture: Option<Markup>) -> Markup {
    let class = match tone {
        Tone::Good => "v g",
        Tone::Bad => "v b",
        _ => "v q",
    };
    html! {
        div class=(class) {
            b { (sign) }
            div {
                (cut(text))
                @if run.machine.print.is_some() { " " a.d href="#machine" { "machine" } }
                @if let Some(picture) = picture { (picture) }
            }
        }
    }
}

/// Adds the result of `tiebreak aa`.
fn checked(sheet: &mut Sheet, run: &RunResult, found: &SelfCheckResult) {
    let said = self_check::sentence(run, found);
    let sign = match said[0].tone {
        Tone::Good => '\u{2713}',
        Tone::Bad => '\u{2717}',
        _ => '?',
    };
    sheet.add(signed(run, said[0].tone, sign, &letters(&said), None));
    let SelfCheckResult { too_close, undecided, .. } = found;
    let rate = self_check::rate(found);
    sheet.add(small(&format!("{too_close} too close to matter, {undecided} undecided; {rate}.")));
    if found.smallest.is_empty() {
        return;
    }
    sheet.add(section("The smallest difference that nine of ten comparisons would find"));
    sheet.add(list(&cells(&found.smallest, |one| {
        let (time, rounds) = (seconds(one.seconds), count(one.rounds, "round"));
        format!("in {time} ({rounds}): {}", self_check::size(one))
    })));
}
