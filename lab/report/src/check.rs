//! The page about a file of claims: failed claims, every claim, and the meaning of the file's
//! error.

use crate::effects::verdict_words;
use crate::footer::again;
pub use crate::live::of_check as progress;

use crate::odd::odd_of;
use crate::prelude::*;
use crate::property::{condition, is_bursty, trial_noun, trials};
use crate::sentence::{of_means, spans_of, tone};
use tiebreak_core::result::Family;

/// The narrowest column of claims.
const LEAST_CLAIM: usize = 24;

/// The result of a file of claims as text: the summary and what its error means, the sentences of
/// the claims that failed, then all claims in the order of the file, what was odd, and how to get
/// the same again.
///
/// Every line ends with a line feed and takes at most [`Look::columns`] columns.
pub fn page(check: &CheckResult, look: &Look) -> String {
    let look = *look;
    let mut page = Page::new(look);
    page.interrupted(check.interrupted);
    let tone = tone_of(check.claims().map(|(.., claim)| claim));
    page.paragraph("", &[span(tone, summary(check)), words(".")]);
    page.say(Tone::Plain, promise(check));
    for (contest, line, claim) in check.claims().filter(|(.., claim)| has_failed(claim)) {
        page.gap();
        let place = line.map_or(String::new(), |line| format!(":{line}"));
        let head = format!("{}{place} {}", plain(&check.file), plain(&contest.name));
        page.paragraph(INDENT, &[span(Tone::Strong, head)]);
        page.paragraph(
            &INDENT.repeat(2),
            &spans_of(&contest.run, claim, check.family == Family::EBonferroni),
        );
    }
    table(&mut page, check, look);
    odd_of(&mut page, &runs(check));
    page.gap();
    let contests = count(check.contests.len() as u64, "contest");
    page.entry("file", format!("{contests} in {}", seconds(check.seconds)));
    again(&mut page, &runs(check));
    page.finish()
}

/// Returns the runs of a file, each with the name of its contest.
fn runs(check: &CheckResult) -> Vec<(&RunResult, &str)> {
    check.contests.iter().map(|contest| (&contest.run, contest.name.as_str())).collect()
}

/// The verdicts of a file of claims and nothing else: a line a claim, with its place in the file,
/// without styles.
pub fn verdicts(check: &CheckResult) -> String {
    let mut text = String::new();
    for (contest, line, claim) in check.claims() {
        let place = line.map_or(String::new(), |line| format!("{line}:"));
        let said = sentence(check, &contest.run, claim);
        text += &format!("{}:{place} {said}\n", plain(&check.file));
    }
    text
}

/// Summarises a file of claims in one line, without a full stop: `claims.toml: 4 of 9 claims
/// hold, 2 are refuted, 1 is undecided`.
pub fn summary(check: &CheckResult) -> String {
    let file = plain(&check.file);
    format!("{file}: {}", counts_text(check.claims().map(|(.., claim)| claim)))
}

/// Counts the claims with each verdict: `4 of 9 claims hold, 2 are refuted, 1 is undecided`.
pub fn counts_text<'a>(claims: impl Iterator<Item = &'a ClaimResult>) -> String {
    let verdicts: Vec<Verdict> = claims.map(|claim| claim.verdict).collect();
    let all = verdicts.len();
    let with = |verdict| verdicts.iter().filter(|other| **other == verdict).count();
    let holds = with(Verdict::Holds);
    let mut text = match (all, holds) {
        (0, _) => return "there is no claim".to_owned(),
        (1, 1) => "the claim holds".to_owned(),
        (_, _) if holds == all => format!("all {all} claims hold"),
        (_, 1) => format!("1 of {} holds", count(all as u64, "claim")),
        (_, _) => format!("{holds} of {} hold", count(all as u64, "claim")),
    };
    let others = [Verdict::Refuted, Verdict::TooClose, Verdict::Undecided, Verdict::Void];
    for verdict in others {
        match with(verdict) {
            0 => {}
            1 => text += &format!(", 1 is {verdict}"),
            number => text += &format!(", {number} are {verdict}"),
        }
    }
    text
}

/// Returns the meaning of the file's error, and how many claims it does not cover because
/// their failures come in bursts.
pub fn promise(check: &CheckResult) -> String {
    let error = percent(check.error, Rounding::Up);
    let mut text = match check.family {
        Family::EBonferroni => format!(
            "The probability that any verdict of this file is wrong is at most {error}, whenever \
             it stops"
        ),
        Family::EBh => format!(
            "Of the verdicts of this file that prove something, at most {error} are wrong on \
             average, whenever it stops (e-BH)"
        ),
    };
    if check.claims().any(|(.., claim)| condition(claim).is_some()) {
        text += ", under the conditions that the sentences name";
    }
    let out = "whose failures come in bursts or in spells";
    match check.claims().filter(|(.., claim)| is_bursty(claim)).count() {
        0 => text + ".",
        1 => format!("{text}; that leaves out the claim {out}."),
        many => format!("{text}; that leaves out the {many} claims {out}."),
    }
}

