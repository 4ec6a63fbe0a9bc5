//! A study as one page of HTML, to be shared.

use super::sheet::{Sheet, code, image, lines, list, section, sentence, small};
use super::{FIRST_BYTES, machine, table, verdicts};
use crate::command::repeat_line;
use crate::odd::remarks;
use crate::page::INTERRUPTED;
use crate::prelude::*;
use crate::study::{
    Block, Sweep, about, built_with, columns_mean, comparison, not_covered_by, promise_of, summary,
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
    /// How its code is to what was measured; `None` if the result does not say which that was.
    pub code: Option<&'a CodeNow>,
}

/// How the code of a study is to what a result measured.
#[derive(Clone, Debug, Default)]
pub struct CodeNow {
    /// The contestants with other sources or flags now, or that cannot be read any more.
    pub changed: Vec<String>,
    /// The contestants that the result did not measure.
    pub not_measured: Vec<String>,
}

impl CodeNow {
    fn sentence(&self) -> String {
        let names =
            |all: &[String]| all.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", ");
        let mut text = match &self.changed[..] {
            [] => "Each contestant's sources and flags are those that were measured.".to_owned(),
            changed => format!(
                "Since the measurement these were changed, in their sources or in how they are \
                 built: {}.",
                names(changed)
            ),
        };
        if !self.not_measured.is_empty() {
            text += &format!(" Not measured in this result: {}.", names(&self.not_measured));
        }
        text
    }
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
    if result.interrupted {
        sheet.add(small(INTERRUPTED));
    }
    sheet.add(html! { p { (sentence(&format!("{}.", summary(result)))) } });
    sheet.add(small(&promise_of(result.error, "study")));
    if let Some(now) = of.code.filter(|now| !now.changed.is_empty()) {
        sheet.add(small(&now.sentence()));
    }
    // Their rules stand in the head of the page, before what is counted.
    let tables: Vec<Markup> =
        blocks.iter().map(|block| table::workload(&mut sheet, block)).collect();
    let elsewhere: Vec<(String, Markup)> =
        of.elsewhere.iter().map(|other| differences(&mut sheet, other)).collect();
    claims(&mut sheet, result);
    for sweep in Sweep::all(&blocks) {
        let picture = sweep.chart().map(|chart| (charts(std::slice::from_ref(&chart)), chart));
        let crossings = sweep.crossings();
        let content = html! {
            @if let Some((svg, chart)) = picture { (image(&chart.title, &svg)) }
            @if !crossings.is_empty() { (list(&crossings)) }
        };
        sheet.part(&format!("Over the size of {}", sweep.name()), content, TABLE_BYTES);
    }
    for (block, content) in blocks.iter().zip(tables) {
        let workload = &block.of.workload;
        let title = format!("On {}{}", workload.name, about(workload));
        sheet.part(&title, content, TABLE_BYTES);
    }
    let odd = odd(study, result);
    if !odd.is_empty() {
        sheet.part("What was odd", list(&odd), FIRST_BYTES - 1);
    }
    for (title, content) in elsewhere {
        sheet.fold(&title, content);
    }
    let again = result.runs.first().and_then(repeat_line);
    let again = html! {
        @if let Some(again) = again { (code(&again)) }
        (code(&format!("tiebreak study verify {}", plain(&study.name))))
    };
    sheet.part("The same again", again, FIRST_BYTES - 1);
    contestants(&mut sheet, of, &blocks);
    for (index, (path, text)) in of.files.iter().enumerate() {
        sheet.fold(path, html! { div id=(anchor(index)) { (lines(text)) } });
    }
    let meaning = [columns_mean(&blocks), vec![not_covered_by(&blocks)]].concat();
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

/// Returns what was odd in the runs, each remark once, and what the study has and the result has
/// not.
fn odd(study: &Study, result: &StudyResult) -> Vec<String> {
    let remarks = result.runs.iter().flat_map(|run| remarks(run, Look::PAPER));
    let mut odd = each_once(remarks);
    let is_raced = |name: &str| {
        let mut blocks = result.runs.iter().filter_map(|run| run.study.as_ref());
        blocks.any(|block| block.workload.name == name)
    };
    let names = study.workloads.iter().map(|workload| workload.name.as_str());
    let missing: Vec<String> = names.filter(|name| !is_raced(name)).map(plain).collect();
    if !missing.is_empty() {
        odd.push(format!(
            "Not raced in this result, so that no claim on it has a verdict: {}.",
            missing.join(", ")
        ));
    }
    odd
}

/// Returns how another machine differs, behind a title.
fn differences(sheet: &mut Sheet, of: &StudyComparison) -> (String, Markup) {
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
    let title = format!("On another machine: {}", plain(model));
    (title, html! { @for one in &content { (one) } })
}

/// Adds what each contestant is, how it is built, and links to those of its sources that the page
/// has.
fn contestants(sheet: &mut Sheet, of: &Publication<'_>, blocks: &[Block]) {
    // The source of a package is its folder.
    let place = |source: &str| {
        let is_of = |path: &str| {
            path == source || path.strip_prefix(source).is_some_and(|rest| rest.starts_with('/'))
        };
        of.files.iter().position(|(path, _)| is_of(path))
    };
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
                    @match place(source) {
                        Some(index) => a.d href=(format!("#{}", anchor(index))) {
                            (sentence(source))
                        },
                        None => (sentence(source)),
                    }
                    " "
                }
            }
        }
    };
    let unknown = "The sources are those of the study when this page was written.";
    let which = of.code.map_or(unknown.to_owned(), CodeNow::sentence);
    let content = html! {
        (small(&which))
        @for entrant in &of.study.contestants { (one(entrant)) "\n" }
        (list(&built_with(blocks)))
    };
    sheet.fold("Contestants and their sources", content);
}

/// Returns the name of a file's place on the page.
fn anchor(index: usize) -> String {
    format!("file-{index}")
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
