//! A study as one page of HTML, to be shared.

use super::sheet::{Sheet, code, image, lines, list, section, sentence, small};
use super::{FIRST_BYTES, machine, table, verdicts};
use crate::footer::repeat_line;
use crate::prelude::*;
use crate::study::{
    Block, Sweep, about, built_with, columns_mean, comparison, not_covered, promise_of, summary,
};
use crate::svg::charts;
use maud::{Markup, html};
use tiebreak_core::result::StudyComparison;
use tiebreak_core::study::{Entrant, Study};

/// The bytes over the wire that the page may have after its claims, and after the first table.
const CLAIMS_BYTES: usize = 9_000;
const TABLE_BYTES: usize = 13_500;

/// What the page of a study is made from.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its result.
    pub result: &'a StudyResult,
    /// Results on other machines, each compared with this one.
    pub elsewhere: &'a [StudyComparison],
    /// The texts of its files, each with its path in the study's folder.
    pub files: &'a [(String, String)],
}

/// A study as one page of HTML: its claims, each with its verdict and with whose it is; ratios over
/// the size, if it sweeps one; a table a workload with the published figures; how other machines
/// differ; how to run it; and the sources of all contestants.
///
/// It promises the same as [`page`](super::page()), with one difference: what is seen first takes
/// fewer than [`FIRST_BYTES`] bytes over the wire, as gzip leaves them. Addresses in the study's
/// source are links.
pub fn study_page(of: &Publication<'_>) -> String {
    let Publication { study, result, .. } = *of;
    let blocks: Vec<Block> = result.runs.iter().filter_map(Block::of).collect();
    let mut sheet = Sheet::packed(&plain(&result.title));
    sheet.add(html! { p.d { "Source: " (linked(&study.source)) } });
    sheet.add(html! { p { (sentence(&format!("{}.", summary(result)))) } });
    sheet.add(small(&promise_of(result.error, "study")));
    claims(&mut sheet, result);
    for sweep in Sweep::all(&blocks) {
        let picture = sweep.chart().map(|chart| (charts(std::slice::from_ref(&chart)), chart));
        let crossings = sweep.crossings();
        let content = html! {
            @if let Some((svg, chart)) = picture { (image(&chart.title, &svg)) }
            @if !crossings.is_empty() { (list(&crossings)) }
        };
        sheet.part("Over the size", content, TABLE_BYTES);
    }
    workloads(&mut sheet, &blocks);
    of.elsewhere.iter().for_each(|other| elsewhere(&mut sheet, other));
    let again = result.runs.first().map(repeat_line);
    let again = html! {
        @if let Some(again) = again { (code(&again)) }
        (code(&format!("tiebreak study verify {}", plain(&study.name))))
    };
    sheet.part("The same again", again, FIRST_BYTES - 1);
    contestants(&mut sheet, study, &blocks);
    for (path, text) in of.files {
        sheet.fold(path, html! { div id=(anchor(path)) { (lines(text)) } });
    }
    let drawn = study.workloads.iter().any(|workload| workload.is_drawn);
    let meaning = [columns_mean(&blocks), vec![not_covered(drawn)]].concat();
    sheet.fold("What the columns say", list(&meaning));
    if let Some(run) = result.runs.first() {
        sheet.fold("Machine", machine(run, None));
    }
    sheet.finish()
}

/// Adds all claims: those of the source and the study's own, as each says.
fn claims(sheet: &mut Sheet, result: &StudyResult) {
    let all = verdicts::of_study(result);
    if all.is_empty() {
        return;
    }
    sheet.add(section("Claims"));
    let shown = sheet.fill(&all, CLAIMS_BYTES);
    if shown < all.len() {
        let title = format!("{} more claims", all.len() - shown);
        sheet.fold(&title, html! { @for one in &all[shown..] { (one) "\n" } });
    }
}

/// Adds the workloads: those that fit unfolded, the others behind their names.
fn workloads(sheet: &mut Sheet, blocks: &[Block]) {
    for block in blocks {
        let workload = &block.of.workload;
        let content = table::workload(sheet, block);
        let title = format!("On {}{}", workload.name, about(workload));
        sheet.part(&title, content, TABLE_BYTES);
    }
}

/// Adds how another machine differs.
fn elsewhere(sheet: &mut Sheet, of: &StudyComparison) {
    let mut content = vec![
        small(&comparison::summary(of)),
        small(&comparison::promise(of)),
        list(&of.results.iter().map(comparison::about).collect::<Vec<_>>()),
    ];
    let claims = of.claims.iter().filter(|claim| comparison::differs(claim));
    let claims: Vec<String> = claims.map(|claim| comparison::said(of, claim)).collect();
    if !claims.is_empty() {
        content.push(list(&claims));
    }
    for workload in &of.workloads {
        let what = comparison::about_workload(workload);
        content.push(small(&format!("On {}: {what}", plain(&workload.workload))));
        if !workload.ratios.is_empty() {
            content.push(table::plain_table(sheet, comparison::columns(of, workload, None)));
        }
        let changed = comparison::changed(of, workload);
        if !changed.is_empty() {
            content.push(list(&changed));
        }
    }
    content.push(small(comparison::MEANING));
    let other = &of.results[1];
    let model = other.machine.as_deref().unwrap_or(&other.name);
    sheet.fold(&format!("On another machine: {model}"), html! { @for one in &content { (one) } });
}

/// Adds what each contestant is, how it is built, and links to its sources.
fn contestants(sheet: &mut Sheet, study: &Study, blocks: &[Block]) {
    let one = |entrant: &Entrant| {
        let recipe = &entrant.recipe;
        let mut built = vec![recipe.compiler.clone()];
        built.extend(recipe.flags.iter().chain(&recipe.libraries).cloned());
        html! {
            p.d {
                b { (sentence(&entrant.name)) }
                @if !entrant.about.is_empty() { ": " (sentence(&entrant.about)) }
                br;
                (sentence(&built.join(" "))) " "
                @for source in &recipe.sources {
                    a.d href=(format!("#{}", anchor(source))) { (sentence(source)) } " "
                }
            }
        }
    };
    let content = html! {
        @for entrant in &study.contestants { (one(entrant)) "\n" }
        (list(&built_with(blocks)))
    };
    sheet.fold("Contestants and their sources", content);
}

/// Returns the name of a file's place on the page.
fn anchor(path: &str) -> String {
    let plain = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    format!("file-{}", plain.collect::<String>())
}

/// Returns a text whose addresses are links.
fn linked(text: &str) -> Markup {
    let words: Vec<&str> = text.split_whitespace().collect();
    html! {
        @for word in words {
            @let end = word.trim_end_matches([',', '.', ')', ':', ';']);
            @if end.starts_with("https://") || end.starts_with("http://") {
                a href=(sentence(end)) { (sentence(end)) } (sentence(&word[end.len()..]))
            } @else { (sentence(word)) }
            " "
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_links_and_nothing_else_is() {
        let text = linked("A, 2020: https://example.org/a?b=\"c\", <b>").into_string();
        assert!(text.contains("<a href=\"https://example.org/a?b=&quot;c&quot;\">"), "{text}");
        assert!(text.contains("&lt;b&gt;") && !text.contains("<b>"), "{text}");
        assert_eq!(linked("javascript:alert(1)").into_string().matches("<a").count(), 0);
    }
}
