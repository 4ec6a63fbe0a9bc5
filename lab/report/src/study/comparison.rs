//! Two results of one study next to each other.

use super::block::ratio_texts;
use super::markdown::{escaped, table};
use crate::markdown::{list, strong};
use crate::number::Kind;
use crate::prelude::*;
use crate::text::grouped;
use tiebreak_core::result::{
    ComparedClaim, ComparedRatio, ComparedResult, ComparedWorkload, StudyComparison,
};

/// Renders a comparison of two results as text: what differs in a line, the ratios of each workload
/// with how far they are proven to have changed, who changed places, and the claims whose verdicts
/// differ.
pub fn comparison(of: &StudyComparison, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.say(Tone::Strong, plain(&of.title));
    page.paragraph("", &[words(summary(of))]);
    page.say(Tone::Plain, promise(of));
    for result in &of.results {
        page.note(about(result));
    }
    for workload in &of.workloads {
        page.gap();
        let what = words(format!(": {}", about_workload(workload)));
        page.paragraph("", &[span(Tone::Strong, plain(&workload.workload)), what]);
        if !workload.ratios.is_empty() {
            page.gap();
            page.wide_table(columns(of, workload, Some(*look)));
        }
        page.notes(changed(of, workload));
    }
    let claims: Vec<_> = of.claims.iter().filter(|claim| differs(claim)).collect();
    if !claims.is_empty() {
        page.part("claims");
    }
    claims.iter().for_each(|claim| page.item(said(of, claim)));
    page.gap();
    page.note(MEANING);
    page.finish()
}

/// Writes the same as Markdown.
pub fn comparison_markdown(of: &StudyComparison) -> String {
    let mut out = format!("{} {}\n\n", escaped(&summary(of)), escaped(&promise(of)));
    out += &list(of.results.iter().map(|result| escaped(&about(result))));
    for workload in &of.workloads {
        let what = escaped(&about_workload(workload));
        out += &format!("\n{}: {what}\n", strong(&escaped(&plain(&workload.workload))));
        if !workload.ratios.is_empty() {
            out += &format!("\n{}", table(columns(of, workload, None)).trim_end_matches('\n'));
            out.push('\n');
        }
        let changed = changed(of, workload);
        if !changed.is_empty() {
            out += &format!("\n{}", list(changed.iter().map(|text| escaped(text))));
        }
    }
    let claims: Vec<_> = of.claims.iter().filter(|claim| differs(claim)).collect();
    if !claims.is_empty() {
        out += &format!("\n{}", list(claims.iter().map(|claim| escaped(&said(of, claim)))));
    }
    out + &format!("\n{}\n", escaped(MEANING))
}

pub(crate) const MEANING: &str = "A ratio is how many times what a contestant needs the reference \
    needs. 'proven' is how far the second is at least from the first: their intervals have no \
    value in common. '-' says that they may be equal. Of two contestants one is before the other \
    if their intervals have no value in common.";

/// Summarises a comparison: how many ratios differ, how many pairs of contestants changed places,
/// and how many claims have another verdict.
pub(crate) fn summary(of: &StudyComparison) -> String {
    let ratios = || of.workloads.iter().flat_map(|workload| &workload.ratios);
    let compared = ratios().filter(|one| one.change.is_some()).count();
    let differ = ratios().filter(|one| one.differs).count();
    let ratios = count(compared as u64, "ratio");
    let mut text = format!("{}: of {ratios}, {differ} differ", plain(&of.study));
    let changed: usize = of.workloads.iter().map(|workload| workload.changed_places.len()).sum();
    let same: u64 = of.workloads.iter().map(|workload| workload.same_places).sum();
    let open: u64 = of.workloads.iter().map(|workload| workload.open_places).sum();
    let pairs = count(changed as u64 + same + open, "pair");
    text += &format!("; of {pairs}, {changed} changed places, {same} kept them, {open} are open");
    if !of.claims.is_empty() {
        let others = of.claims.iter().filter(|claim| differs(claim)).count();
        let claims = count(of.claims.len() as u64, "claim");
        text += &format!("; of {claims}, {others} have another verdict");
    }
    text + "."
}

pub(crate) fn promise(of: &StudyComparison) -> String {
    let error = percent(of.error, Rounding::Up);
    format!("The probability that anything proven here is wrong is at most {error}.")
}