/// The verdict on one claim of a file, as [`crate::sentence`] has it for a run alone.
///
/// e-BH speaks of all verdicts of a file together: at the level at which it settles a claim, which
/// depends on the others, no single verdict has an error, so none is said.
pub fn sentence(check: &CheckResult, run: &RunResult, claim: &ClaimResult) -> String {
    quotable(&spans_of(run, claim, check.family == Family::EBonferroni))
}

/// Writes the quantity of a claim with its limits: `1.42x (1.31x to 1.56x)`; `-` where nothing is
/// known.
pub fn effect(claim: &ClaimResult) -> String {
    let quantity = Presented::of(claim);
    if quantity.is_known() { quantity.found() } else { or_none(None) }
}

/// Whether a claim failed: refuted, void, or of a gate that only `holds` opens.
pub(crate) fn has_failed(claim: &ClaimResult) -> bool {
    matches!(claim.outcome(), ClaimOutcome::Failed | ClaimOutcome::Void)
}

/// Returns the tone of the worst verdict.
pub(crate) fn tone_of<'a>(claims: impl Iterator<Item = &'a ClaimResult>) -> Tone {
    let claims: Vec<_> = claims.collect();
    match () {
        () if claims.iter().any(|claim| has_failed(claim)) => Tone::Bad,
        () if claims.iter().any(|claim| claim.verdict != Verdict::Holds) => Tone::Doubt,
        () if claims.is_empty() => Tone::Doubt,
        () => Tone::Good,
    }
}

/// Adds a line for each claim, below the name of its contest.
fn table(page: &mut Page, check: &CheckResult, look: Look) {
    let all: Vec<_> = check.claims().collect();
    if all.is_empty() {
        return;
    }
    page.gap();
    let room = look.columns() - INDENT.len();
    let mut columns = columns(&all, look);
    // Columns go, by their ranks, until the claims have room enough.
    let taken = columns_of(&rows(columns.clone(), room - LEAST_CLAIM - 2)[0]);
    let claim_room = room.saturating_sub(taken + 2).max(LEAST_CLAIM);
    let texts = all.iter().map(|(.., claim)| plain(&claim.claim));
    let cells = texts.map(|text| shorten_middle(&text, claim_room, look));
    columns.insert(1, Column::left("claim", cells));
    let mut rows = rows(columns, room).into_iter();
    rows.next().into_iter().for_each(|title| page.line(&indented(title, INDENT)));
    for (index, (mut row, (contest, _, claim))) in rows.zip(&all).enumerate() {
        if index == 0 || !std::ptr::eq(all[index - 1].0, *contest) {
            let name = shorten_middle(&plain(&contest.name), room, look);
            let capped = contest.run.verdicts.iter().find_map(of_means);
            let capped = capped.map(|capped| words(format!(": ratios of mean times{capped}")));
            let title: Spans = [span(Tone::Strong, name)].into_iter().chain(capped).collect();
            page.paragraph(INDENT, &title);
        }
        row.first_mut().into_iter().for_each(|word| word.tone = tone(claim));
        page.line(&indented(row, INDENT));
    }
}

/// Makes all columns but the claims themselves.
fn columns(all: &[(&ContestResult, Option<u64>, &ClaimResult)], look: Look) -> Vec<Column> {
    let quantity: Vec<_> = all.iter().map(|(.., claim)| Presented::of(claim).numbers()).collect();
    let estimates = quantity.iter().map(|[estimate, ..]| or_none(estimate.clone()));
    // The units differ from line to line, so aligned decimals would not help.
    let intervals = quantity.iter().map(|[_, low, high]| between(low.clone(), high.clone()));
    let verdicts = all.iter().map(|(.., claim)| verdict_words(claim, look) + gate_note(claim));
    let lines = all.iter().map(|(_, line, _)| or_none(line.map(|line| line.to_string())));
    let rounds = all.iter().map(|(.., claim)| count(trials(claim), trial_noun(claim)));
    vec![
        Column::left("verdict", verdicts),
        Column::right("effect", estimates).rank(1),
        Column::left("interval", intervals).rank(2),
        Column::right("evidence", rounds).rank(3),
        Column::right("line", lines).rank(4),
    ]
}

/// Says whether a gate lets an open verdict pass.
pub(crate) fn gate_note(claim: &ClaimResult) -> &'static str {
    match (claim.outcome(), claim.verdict) {
        (ClaimOutcome::PassedUnproven, _) => " (passes)",
        (ClaimOutcome::Failed, Verdict::TooClose | Verdict::Undecided) => " (fails)",
        _ => "",
    }
}