/// Says what a name stands for.
pub(crate) fn about(result: &ComparedResult) -> String {
    let machine = result.machine.as_deref().map_or("an unknown machine".to_owned(), plain);
    let cpus = result.cpus.map(|cpus| format!(", {}", count(cpus, "CPU")));
    format!("{}: {machine}{}", plain(&result.name), cpus.unwrap_or_default())
}

pub(crate) fn about_workload(of: &ComparedWorkload) -> String {
    match &of.not_compared {
        Some(why) => format!("not compared: {}.", short(why)),
        None => format!("ratios to {}.", plain(&of.reference)),
    }
}

/// Makes the columns of a workload: both ratios, the second over the first, and what is proven;
/// names are cut for a screen, if it is for one.
pub(crate) fn columns(
    of: &StudyComparison,
    workload: &ComparedWorkload,
    screen: Option<Look>,
) -> Vec<Column> {
    let ratios = &workload.ratios;
    let cut = |name: &str, columns| match screen {
        Some(look) => shorten_middle(&plain(name), columns, look),
        None => plain(name),
    };
    let names = of.results.each_ref().map(|result| cut(&result.name, 12));
    let texts =
        |ratio: Option<EffectResult>| ratio.map_or_else(|| [None, None].map(or_none), ratio_texts);
    let [a, a_limits] = transposed(ratios.iter().map(|one| texts(one.ratios[0])));
    let [b, b_limits] = transposed(ratios.iter().map(|one| texts(one.ratios[1])));
    let [change, limits] = transposed(ratios.iter().map(|one| texts(one.change)));
    vec![
        Column::left("contestant", cells(ratios, |one| cut(&one.contestant, 20))),
        Column::decimal(&names[0], a),
        Column::left("interval", a_limits).rank(2),
        Column::decimal(&names[1], b),
        Column::left("interval", b_limits).rank(2),
        Column::decimal(&format!("{} / {}", names[1], names[0]), change).rank(3),
        Column::left("interval", limits).rank(3),
        Column::left("proven", cells(ratios, proven)),
    ]
}

/// How far the second ratio is at least from the first: `at least 1.2x`, `at most 0.8x`.
fn proven(one: &ComparedRatio) -> String {
    let change = one.change.filter(|_| one.differs);
    change.map_or("-".to_owned(), |EffectResult { low, high, .. }| {
        let [_, least, most] = Kind::Ratio.numbers([None, low, high], &[]);
        match low {
            Some(low) if low > 1.0 => format!("at least {}", or_none(least)),
            _ => format!("at most {}", or_none(most)),
        }
    })
}

/// Says whose sources or flags differ, and who changed places, a sentence for each contestant
/// that was before others.
pub(crate) fn changed(of: &StudyComparison, workload: &ComparedWorkload) -> Vec<String> {
    let [a, b] = of.results.each_ref().map(|result| plain(&result.name));
    let pairs = workload.changed_places.iter();
    let pairs = grouped(pairs.map(|[first, second]| (plain(first), plain(second))));
    let sentences = pairs.into_iter().map(|(first, others)| {
        let them = if others.len() == 1 { "it" } else { "them" };
        format!("{first} is before {} in {a}, and behind {them} in {b}.", others.join(", "))
    });
    let others: Vec<String> = workload.other_code.iter().map(|name| plain(name)).collect();
    let other_code = (!others.is_empty()).then(|| {
        format!(
            "Other sources or flags in {a} than in {b}, so ratios may differ for that reason and \
             not by the machine: {}.",
            others.join(", ")
        )
    });
    other_code.into_iter().chain(sentences).collect()
}

pub(crate) fn differs(claim: &ComparedClaim) -> bool {
    claim.verdicts[0] != claim.verdicts[1]
}

/// Says what became of a claim in both results.
pub(crate) fn said(of: &StudyComparison, claim: &ComparedClaim) -> String {
    let [a, b] = of.results.each_ref().map(|result| plain(&result.name));
    let [of_a, of_b] = claim.verdicts.map(became);
    let whose = if claim.is_published { " (published)" } else { "" };
    let on = format!(" on {}", plain(&claim.workload));
    let text = plain(&claim.claim);
    let on = if text.ends_with(&on) { "" } else { &on };
    format!("'{text}'{on}{whose} {of_a} in {a}, and {of_b} in {b}.")
}

fn became(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Refuted => "is refuted",
        Verdict::TooClose => "is too close",
        Verdict::Undecided => "is undecided",
        Verdict::Void => "is void",
    }
}
